// Handles the processes of the job by the process table: starts, readiness, ends, restarts and stops. Consequences for
// the job as a whole are returned as an input to the job table.
//
// In each call `why` is the text that explains the current event: it is replaced or extended.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/site.h"
#include "run/supervise/host_replacement.h"
#include "run/supervise/job_limits.h"
#include "run/supervise/policy_table.h"
#include "run/supervise/process_states.h"
#include "run/supervise/restarts.h"
#include "run/supervise/verdict.h"

namespace muster {

class Orders;

class JobProcesses {
 public:
  // The plan must outlive this. Spares must have a number of devices.
  JobProcesses(const Plan& plan, const std::vector<SiteHost>& spares);

  void JudgeBy(const std::vector<VerdictRule>& rules, FailureSource& source) { rules_ = &rules, source_ = &source; }

  ProcessStates& states() { return states_; }
  const ProcessStates& states() const { return states_; }
  JobLimits& limits() { return limits_; }
  const HostReplacement& hosts() const { return hosts_; }

  // Starts processes, and permits restarts until Retire().
  void Begin(Orders& orders);
  void Retire(Orders& orders);
  // The work is done: the remaining processes get the linger time of their role to exit by themselves.
  void Linger(Orders& orders);
  // Stops all processes, or those of a role.
  void Stop(std::optional<std::uint32_t> only_role, bool at_once, Orders& orders);

  // Whether the attempt is the process's latest. If not, records a stray event: that the attempt `what`.
  bool IsLatest(const ProcessAttempt& who, std::string_view what, Orders& orders) const;
  void Started(const ProcessAttempt& who, Orders& orders);
  void Ready(ProcessId process, Orders& orders);
  std::optional<JobInput> Ended(const ProcessAttempt& who, const HowEnded& end, const std::string& how,
                                std::string& why, Orders& orders);
  // The process failed, or must be ended: a restart, or the job's failure.
  std::optional<JobInput> Failed(const ProcessAttempt& who, const HowEnded& end, std::string& why, Orders& orders);
  void RestartDelayOver(std::uint64_t restart, Orders& orders);

  void PortSeenTaken(const PortTaken& event, std::string& why, Orders& orders);
  std::optional<JobInput> Rebound(const PlanRebound& event, std::string& why, Orders& orders);
  // The machine's agent is gone for the reason `how`; attested: it reported the end of all its processes.
  std::optional<JobInput> MachineOver(std::uint32_t machine, bool attested, const std::string& how, Phase phase,
                                      std::string& why, Orders& orders);
  std::optional<JobInput> Replaced(const HostReplaced& event, std::string& why, Orders& orders);

 private:
  void StartRole(std::uint32_t role, Orders& orders);
  // Starts everything that may be started after the plan was bound again.
  void StartDue(Orders& orders);
  void StartAgainIfDue(std::uint64_t restart, Orders& orders);
  // The verdict on a failure of a process of this machine, recorded; nothing if none is given.
  std::optional<GivenVerdict> Judge(const ProcessAttempt& who, const HowEnded& end, bool obeyed, Orders& orders);
  // Restarts these processes; returns false, with `why` extended, if the budget of the process's role is used up or
  // the job is stopping.
  bool Restart(const ProcessAttempt& who, const std::vector<ProcessId>& members, std::string& why, Orders& orders);
  // Adds the processes that have to be restarted with `members` so that a spare can replace the host; returns false,
  // and adds none, if the policies do not allow it or there is no spare.
  bool CanExclude(std::uint32_t host, std::vector<ProcessId>& members, std::string& why) const;
  // Lets spares replace the excluded hosts whose processes have all ended.
  void ReplaceExcluded(Orders& orders);
  // Restarts the whole job with other ports; returns false, with `why` extended, if that does not help or has been
  // tried too often.
  bool RestartElsewhere(const ProcessAttempt& who, std::string& why, Orders& orders);
  // Lets a spare replace the host and restarts the host's processes; returns false, with `why` extended, if the
  // policies do not allow it or there is no spare.
  bool Relocate(std::uint32_t host, std::string& why, Orders& orders);

  const Plan& plan_;
  ProcessStates states_;
  JobLimits limits_;
  RestartRounds restarts_;
  PortRebinding ports_;
  HostReplacement hosts_;
  std::set<std::uint32_t> excluded_;  // hosts whose processes are stopped before a spare replaces them
  const std::vector<VerdictRule>* rules_ = nullptr;
  FailureSource* source_ = nullptr;
  std::vector<FailureJudged> judged_;  // the last kMaxJudgedFailures
  bool at_work_ = false;
};

}  // namespace muster
