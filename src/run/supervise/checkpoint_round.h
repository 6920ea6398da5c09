// The wait for a checkpoint before processes are stopped: who was asked for one, and how long it may take. Whether
// there is a new checkpoint, the session sees.
#pragma once

#include <vector>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

class Orders;
class ProcessStates;

class CheckpointRound {
 public:
  // Sends the running processes that have a checkpoint signal that signal. However they end afterwards, it was asked.
  // Whether there are any.
  bool Begin(const Plan& plan, ProcessStates& states, Orders& orders);
  bool under_way() const { return !asked_.empty(); }
  // The wait is over: returns all processes that now have to be stopped, in the plan's order.
  std::vector<ProcessId> End(ProcessStates& states, Orders& orders);
  // Nothing waits for a checkpoint any more.
  void Cancel(Orders& orders);

 private:
  std::vector<ProcessId> asked_;  // ascending
};

}  // namespace muster
