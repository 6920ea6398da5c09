// A supervisor's actions as short lines, and events for tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <signal.h>

#include "base/values/overloaded.h"
#include "run/milliseconds.h"
#include "run/supervise/supervisor.h"

namespace muster {

// Formats each action as one word or line; omits timers unless `with_timers` is set.
inline std::vector<std::string> Reported(const std::vector<Action>& actions, bool with_timers = false) {
  std::vector<std::string> reported;
  const auto add = [&](std::string text) { reported.push_back(std::move(text)); };
  const auto with_processes = [](std::string text, const std::vector<ProcessId>& processes) {
    for (const ProcessId process : processes) text += " " + std::to_string(process);
    return text;
  };
  const Overloaded visitor{
      [&](const StartOrdered& a) {
        add("start " + std::to_string(a.process) + (a.attempt == 0 ? "" : " attempt " + std::to_string(a.attempt)));
      },
      [&](const RestartPlanned& a) {
        add(with_processes("restart " + std::to_string(a.count) + " of " + a.scope + " for", a.processes) + " in " +
            std::to_string(a.delay_ms));
      },
      [&](const LimitPassed& a) { add("limit " + a.limit + " passed by " + std::to_string(a.process)); },
      [&](const RebindOrdered&) { add("rebind"); },
      [&](const ReplaceOrdered& a) { add("replace " + std::to_string(a.host) + " by " + std::to_string(a.by)); },
      [&](const RequestOutput&) { add("ask output"); },
      [&](const StopOrdered& a) {
        add(with_processes(a.signal == SIGKILL ? "kill" : "stop", a.processes) + " grace " +
            std::to_string(a.grace_ms));
      },
      [&](const DumpOrdered& a) { add("dump " + std::to_string(a.dump) + " " + a.why); },
      [&](const DumpEnded& a) { add("dumped " + std::to_string(a.dump) + (a.complete ? "" : " in part")); },
      [&](const FinishOrdered&) { add("finish"); },
      [&](const EndRun&) { add("end"); },
      [&](const PhaseChanged& a) { add("-> " + std::string(PhaseName(a.to))); },
      [&](const FirstFailure& a) { add("origin " + std::to_string(a.process)); },
      [&](const FailureTraced& a) { add("traced to " + std::to_string(a.process)); },
      [&](const EndedEarly& a) { add("early " + std::to_string(a.process)); },
      [&](const StrayEvent& a) { add("stray: " + a.what); },
      [&](const ArmTimer& a) {
        if (with_timers) add("arm " + std::to_string(a.timer) + " at " + std::to_string(a.deadline / kMs));
      },
      [&](const DisarmTimer& a) {
        if (with_timers) add("disarm " + std::to_string(a.timer));
      },
      [](const auto&) {}};
  for (const Action& action : actions) std::visit(visitor, action);
  return reported;
}

using Lines = std::vector<std::string>;

inline Event Started(ProcessId process, std::uint32_t attempt = 0) {
  return ProcessStarted{process, attempt, 100 + static_cast<int>(process), 1, 1};
}
inline Event Exited(ProcessId process, int code = 0, std::uint32_t attempt = 0) {
  ProcessExited exited;
  exited.process = process;
  exited.attempt = attempt;
  exited.code = code;
  return exited;
}
inline Event Killed(ProcessId process, int signal, std::uint32_t attempt = 0) {
  ProcessExited exited;
  exited.process = process;
  exited.attempt = attempt;
  exited.signalled = true;
  exited.code = signal;
  return exited;
}
inline Event Empty(std::uint32_t host) { return AgentEmpty{host, 1, 1, 0, {"pidfd"}}; }

// A job whose processes are all running.
class RunningJob {
 public:
  explicit RunningJob(Plan p, const std::vector<SiteHost>& spares = {}) : plan(std::move(p)), supervisor(plan, spares) {
    supervisor.Begin(0);
    for (ProcessId process = 0; process < plan.processes.size(); ++process) supervisor.Step(Started(process), 0);
  }
  Lines operator()(const Event& event, MonotonicNs now = 0, bool with_timers = false) {
    return Reported(supervisor.Step(event, now), with_timers);
  }

  Plan plan;
  Supervisor supervisor;
};

}  // namespace muster
