#include "run/session/run_notices.h"

#include <chrono>
#include <concepts>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <sys/inotify.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/host_name.h"
#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "engine/engine_calls.h"
#include "run/journal/head_facts.h"
#include "run/session/live_run.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// Entries that are no events for users: the list is explicit, so that a new entry has to be put somewhere.
template <class T, class... Others>
concept OneOf = (std::same_as<T, Others> || ...);
template <class T>
concept NoEvent =
    OneOf<T, RunBegan, AgentConnected, PlanBound, StartOrdered, StopOrdered, FailureTraced, EndedEarly, StrayEvent,
          FinishOrdered, ProcessStarted, SignalSent, AgentEmpty, AgentLost, StopRequested, DeadlinePassed, ProcessReady,
          OutputSeen, FirstOutput, EndEvidence, PortTaken, RebindOrdered, PlanRebound, ProcessDumped, HostDumped,
          DumpRequested, DumpOrdered, DumpEnded, PtyOpened, PtyClosed, HostActivated, ClockCompared, HostReached,
          ReplaceOrdered, HostReplaced, HostsCompared, PathsCompared, CodeShipped, CodeSeen, CheckpointSeen, HostStray,
          DevicesAwaited, EngineAnswered, FailureJudged, FaultInjected>;

}  // namespace

std::string RunNoticeMaker::NameOf(ProcessId process) const {
  return process < plan_.processes.size() ? ProcessName(plan_, plan_.processes[process])
                                          : fmt::format("process {}", process);
}

Notice RunNoticeMaker::Failed(const std::string& why, double seconds) {
  failed_ = true;
  Notice notice;
  notice.event = NotifyEvent::kFailed;
  notice.why = why;
  notice.what = fmt::format("failed after {}{}{}", DurationText(seconds), why.empty() ? "" : ": ", why);
  return notice;
}

std::vector<Notice> RunNoticeMaker::Saw(const JournalEntry& entry, double seconds) {
  std::vector<Notice> notices;
  std::visit(Overloaded{
                 [&](const PhaseChanged& e) {
                   if (e.to != Phase::kRunning || std::exchange(started_, true)) return;
                   Notice notice;
                   notice.event = NotifyEvent::kStarted;
                   notice.what = "started";
                   notices.push_back(std::move(notice));
                 },
                 [&](const ProcessExited& e) { ending_ = NameOf(e.process) + " " + EndingText(plan_, e); },
                 [&](const SpawnFailed& e) { ending_ = NameOf(e.process) + " " + EndingText(e); },
                 [&](const LimitPassed& e) { ending_ = NameOf(e.process) + " " + EndingText(e); },
                 [&](const RestartPlanned& e) {
                   Notice notice;
                   notice.event = NotifyEvent::kRestarted;
                   notice.why = e.why;
                   notice.restart = NoticeRestart{{}, e.count, e.max};
                   for (const ProcessId process : e.processes) notice.restart->processes.push_back(NameOf(process));
                   notice.what = fmt::format("restarts {} (restart {} of at most {}): {}",
                                             e.processes.size() == 1 ? NameOf(e.processes.front())
                                                                     : fmt::format("{} processes", e.processes.size()),
                                             e.count, e.max, e.why);
                   notices.push_back(std::move(notice));
                 },
                 [&](const FirstFailure&) {
                   if (!failed_) notices.push_back(Failed(ending_, seconds));
                 },
                 [&](const PreparationFailed& e) {
                   if (!failed_) notices.push_back(Failed(e.why, seconds));
                 },
                 [&](const RunEnded& e) {
                   const std::string outcome(OutcomeName(e.cause));
                   if (!failed_ && outcome != "ok" && outcome != "stopped") notices.push_back(Failed(e.why, seconds));
                   Notice notice;
                   notice.event = NotifyEvent::kEnded;
                   notice.why = e.why;
                   notice.what = fmt::format("{} after {}{}{}",
                                             outcome == "ok"        ? "succeeded"
                                             : outcome == "lost"    ? "was lost"
                                             : outcome == "stopped" ? "was stopped"
                                                                    : "failed",
                                             DurationText(seconds), e.why.empty() ? "" : ": ", e.why);
                   notices.push_back(std::move(notice));
                   for (Notice& each : notices) {
                     each.outcome = outcome;
                     each.exit_code = e.exit_code;
                   }
                 },
                 []<NoEvent T>(const T&) {},
             },
             entry);
  return notices;
}

std::optional<Notice> RunNoticeMaker::FirstMetrics(const RoleReports& reports, double seconds, bool at_end) {
  if (reports.empty() || (!started_ && !at_end) || std::exchange(reported_, true)) return std::nullopt;
  Notice notice;
  notice.event = NotifyEvent::kFirstResult;
  notice.metrics = reports.begin()->second;
  notice.metrics_of = reports.begin()->first;
  notice.what = fmt::format("reports its first metrics after {}: {}", DurationText(seconds),
                            MetricsText(reports.begin()->second));
  return notice;
}

namespace {

// For reports that the kernel does not report, since another host writes them.
constexpr std::chrono::seconds kLookEvery{5};

}  // namespace

void RunNotices::Begin() {
  if (run_.plan.notifications.empty() || run_.request.rehearsal) return;
  NotifierSetting setting;
  setting.notifications = run_.plan.notifications;
  setting.environment = OwnVariables();
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
  const std::string folder = kMetricsEntry.In(run_.binding.run_dir);
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
