// Determines which roles may start, and which processes are ready, from the `after` of the plan's roles. Starts
// nothing; independent of time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

class StartOrder {
 public:
  // The plan must be one that ValidatePlan accepts; it is only read by the constructor.
  explicit StartOrder(const Plan& plan);

  // Whether all processes of all roles that this one comes after are ready.
  bool MayStart(std::uint32_t role) const { return waits_[role] == 0; }
  bool IsReady(ProcessId process) const { return ready_[process]; }

  // Returns the roles that may start because of it.
  std::vector<std::uint32_t> SetReady(ProcessId process);
  void SetUnready(ProcessId process);

  // A role that cannot start before this process is ready.
  std::optional<std::uint32_t> AwaitedBy(ProcessId process) const;

  // The processes of a role, [first, last).
  ProcessId First(std::uint32_t role) const { return first_[role]; }
  ProcessId Last(std::uint32_t role) const { return first_[role + 1]; }
  std::uint32_t roles() const { return static_cast<std::uint32_t>(waits_.size()); }

 private:
  std::vector<ProcessId> first_;                        // by role, and one past the last role's end
  std::vector<std::uint32_t> role_of_;                  // by process
  std::vector<std::vector<std::uint32_t>> dependents_;  // by role: roles that come after it
  std::vector<std::uint64_t> waits_;                    // by role: processes that it waits for
  std::vector<bool> ready_;
};

}  // namespace muster
