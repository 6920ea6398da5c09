// The limits of the job and its processes: which timers watch over them, who has been silent for too long, and the
// pause of all of that while a process has the user's terminal. What a passed limit means is the supervisor's to
// decide.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/supervise/silence_watch.h"
#include "wire/protocol/start_messages.h"

namespace muster {

class Orders;

class JobLimits {
 public:
  // The plan must outlive this.
  explicit JobLimits(const Plan& plan) : plan_(plan), silence_(plan) {}

  void JobStarted(Orders& orders);
  void ProcessStarted(ProcessId process, Orders& orders);
  void ProcessEnded(const ProcessAttempt& who, Orders& orders);
  // It ended unseen, with its host.
  void ProcessLost(ProcessId process, MonotonicNs now) { silence_.Ended(process, now); }
  // Its time and its readiness are watched no longer.
  void Release(ProcessId process, Orders& orders);

  // A process got the user's terminal. There is one: the first process keeps it.
  void TerminalOpened(const ProcessAttempt& who, Orders& orders);
  // The attempt does not have the terminal any more, if it had it.
  void TerminalClosed(const ProcessAttempt& who, Orders& orders);
  const std::optional<ProcessAttempt>& at_terminal() const { return at_terminal_; }

  // Asks those machines what was written, unless answers to the last question are missing. Arms the next question.
  void AskForOutput(const std::vector<bool>& over, Orders& orders);
  // The answer of a machine. Returns a silence only after the last answer: all hosts must have been heard.
  std::optional<SilenceWatch::Silent> Answered(const OutputSeen& answer, MonotonicNs now);
  // The machine will not answer any more.
  void MachineOver(std::uint32_t machine) { answers_due_.erase(machine); }

 private:
  const Plan& plan_;
  SilenceWatch silence_;
  std::set<std::uint32_t> answers_due_;  // machines
  std::optional<ProcessAttempt> at_terminal_;
  MonotonicNs terminal_since_ = 0;
};

}  // namespace muster
