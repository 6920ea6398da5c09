// The time limits of the job and its processes, and processes that have written nothing for too long.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Detects processes that have written nothing for too long, from log sizes that are checked periodically. Silence is
// measured by the monotonic clock between two checks, never by file times, so clock jumps do not matter. It is detected
// at most a quarter of its limit late, because that is the interval of the checks.

// A set of processes that counts as silent if all of them are: a role, or the whole job.
struct SilenceScope {
  std::optional<std::uint32_t> role;  // empty: the whole job
  std::uint64_t limit_ms = 0;
};

class SilenceWatch {
 public:
  explicit SilenceWatch(const Plan& plan);

  bool empty() const { return scopes_.empty(); }
  // Interval of the checks.
  std::uint64_t PeriodMs() const { return period_ms_; }

  // A process started and has written nothing yet.
  void Started(ProcessId process, MonotonicNs now);
  // The size of its log when it was checked.
  void Saw(ProcessId process, std::uint64_t bytes, MonotonicNs now);
  void Ended(ProcessId process, MonotonicNs now);
  // Silence during the last `length` does not count.
  void Paused(MonotonicNs length, MonotonicNs now);

  struct Silent {
    SilenceScope scope;
    // The process that fell silent first; of several that did between the same two checks, the one with the lowest
    // number.
    ProcessId process = 0;
    bool alone = true;  // there is no other such on another host
  };
  // The first scope in which every running process has been silent for its limit. A scope without running processes, or
  // in which a process started or ended within the limit, is not silent.
  std::optional<Silent> Find(MonotonicNs now) const;

 private:
  struct Log {
    bool running = false;
    std::uint64_t bytes = 0;
    MonotonicNs heard = 0;
  };

  std::vector<std::uint32_t> role_of_;
  std::vector<std::uint32_t> host_of_;
  std::vector<SilenceScope> scopes_;
  std::uint64_t period_ms_ = 0;
  std::vector<Log> logs_;
  std::vector<MonotonicNs> last_end_;  // by role
};

// The time limits of the job and its processes: arms their timers, detects silent processes, and pauses all
// limits while a process has the user's terminal. The supervisor decides what happens when a limit is
// exceeded.

class Orders;

class JobLimits {
 public:
  // The plan must outlive this.
  explicit JobLimits(const Plan& plan) : plan_(plan), silence_(plan) {}

  void JobStarted(Orders& orders);
  void ProcessStarted(ProcessId process, Orders& orders);
  void ProcessEnded(const ProcessAttempt& who, Orders& orders);
  // The process was lost with its host.
  void ProcessLost(ProcessId process, MonotonicNs now) { silence_.Ended(process, now); }
  // Ends the limits on its run time and readiness.
  void Release(ProcessId process, Orders& orders);

  // A process was given the user's terminal. There is only one terminal: the first process keeps it.
  void TerminalOpened(const ProcessAttempt& who, Orders& orders);
  // The attempt no longer has the terminal, if it had it.
  void TerminalClosed(const ProcessAttempt& who, Orders& orders);
  const std::optional<ProcessAttempt>& at_terminal() const { return at_terminal_; }

  // Requests the log sizes of these machines, unless answers to the last request are missing. Arms the timer for the
  // next request.
  void AskForOutput(const std::vector<bool>& over, Orders& orders);
  // Handles the answer of a machine. Returns a silence only after the last answer, when all hosts have answered.
  std::optional<SilenceWatch::Silent> Answered(const OutputSeen& answer, MonotonicNs now);
  // The machine will send no more answers.
  void MachineOver(std::uint32_t machine) { answers_due_.erase(machine); }

 private:
  const Plan& plan_;
  SilenceWatch silence_;
  std::set<std::uint32_t> answers_due_;  // machines
  std::optional<ProcessAttempt> at_terminal_;
  MonotonicNs terminal_since_ = 0;
};

}  // namespace muster
