// The current state of every process, from events and the supervisor's states, and counts of each role for status
// requests.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/control/control_protocol.h"
#include "run/supervise/supervisor.h"

namespace muster {

// The current state of every process: its latest attempt, from events and the supervisor's states.
//
// Only records events; decides nothing and sends no requests.
class RunProcessTable {
 public:
  explicit RunProcessTable(const Plan& plan);

  // Must be called for every event. `now` is the head's clock.
  void Saw(const Event& event, MonotonicNs now);

  // The next attempt of the process will be on that machine (run/supervise/host_replacement.h).
  void Ordered(ProcessId process, std::uint32_t machine) { entries_[process].machine = machine; }

  // The signal that ended that attempt; 0: it has not ended, or by itself, or is not the latest.
  int SignalOf(ProcessId process, std::uint32_t attempt) const;

  // When that attempt started, by the head's clock; 0: it did not, or is not the latest.
  MonotonicNs BeganAt(ProcessId process, std::uint32_t attempt) const;

  // In the plan's order; `hosts` are the host names of the machines.
  std::vector<ProcessStatus> Statuses(const Plan& plan, const Supervisor& supervisor,
                                      const std::vector<std::string>& hosts, MonotonicNs now) const;

  // The process of the role whose last output line is most informative: the one that failed last, else the one
  // restarted last, else the first running one, else the first. Empty for a role without processes.
  std::optional<ProcessId> StrongestOutlier(const Plan& plan, const Supervisor& supervisor, std::uint32_t role) const;

 private:
  struct Entry {
    std::uint32_t attempt = 0;
    std::int32_t pid = 0;
    std::uint64_t start_ticks = 0;
    MonotonicNs began = 0;  // 0: not started
    MonotonicNs ended = 0;  // 0: not ended
    bool signalled = false;
    std::int32_t code = 0;
    std::string spawn_stage;    // stage in which its start failed
    std::uint32_t machine = 0;  // of the latest ordered attempt
  };

  // Null unless the attempt is the latest.
  Entry* Ending(ProcessId process, std::uint32_t attempt);

  std::vector<Entry> entries_;
};

// Counts the states of each role's processes, for status requests.

// In the plan's order of roles.
std::vector<RoleStatus> RoleStatuses(const Plan& plan, const Supervisor& supervisor);

}  // namespace muster
