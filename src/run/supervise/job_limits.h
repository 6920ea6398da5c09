// The time limits of the job and its processes: arms their timers, detects silent processes, and pauses all
// limits while a process has the user's terminal. The supervisor decides what happens when a limit is
// exceeded.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/supervise/silence_watch.h"
#include "wire/protocol/protocol.h"

namespace muster {

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
