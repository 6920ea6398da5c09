#include "run/supervise/run_cause.h"

#include <algorithm>
#include <csignal>
#include <iterator>

#include "run/supervise/orders.h"
#include "run/supervise/process_states.h"

namespace muster {

RunCause::RunCause(const Plan& plan, std::uint32_t machines) : plan_(plan), clocks_(machines) {
  if (machines == 1) clocks_[0] = HostClock{};
}

void RunCause::CompareClock(const ClockCompared& event) {
  if (event.host < clocks_.size()) clocks_[event.host] = HostClock{event.offset_ns, event.error_ns};
}

void RunCause::StopAsked(std::int32_t signal) {
  if (cause_ == Cause::kNone) stop_signal_ = signal;
}

bool RunCause::Blame(JobInput input, const std::string& why, const ProcessFailure& failure) {
  if (cause_ != Cause::kNone) return false;
  why_ = why;
  switch (input) {
    case JobInput::kFailed:
      cause_ = failure.end.kind == HowEnded::Kind::kNotStarted ? Cause::kSpawn : Cause::kFailed;
      passed_code_ = failure.end.kind == HowEnded::Kind::kSignalled ? 128 + failure.end.code : failure.end.code;
      if (passed_code_ == 0) passed_code_ = 1;  // a process that others waited for exited with code 0
      first_failure_ = FirstFailure{failure.who.process, failure.who.attempt};
      failed_by_code_ = failure.end.kind == HowEnded::Kind::kExited;
      failed_at_ = failure.at;
      failed_moment_ = failure.moment;
      break;
    case JobInput::kUnready:
      cause_ = Cause::kUnready;
      break;
    case JobInput::kLost:
      cause_ = Cause::kLost;
      break;
    case JobInput::kTimePassed:
      cause_ = Cause::kTimeLimit;
      break;
    case JobInput::kStopOverdue:
    case JobInput::kFinishOverdue:
      cause_ = Cause::kOverdue;
      break;
    default:
      cause_ = Cause::kStopped;
      break;
  }
  return true;
}

bool RunCause::Trace(const ProcessExited& exit, const Moment& moment, const std::string& why,
                     const ProcessStates& states) {
  if (cause_ != Cause::kFailed || first_failure_->process == exit.process) return false;
  if (!states.IsLatest({exit.process, exit.attempt})) return false;
  const bool is_cause = MayBeCause(exit, states);
  if (!is_cause && !CameFirst(exit, moment, states)) return false;
  failed_by_code_ = !is_cause && !exit.signalled;
  first_failure_ = FirstFailure{exit.process, exit.attempt};
  failed_at_ = exit.at;
  failed_moment_ = moment;
  passed_code_ = exit.signalled ? 128 + exit.code : exit.code;
  why_ = why;
  return true;
}

void RunCause::Correct(const ProcessExited& exit, const std::string& why) {
  first_failure_ = FirstFailure{exit.process, exit.attempt};
  why_ = why;
  // It may have been stopped while it exited, so that a signal says nothing about it.
  passed_code_ = exit.signalled || exit.code == 0 ? 1 : exit.code;
}

bool RunCause::MayBeCause(const ProcessExited& exit, const ProcessStates& states) const {
  // Signals of crashes and of kills from outside; SIGABRT, SIGPIPE and SIGTERM can be reactions to a lost peer.
  constexpr std::int32_t kFromOutside[] = {SIGKILL, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS};
  if (!failed_by_code_ || !exit.signalled) return false;
  if (std::find(std::begin(kFromOutside), std::end(kFromOutside), exit.code) == std::end(kFromOutside)) return false;
  // A stop signal that reached the process may have caused its crash; only SIGKILL by muster can explain its SIGKILL.
  if (exit.code == SIGKILL ? states.killed(exit.process) : states.signalled(exit.process)) return false;
  const Process& origin = plan_.processes[first_failure_->process];
  return plan_.processes[exit.process].host != origin.host || exit.at <= failed_at_ + FromMs(kTraceMs);
}

bool RunCause::CameFirst(const ProcessExited& exit, const Moment& moment, const ProcessStates& states) const {
  if (!failed_moment_ || (!exit.signalled && exit.code == 0)) return false;
  if (states.signalled(exit.process)) return false;
  // The agent of one host reports events in the order in which it saw them.
  return moment.host != failed_moment_->host && OrderOf(moment, *failed_moment_, clocks_) == Order::kBefore;
}

RunEnded RunCause::Ended(bool pass_exit_code) const {
  RunEnded ended{cause_, 0, why_};
  switch (cause_) {
    case Cause::kNone:
      break;
    case Cause::kFailed:
      ended.exit_code = pass_exit_code ? passed_code_ : 1;
      break;
    case Cause::kTimeLimit:
      ended.exit_code = 1;
      break;
    case Cause::kStopped:
      ended.exit_code = 128 + (stop_signal_ == 0 ? SIGTERM : stop_signal_);
      break;
    case Cause::kSpawn:
    case Cause::kUnready:
    case Cause::kLost:
    case Cause::kOverdue:
      ended.exit_code = 3;
      break;
  }
  return ended;
}

}  // namespace muster
