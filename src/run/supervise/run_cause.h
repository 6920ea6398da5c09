// Determines why the job ends: the first cause decides, whatever follows. If the cause is a failure, an end that is
// reported later can turn out to be the earlier one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/journal/event_order.h"
#include "run/journal/head_facts.h"
#include "run/supervise/policy_table.h"
#include "run/supervise/restarts.h"
#include "wire/protocol/protocol.h"

namespace muster {

class ProcessStates;

// The failure of a process that ended, or must be ended.
struct ProcessFailure {
  ProcessAttempt who;
  HowEnded end;
  MonotonicNs at = 0;            // by its host's clock
  std::optional<Moment> moment;  // time of the end, if the process ended
};

class RunCause {
 public:
  // The plan must outlive this.
  RunCause(const Plan& plan, std::uint32_t machines);

  // Handles a comparison of the machine's clock with the head's. Unknown machines are ignored.
  void CompareClock(const ClockCompared& event);
  // Records the signal by which the user stops the job, unless there is a cause already.
  void StopAsked(std::int32_t signal);
  // Makes the input the job's cause unless there is one; `failure` is only read for kFailed. Returns whether it became
  // the cause.
  bool Blame(JobInput input, const std::string& why, const ProcessFailure& failure);
  // Makes this end the first failure if it was before the recorded one, or may have caused it. Returns whether it
  // did.
  bool Trace(const ProcessExited& exit, const Moment& moment, const std::string& why, const ProcessStates& states);

  // Makes this end the first failure, since evidence proves that it was.
  void Correct(const ProcessExited& exit, const std::string& why);

  Cause cause() const { return cause_; }
  const std::optional<FirstFailure>& first_failure() const { return first_failure_; }
  // The journal's last record.
  RunEnded Ended(bool pass_exit_code) const;

 private:
  bool MayBeCause(const ProcessExited& exit, const ProcessStates& states) const;
  bool CameFirst(const ProcessExited& exit, const Moment& moment, const ProcessStates& states) const;

  const Plan& plan_;
  HostClocks clocks_;  // by machine
  Cause cause_ = Cause::kNone;
  std::string why_;
  std::int32_t passed_code_ = 1;  // exit code for --pass-exit-code
  std::int32_t stop_signal_ = 0;
  std::optional<FirstFailure> first_failure_;
  MonotonicNs failed_at_ = 0;    // by its host's clock
  bool failed_by_code_ = false;  // the first failure was an exit code, not a signal
  std::optional<Moment> failed_moment_;
};

}  // namespace muster
