// The processes of the job, by the process table: starts, readiness, ends, restarts and stops. What they mean to the
// job as a whole is returned as an input to the job table.
//
// In each call `why` is the text that explains the event at hand: it is replaced or added to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/site.h"
#include "run/supervise/host_replacement.h"
#include "run/supervise/job_limits.h"
#include "run/supervise/policy_table.h"
#include "run/supervise/port_rebinding.h"
#include "run/supervise/process_states.h"
#include "run/supervise/restart_rounds.h"

namespace muster {

class Orders;

class JobProcesses {
 public:
  // The plan must outlive this. Spares have a number of devices.
  JobProcesses(const Plan& plan, const std::vector<SiteHost>& spares);

  ProcessStates& states() { return states_; }
  const ProcessStates& states() const { return states_; }
  JobLimits& limits() { return limits_; }
  const HostReplacement& hosts() const { return hosts_; }

  // The job is at work from here on, until Retire(): processes are started, and started again.
  void Begin(Orders& orders);
  void Retire(Orders& orders);
  // The work is done: what still runs has its role's time to end by itself.
  void Linger(Orders& orders);
  // Stops all, or the processes of a role.
  void Stop(std::optional<std::uint32_t> only_role, bool at_once, Orders& orders);

  // Whether it is a process's latest attempt. If not, a stray event is recorded: that it `what`.
  bool IsLatest(const ProcessAttempt& who, std::string_view what, Orders& orders) const;
  void Started(const ProcessAttempt& who, Orders& orders);
  void Ready(ProcessId process, Orders& orders);
  std::optional<JobInput> Ended(const ProcessAttempt& who, const HowEnded& end, const std::string& how,
                                std::string& why, Orders& orders);
  // It ended badly, or has to end: a restart, or the job's failure.
  std::optional<JobInput> Failed(const ProcessAttempt& who, const HowEnded& end, std::string& why, Orders& orders);
  void RestartDelayOver(std::uint64_t restart, Orders& orders);

  void PortSeenTaken(const PortTaken& event, std::string& why, Orders& orders);
  std::optional<JobInput> Rebound(const PlanRebound& event, std::string& why, Orders& orders);
  // The machine's agent is gone, `how` says why; attested: after the end of all its processes.
  std::optional<JobInput> MachineOver(std::uint32_t machine, bool attested, const std::string& how, Phase phase,
                                      std::string& why, Orders& orders);
  std::optional<JobInput> Replaced(const HostReplaced& event, std::string& why, Orders& orders);

 private:
  void StartRole(std::uint32_t role, Orders& orders);
  // All that may be started now that the plan is bound anew.
  void StartDue(Orders& orders);
  void StartAgainIfDue(std::uint64_t restart, Orders& orders);
  // False, with `why` extended, if the budget of the process's role is used up or the job is not at work any more.
  bool Restart(const ProcessAttempt& who, std::string& why, Orders& orders);
  // The whole job, with other ports; false, with `why` extended, if that does not help or has been tried too often.
  bool RestartElsewhere(const ProcessAttempt& who, std::string& why, Orders& orders);
  // Lets a spare take the host's place and restarts what ran there; false, with `why` extended, if the policies do not
  // allow it or there is none.
  bool Relocate(std::uint32_t host, std::string& why, Orders& orders);

  const Plan& plan_;
  ProcessStates states_;
  JobLimits limits_;
  RestartRounds restarts_;
  PortRebinding ports_;
  HostReplacement hosts_;
  bool at_work_ = false;
};

}  // namespace muster
