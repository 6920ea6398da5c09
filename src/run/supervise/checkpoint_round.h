// The wait for a checkpoint before processes are stopped: which processes were sent their checkpoint signal, and how
// long to wait. The session detects new checkpoints.
#pragma once

#include <vector>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

class Orders;
class ProcessStates;

class CheckpointRound {
 public:
  // Sends their checkpoint signal to the running processes that have one; from then on their end counts as a stop.
  // Returns whether there are any.
  bool Begin(const Plan& plan, ProcessStates& states, Orders& orders);
  bool under_way() const { return !asked_.empty(); }
  // Ends the wait: orders the stop of all processes, by the StopPolicy of their roles.
  void Finish(const Plan& plan, ProcessStates& states, Orders& orders);
  // Cancels the wait.
  void Cancel(Orders& orders);

 private:
  std::vector<ProcessId> asked_;  // ascending
};

}  // namespace muster
