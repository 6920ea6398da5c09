// The actions that the supervisor orders. They are performed in order; those that are facts are written to the journal,
// and a fact precedes the actions that it explains.
#pragma once

#include <cstdint>
#include <variant>

#include "muster/event.h"
#include "run/journal/head_facts.h"
#include "wire/protocol/protocol.h"

namespace muster {

struct ArmTimer {
  std::uint64_t timer = 0;
  MonotonicNs deadline = 0;

  bool operator==(const ArmTimer&) const = default;
};

struct DisarmTimer {
  std::uint64_t timer = 0;

  bool operator==(const DisarmTimer&) const = default;
};

// No further actions follow: the job is over.
struct EndRun {
  bool operator==(const EndRun&) const = default;
};

using Action = std::variant<StartOrdered, StopOrdered, FinishOrdered, ArmTimer, DisarmTimer, EndRun, PhaseChanged,
                            FirstFailure, FailureTraced, EndedEarly, StrayEvent, RestartPlanned, LimitPassed,
                            RequestOutput, RebindOrdered, DumpOrdered, DumpEnded, ReplaceOrdered>;

inline constexpr std::uint32_t kMostRebinds = 3;          // attempts to choose other ports
inline constexpr std::uint32_t kStopMarginMs = 5'000;     // after the last grace, for SIGKILL to take effect
inline constexpr std::uint32_t kFinishMarginMs = 30'000;  // for every agent to report its end
inline constexpr std::uint32_t kDumpMs = 10'000;          // for all tools that print stacks together
inline constexpr std::uint32_t kDumpMarginMs = 3'000;     // after that, for every agent to answer
inline constexpr std::uint32_t kTraceMs = 250;            // how much later than the first failure its cause may be seen

// Timers by number (docs/journal.md).
inline constexpr std::uint64_t kTimeTimer = 1;
inline constexpr std::uint64_t kStopTimer = 2;
inline constexpr std::uint64_t kFinishTimer = 3;
inline constexpr std::uint64_t kStartTimer = 4;
inline constexpr std::uint64_t kSilenceTimer = 5;
inline constexpr std::uint64_t kDumpTimer = 6;
inline constexpr std::uint64_t kCheckpointTimer = 7;
inline constexpr std::uint64_t kLingerTimers = 16;                           // + role
inline constexpr std::uint64_t kReadyTimers = std::uint64_t{1} << 32;        // + process
inline constexpr std::uint64_t kProcessTimeTimers = std::uint64_t{2} << 32;  // + process
inline constexpr std::uint64_t kRenewalTimers = std::uint64_t{3} << 32;      // + a number of its own for each restart

// Whether the timer is a deadline of the job that is paused while a process has the user's terminal.
constexpr bool Pauses(std::uint64_t timer) {
  return timer == kTimeTimer || timer == kStartTimer || timer == kSilenceTimer ||
         (timer >= kLingerTimers && timer < kRenewalTimers);
}

}  // namespace muster
