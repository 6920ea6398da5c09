// A supervisor's actions as short lines, and events for tests.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <signal.h>

#include "run/supervise/supervisor.h"

namespace muster {

inline constexpr MonotonicNs kMs = 1'000'000;

// Formats each action as one word or line; omits timers unless `with_timers` is set.
inline std::vector<std::string> Told(const std::vector<Action>& actions, bool with_timers = false) {
  std::vector<std::string> told;
  for (const Action& action : actions) {
    std::visit(
        [&](const auto& a) {
          using A = std::decay_t<decltype(a)>;
          if constexpr (std::is_same_v<A, StartOrdered>) {
            const std::string attempt = a.attempt == 0 ? "" : " attempt " + std::to_string(a.attempt);
            told.push_back("start " + std::to_string(a.process) + attempt);
          }
          if constexpr (std::is_same_v<A, RestartPlanned>) {
            std::string text = "restart " + std::to_string(a.count) + " of " + a.scope + " for";
            for (const ProcessId process : a.processes) text += " " + std::to_string(process);
            told.push_back(text + " in " + std::to_string(a.delay_ms));
          }
          if constexpr (std::is_same_v<A, LimitPassed>)
            told.push_back("limit " + a.limit + " passed by " + std::to_string(a.process));
          if constexpr (std::is_same_v<A, RebindOrdered>) told.push_back("rebind");
          if constexpr (std::is_same_v<A, ReplaceOrdered>)
            told.push_back("replace " + std::to_string(a.host) + " by " + std::to_string(a.by));
          if constexpr (std::is_same_v<A, RequestOutput>) told.push_back("ask output");
          if constexpr (std::is_same_v<A, StopOrdered>) {
            std::string text = a.signal == SIGKILL ? "kill" : "stop";
            for (const ProcessId process : a.processes) text += " " + std::to_string(process);
            told.push_back(text + " grace " + std::to_string(a.grace_ms));
          }
          if constexpr (std::is_same_v<A, DumpOrdered>) {
            told.push_back("dump " + std::to_string(a.dump) + " " + a.why);
          }
          if constexpr (std::is_same_v<A, DumpEnded>) {
            told.push_back("dumped " + std::to_string(a.dump) + (a.complete ? "" : " in part"));
          }
          if constexpr (std::is_same_v<A, FinishOrdered>) told.push_back("finish");
          if constexpr (std::is_same_v<A, EndRun>) told.push_back("end");
          if constexpr (std::is_same_v<A, PhaseChanged>) told.push_back("-> " + std::string(PhaseName(a.to)));
          if constexpr (std::is_same_v<A, FirstFailure>) told.push_back("origin " + std::to_string(a.process));
          if constexpr (std::is_same_v<A, FailureTraced>) told.push_back("traced to " + std::to_string(a.process));
          if constexpr (std::is_same_v<A, EndedEarly>) told.push_back("early " + std::to_string(a.process));
          if constexpr (std::is_same_v<A, StrayEvent>) told.push_back("stray: " + a.what);
          if constexpr (std::is_same_v<A, ArmTimer>) {
            if (with_timers)
              told.push_back("arm " + std::to_string(a.timer) + " at " + std::to_string(a.deadline / kMs));
          }
          if constexpr (std::is_same_v<A, DisarmTimer>) {
            if (with_timers) told.push_back("disarm " + std::to_string(a.timer));
          }
        },
        action);
  }
  return told;
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
    return Told(supervisor.Step(event, now), with_timers);
  }

  Plan plan;
  Supervisor supervisor;
};

}  // namespace muster
