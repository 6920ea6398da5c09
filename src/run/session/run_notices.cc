#include "run/session/run_notices.h"

#include <chrono>
#include <utility>

#include <sys/inotify.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/host_name.h"
#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "engine/engine_calls.h"
#include "run/session/live_run.h"

namespace muster {
namespace {

// For reports that the kernel does not report, since another host writes them.
constexpr std::chrono::seconds kLookEvery{5};

}  // namespace

void RunNotices::Begin() {
  if (run_.plan.notifications.empty() || run_.request.rehearsal) return;
  NotifierSetting setting;
  setting.notifications = run_.plan.notifications;
  for (const char* variable : OwnEnvironment()) setting.environment.emplace_back(variable);
  setting.sources = run_.request.environment;
  setting.cwd = run_.request.cwd;
  setting.search_dirs = run_.request.search_dirs;
  setting.folder = run_.directory->folder();
  setting.warn = [this](const std::string& text) { run_.console.Warn(text); };
  maker_ = std::make_unique<RunNoticeMaker>(run_.plan);
  notifier_ = std::make_unique<Notifier>(run_.io, std::move(setting));
  started_at_ = UtcText(run_.clock->Wall());
  if (notifier_->Wants(NotifyEvent::kFirstResult)) WatchMetrics();
}

double RunNotices::Seconds() const { return SecondsBetween(run_.began_at, run_.clock->Monotonic()); }

void RunNotices::Saw(const JournalEntry& entry) {
  if (!notifier_) return;
  if (std::holds_alternative<RunEnded>(entry)) LookAtMetrics(true);
  for (Notice& notice : maker_->Saw(entry, Seconds())) Send(std::move(notice));
  if (std::holds_alternative<PhaseChanged>(entry)) LookAtMetrics(false);
}

void RunNotices::Send(Notice notice) {
  notice.kind = "run";
  notice.id = run_.binding.run_id;
  notice.name = run_.plan.name;
  notice.dir = run_.binding.run_dir;
  notice.host = OwnHostName();
  if (run_.request.engine) notice.job = run_.request.engine->page.name + " job " + run_.request.engine->id;
  notice.tags = run_.request.tags;
  notice.at = UtcText(run_.clock->Wall());
  notice.started = started_at_;
  notice.seconds = Seconds();
  notifier_->Send(notice);
}

void RunNotices::WatchMetrics() {
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const std::string folder = run_.binding.run_dir + "/metrics";
  constexpr std::uint32_t kWrites = IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_ONLYDIR;
  if (inotify && ::inotify_add_watch(inotify.get(), folder.c_str(), kWrites) >= 0) {
    metrics_.emplace(run_.io);
    metrics_->assign(inotify.release());
  }
  look_.emplace(run_.io);
  if (metrics_) AwaitMetrics();
  if (run_.elsewhere || !metrics_) LookLater();
}

void RunNotices::AwaitMetrics() {
  metrics_->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                       [this, weak = run_.session](const boost::system::error_code& error) {
                         const auto self = weak.lock();
                         if (error || !self || !metrics_) return;
                         ReadFileChanges(metrics_->native_handle(), [](const FileChange&) {});
                         LookAtMetrics(false);
                         if (metrics_) AwaitMetrics();
                       });
}

void RunNotices::LookLater() {
  look_->expires_after(kLookEvery);
  look_->async_wait([this, weak = run_.session](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || !look_) return;
    LookAtMetrics(false);
    if (look_) LookLater();
  });
}

void RunNotices::LookAtMetrics(bool at_end) {
  if (!look_) return;
  auto notice = maker_->FirstMetrics(NewestReports(run_.binding.run_dir), Seconds(), at_end);
  if (!notice) return;
  metrics_.reset();
  look_.reset();
  Send(*std::move(notice));
}

void RunNotices::Finish(std::function<void()> done) {
  if (!notifier_) return done();
  metrics_.reset();
  look_.reset();
  notifier_->Finish(std::move(done));
}

void RunNotices::GiveUp() {
  if (notifier_) notifier_->GiveUp();
}

}  // namespace muster
