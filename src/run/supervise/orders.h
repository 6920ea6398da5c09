// The result of one event: actions in the order in which they must be performed, among them stops by role and timers,
// some of which can be paused.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/journal/head_facts.h"
#include "wire/protocol/protocol.h"

namespace muster {

// The actions that the supervisor orders. They are performed in order; those that are facts are written to the journal,
// and a fact precedes the actions that it explains.

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
                            RequestOutput, RebindOrdered, DumpOrdered, DumpEnded, ReplaceOrdered, FailureJudged>;

inline constexpr std::uint32_t kMaxRebinds = 3;           // attempts to choose other ports
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

// Timers by number, ordered by deadline. Pure: uses no clock.
class TimerQueue {
 public:
  // Arms the timer, or moves its deadline.
  void Arm(std::uint64_t timer, MonotonicNs deadline);
  // Returns whether it was armed.
  bool Disarm(std::uint64_t timer);
  void Clear();

  bool empty() const { return by_timer_.empty(); }
  std::optional<MonotonicNs> Deadline(std::uint64_t timer) const;
  std::optional<MonotonicNs> Earliest() const;
  // Disarms and returns the earliest timer that is due; of several at the same time the one with the lowest number.
  std::optional<std::uint64_t> TakeDue(MonotonicNs now);

  // All armed timers, by number.
  const std::map<std::uint64_t, MonotonicNs>& armed() const { return by_timer_; }

 private:
  std::map<std::uint64_t, MonotonicNs> by_timer_;
  std::set<std::pair<MonotonicNs, std::uint64_t>> by_deadline_;
};

// The armed timers, some of which can be paused: while a process has the user's terminal, the deadlines of the job keep
// their remaining time (Pauses). Pure: uses no clock.
class PausableTimers {
 public:
  // Returns whether the timer runs now. If not, it is held until Resume().
  bool Arm(std::uint64_t timer, MonotonicNs deadline, MonotonicNs now);
  // Returns whether it was running. A held timer is discarded.
  bool Disarm(std::uint64_t timer);
  // Returns those that were running, in order.
  std::vector<std::uint64_t> DisarmAll();
  std::optional<MonotonicNs> Deadline(std::uint64_t timer) const { return running_.Deadline(timer); }

  // Holds the timers that can be paused; returns those that were running, in order. Must not be called twice without
  // Resume().
  std::vector<std::uint64_t> Pause(MonotonicNs now);
  // Restarts the held timers with their remaining times; returns them with their deadlines, in order.
  std::vector<std::pair<std::uint64_t, MonotonicNs>> Resume(MonotonicNs now);

 private:
  TimerQueue running_;
  bool paused_ = false;
  std::map<std::uint64_t, MonotonicNs> held_;  // remaining time of each
};

// The result of one event: a list of actions in the order in which they must be performed, and the state of the timers.
// The supervisor's parts add to it; it decides nothing.

constexpr MonotonicNs FromMs(std::uint64_t ms) { return ms * 1'000'000; }

class Orders {
 public:
  // Starts a new event that is handled at `now`.
  void Begin(MonotonicNs now) { now_ = now; }
  MonotonicNs now() const { return now_; }
  // All actions since the last call.
  std::vector<Action> Take() { return std::exchange(actions_, {}); }

  void Add(Action action) { actions_.push_back(std::move(action)); }
  void ArmAt(std::uint64_t timer, MonotonicNs deadline);
  void ArmIn(std::uint64_t timer, std::uint64_t ms) { ArmAt(timer, now_ + FromMs(ms)); }
  // Does nothing if the timer is not armed.
  void Disarm(std::uint64_t timer);
  void DisarmAll();
  // Handles the expiry of the timer. Returns whether it was armed.
  bool Passed(std::uint64_t timer) { return timers_.Disarm(timer); }
  std::optional<MonotonicNs> Deadline(std::uint64_t timer) const { return timers_.Deadline(timer); }
  void PauseTimers();
  void ResumeTimers();

 private:
  MonotonicNs now_ = 0;
  PausableTimers timers_;
  std::vector<Action> actions_;
};

// Orders stops of processes: one order for each role, by its StopPolicy. Pure.

// Orders the stops of these processes, in the plan's order; with SIGKILL if `at_once`. Arms the stop timer, unless no
// process is left. Without `at_once` an armed timer is only postponed.
void OrderStops(const Plan& plan, const std::vector<ProcessId>& processes, bool at_once, bool any_left, Orders& orders);

}  // namespace muster
