#include "run/session/run_notice_maker.h"

#include <concepts>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "run/journal/head_facts.h"

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
          DevicesAwaited, EngineAnswered>;

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

}  // namespace muster
