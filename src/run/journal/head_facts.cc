#include "run/journal/head_facts.h"

#include <cstddef>

#include <errno.h>
#include <fmt/format.h>
#include <string.h>

#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"

namespace muster {

std::string_view RestartVerdictName(RestartVerdict verdict) {
  return kRestartVerdictNames[static_cast<std::size_t>(verdict)];
}

std::string_view PhaseName(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }

std::string_view OutcomeName(Cause cause) {
  constexpr std::string_view kNames[kCauseNames.size()] = {"ok",      "failed", "failed", "failed",
                                                           "stopped", "failed", "lost",   "lost"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string EndingText(const ProcessExited& event) {
  if (!event.signalled) return fmt::format("exited with code {}", event.code);
  return fmt::format("was killed by {}{}", SignalName(event.code), event.core_dumped ? " (core dumped)" : "");
}

std::string EndingText(const Plan& plan, const ProcessExited& event) {
  std::string text = EndingText(event);
  if (event.signalled || event.process >= plan.processes.size()) return text;
  const auto& codes = plan.roles[plan.processes[event.process].role].container.runtime.exit_codes;
  const auto meaning = codes.find(std::to_string(event.code));
  return meaning == codes.end() ? text : fmt::format("{} ({})", text, Printable(meaning->second));
}

std::string EndingText(const SpawnFailed& event) {
  // What these details say needs neither the stage nor the system's words.
  const bool complete = event.error == E2BIG || event.detail.find(" is not on PATH") != std::string::npos;
  if (complete && !event.detail.empty()) return "could not be started: " + Printable(event.detail);
  return fmt::format("could not be started: {}{}{}: {}", Printable(event.stage), event.detail.empty() ? "" : " ",
                     Printable(event.detail), ::strerror(event.error));
}

std::string FaultText(const FaultInjected& fault) {
  std::string text(kFaultKindNames[static_cast<std::size_t>(fault.kind)]);
  if (!fault.process.empty()) text += " " + Printable(fault.process);
  if (!fault.host.empty()) text += (fault.process.empty() ? " " : " on ") + Printable(fault.host);
  if (!fault.directory.empty()) text += ":" + Printable(fault.directory);
  if (fault.lasts_ms > 0) text += " for " + DurationText(static_cast<double>(fault.lasts_ms) / 1000);
  return text;
}

std::string EndingText(const LimitPassed& event) {
  const std::string time = DurationText(static_cast<double>(event.ms) / 1000);
  if (event.limit == "ready") return fmt::format("was not ready within {}", time);
  if (event.limit == "time") return fmt::format("ran longer than {}", time);
  return fmt::format("{}; none of its {} wrote for {}",
                     event.apart ? "is in another place than most of its role" : "was the first to stop writing",
                     event.limit == "silent_job" ? "job" : "role", time);
}

std::string TakenText(const PortTaken& event) {
  return fmt::format("port {} ({}) is taken by {}", Printable(event.port), event.number,
                     event.holder.empty() ? "another process" : Printable(event.holder));
}

}  // namespace muster
