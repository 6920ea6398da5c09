// Why the job ends: the first cause decides, whatever follows. If that is a failure, an end that is seen later can turn
// out to have been before it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/journal/event_order.h"
#include "run/journal/head_facts.h"
#include "run/supervise/policy_table.h"
#include "run/supervise/restart_budget.h"
#include "wire/protocol/start_messages.h"

namespace muster {

class ProcessStates;

// A process that ended, or has to.
struct ProcessFailure {
  ProcessAttempt who;
  HowEnded end;
  MonotonicNs at = 0;            // on its host
  std::optional<Moment> moment;  // when that was, if it was an end
};

class RunCause {
 public:
  // The plan must outlive this.
  RunCause(const Plan& plan, std::uint32_t machines);

  // The machine's clock was compared with the head's. A machine that does not exist is ignored.
  void CompareClock(const ClockCompared& event);
  // The signal by which the user stops the job, unless it has a cause already.
  void StopAsked(std::int32_t signal);
  // The input is the job's cause unless it has one; `failure` is read if it is kFailed. Whether it became the cause.
  bool Blame(JobInput input, const std::string& why, const ProcessFailure& failure);
  // Makes this end the first failure if it was before the one that was taken for it, or is what made that fail.
  // Whether it did.
  bool Trace(const ProcessExited& exit, const Moment& moment, const std::string& why, const ProcessStates& states);

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
  std::int32_t passed_code_ = 1;  // what --pass-exit-code hands on
  std::int32_t stop_signal_ = 0;
  std::optional<FirstFailure> first_failure_;
  MonotonicNs failed_at_ = 0;    // on its host
  bool failed_by_code_ = false;  // it exited; no signal ended it
  std::optional<Moment> failed_moment_;
};

}  // namespace muster
