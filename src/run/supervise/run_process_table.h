// What is known of every process at this moment: its latest attempt, by events and by the supervisor's states.
//
// Knows events as they come; decides nothing and asks nobody.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/control/control_protocol.h"
#include "run/supervise/supervisor.h"

namespace muster {

class RunProcessTable {
 public:
  explicit RunProcessTable(const Plan& plan);

  // Every event, as it happens. `now` is the head's clock.
  void Saw(const Event& event, MonotonicNs now);

  // Its next attempt is to be on that machine (run/supervise/host_slots.h).
  void Ordered(ProcessId process, std::uint32_t machine) { entries_[process].machine = machine; }

  // In the plan's order; `hosts` are the names by which the machines call themselves.
  std::vector<ProcessStatus> Statuses(const Plan& plan, const Supervisor& supervisor,
                                      const std::vector<std::string>& hosts, MonotonicNs now) const;

  // The process of the role whose last line says most: the latest that ended badly, else the latest that was
  // started again, else the first that runs, else the first. Nothing for a role without processes.
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
    std::string spawn_stage;    // where its start failed
    std::uint32_t machine = 0;  // of the attempt that was ordered last
  };

  // Null for an end that is not of the latest attempt.
  Entry* Ending(ProcessId process, std::uint32_t attempt);

  std::vector<Entry> entries_;
};

}  // namespace muster
