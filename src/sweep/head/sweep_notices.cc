#include "sweep/head/sweep_notices.h"

#include <utility>

#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/system/own_environment.h"
#include "base/values/number_text.h"
#include "run/directory/run_tags.h"

namespace muster {

SweepNotices::SweepNotices(boost::asio::io_context& io, const SweepRequest& request, const SweepProgress& account,
                           Calls calls)
    : request_(request),
      account_(account),
      calls_(std::move(calls)),
      began_ns_(MonotonicNowNs()),
      started_at_(UtcText(WallNowNs())) {
  if (request.notifications.empty()) return;
  NotifierSetting setting;
  setting.notifications = request.notifications;
  for (const char* variable : OwnEnvironment()) setting.environment.emplace_back(variable);
  setting.sources = request.run.environment;
  setting.cwd = request.run.cwd;
  setting.search_dirs = request.run.search_dirs;
  setting.folder = request.folder_fd;
  setting.warn = calls_.warn;
  maker_ = std::make_unique<SweepNoticeMaker>(request.description, account, request.folder);
  notifier_ = std::make_unique<Notifier>(io, std::move(setting));
}

double SweepNotices::Seconds() const { return SecondsBetween(began_ns_, MonotonicNowNs()); }

void SweepNotices::Saw(const SweepEntry& entry) {
  if (!notifier_) return;
  for (Notice& notice : maker_->Saw(entry, Seconds())) Send(std::move(notice));
}

void SweepNotices::Reported(TrialNumber trial, const MetricReport& report) {
  if (!notifier_) return;
  if (auto notice = maker_->Reported(trial, report, Seconds())) Send(*std::move(notice));
}

void SweepNotices::TrialEnded() {
  if (!notifier_) return;
  if (auto notice = maker_->NewBest(Seconds())) Send(*std::move(notice));
}

void SweepNotices::Send(Notice notice) {
  if (!notifier_->Wants(notice.event)) return;
  notice.kind = "sweep";
  notice.id = request_.began.sweep_id;
  notice.name = request_.began.name;
  notice.dir = request_.folder;
  notice.host = OwnHostName();
  notice.tags = ReadTags(request_.folder_fd);
  notice.at = UtcText(WallNowNs());
  notice.started = started_at_;
  notice.seconds = Seconds();
  AddState(request_.description, account_, calls_.running(), request_.folder, notice);
  notifier_->Send(notice);
}

void SweepNotices::Finish(std::function<void()> done) {
  if (!notifier_) return done();
  notifier_->Finish(std::move(done));
}

void SweepNotices::GiveUp() {
  if (notifier_) notifier_->GiveUp();
}

}  // namespace muster
