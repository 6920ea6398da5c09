#include "sweep/head/sweep_notices.h"

#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "base/system/own_environment.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "metrics/metric_history.h"
#include "run/directory/run_tags.h"
#include "space/space.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_status.h"

namespace muster {
namespace {

constexpr int kFirstSignalCode = 128;  // of exit codes: somebody stopped it

NoticeTrial TrialOf(const SweepDescription& sweep, const BestTrial& best, const std::string& folder) {
  return {.number = best.trial,
          .attempt = best.attempt + 1,
          .trial_class = std::string(TrialClassName(TrialClass::kOk)),
          .dir = folder + "/" + TrialFolder(best.id, best.attempt),
          .value = ObjectiveValue(sweep.objective, best.loss),
          .parameters = best.point};
}

std::string ValueText(const SweepDescription& sweep, const BestTrial& best) {
  return fmt::format("{} {:.6g} (trial {}: {})", sweep.objective ? sweep.objective->metric : "loss",
                     ObjectiveValue(sweep.objective, best.loss), best.trial, PointText(best.point));
}

}  // namespace

SweepNoticeMaker::SweepNoticeMaker(const SweepDescription& sweep, const SweepProgress& progress, std::string folder)
    : sweep_(sweep),
      progress_(progress),
      folder_(std::move(folder)),
      best_(progress.best()),
      reported_(progress.over().size() > 0) {}

std::vector<Notice> SweepNoticeMaker::Saw(const SweepEntry& entry, double seconds) {
  std::vector<Notice> notices;
  std::visit(Overloaded{
                 [&](const SweepBegan&) {
                   Notice notice;
                   notice.event = NotifyEvent::kStarted;
                   notice.what = progress_.attempts() > 0 ? "goes on" : "started";
                   notices.push_back(std::move(notice));
                 },
                 [&](const AttemptEnded& e) {
                   if (IsFailure(e.trial_class) && !e.interrupted && !e.again) notices.push_back(TrialFailed(e));
                 },
                 [&](const SweepEnded& e) {
                   if (e.exit_code > 0 && e.exit_code < kFirstSignalCode)
                     notices.push_back(Ended(e, NotifyEvent::kFailed, seconds));
                   notices.push_back(Ended(e, NotifyEvent::kEnded, seconds));
                 },
                 // No events for users.
                 [](const PointsJudged&) {},
                 [](const AttemptBegan&) {},
                 [](const RungReached&) {},
                 [](const MedianStopped&) {},
                 [](const TrialPromoted&) {},
                 [](const HostQuarantined&) {},
                 [](const TrialsReopened&) {},
                 [](const SweepSteered&) {},
                 [](const SweepEdited&) {},
                 [](const ValueSkipped&) {},
                 [](const ValueRestored&) {},
                 [](const NoGainExpected&) {},
             },
             entry);
  return notices;
}

Notice SweepNoticeMaker::TrialFailed(const AttemptEnded& entry) const {
  Notice notice;
  notice.event = NotifyEvent::kTrialFailed;
  notice.why = entry.why;
  NoticeTrial& trial = notice.trial.emplace();
  trial.number = entry.trial;
  trial.attempt = entry.attempt + 1;
  trial.trial_class = TrialClassName(entry.trial_class);
  if (const auto open = progress_.open().find(entry.trial); open != progress_.open().end()) {
    trial.dir = folder_ + "/" + TrialFolder(open->second.id, entry.attempt);
    trial.parameters = open->second.point;
  }
  notice.what = "goes on: " + AttemptLine(sweep_, trial.parameters, entry);
  return notice;
}

Notice SweepNoticeMaker::Ended(const SweepEnded& entry, NotifyEvent event, double seconds) const {
  Notice notice;
  notice.event = event;
  notice.exit_code = entry.exit_code;
  notice.outcome = entry.exit_code == 0 ? "ok" : entry.exit_code >= kFirstSignalCode ? "stopped" : "failed";
  notice.why = entry.why;
  notice.what = fmt::format("{} after {}: {}",
                            entry.complete                        ? "is complete"
                            : entry.exit_code >= kFirstSignalCode ? "was stopped"
                                                                  : "ended",
                            DurationText(seconds), entry.why);
  notice.what += fmt::format("; {} of {} trials over", progress_.over().size(), CountsOf(progress_, false).possible);
  if (progress_.failed() > 0) notice.what += fmt::format(", {} failed", progress_.failed());
  if (progress_.best()) notice.what += "; best " + ValueText(sweep_, *progress_.best());
  return notice;
}

std::optional<Notice> SweepNoticeMaker::Reported(TrialNumber trial, const MetricValues& report, double seconds) {
  if (report.empty() || std::exchange(reported_, true)) return std::nullopt;
  Notice notice;
  notice.event = NotifyEvent::kFirstResult;
  notice.metrics = report;
  notice.metrics_of = fmt::format("trial {}", trial);
  notice.what = fmt::format("reports its first metrics after {}: {} (trial {})", DurationText(seconds),
                            MetricsText(report), trial);
  return notice;
}

std::optional<Notice> SweepNoticeMaker::NewBest(double seconds) {
  const std::optional<BestTrial>& best = progress_.best();
  if (!best || best == best_) return std::nullopt;
  best_ = best;
  Notice notice;
  notice.event = NotifyEvent::kBest;
  notice.trial = TrialOf(sweep_, *best, folder_);
  notice.what = fmt::format("has a new best result after {}: {}", DurationText(seconds), ValueText(sweep_, *best));
  return notice;
}

void AddState(const SweepDescription& sweep, const SweepProgress& progress, std::uint64_t running,
              const std::string& folder, Notice& notice) {
  if (sweep.objective) notice.objective = sweep.objective->metric;
  if (progress.best()) notice.best = TrialOf(sweep, *progress.best(), folder);
  notice.trials = NoticeTrials{CountsOf(progress, false).possible, progress.over().size(), progress.failed(), running};
}

SweepNotices::SweepNotices(boost::asio::io_context& io, const SweepRequest& request, const SweepProgress& progress,
                           Calls calls)
    : request_(request),
      progress_(progress),
      calls_(std::move(calls)),
      began_ns_(MonotonicNowNs()),
      started_at_(UtcText(WallNowNs())) {
  if (request.notifications.empty()) return;
  NotifierSetting setting;
  setting.notifications = request.notifications;
  setting.environment = OwnVariables();
  setting.sources = request.run.environment;
  setting.cwd = request.run.cwd;
  setting.search_dirs = request.run.search_dirs;
  setting.folder = request.folder_fd;
  setting.warn = calls_.warn;
  maker_ = std::make_unique<SweepNoticeMaker>(request.description, progress, request.folder);
  notifier_ = std::make_unique<Notifier>(io, std::move(setting));
}

double SweepNotices::Seconds() const { return SecondsBetween(began_ns_, MonotonicNowNs()); }

void SweepNotices::Saw(const SweepEntry& entry) {
  if (!notifier_) return;
  for (Notice& notice : maker_->Saw(entry, Seconds())) Send(std::move(notice));
}

void SweepNotices::Reported(TrialNumber trial, const MetricValues& report) {
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
  AddState(request_.description, progress_, calls_.running(), request_.folder, notice);
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
