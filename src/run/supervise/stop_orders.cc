#include "run/supervise/stop_orders.h"

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <utility>

#include "base/values/abnormal_exit.h"
#include "run/supervise/orders.h"

namespace muster {

void OrderStops(const Plan& plan, const std::vector<ProcessId>& processes, bool at_once, bool any_left,
                Orders& orders) {
  std::vector<std::vector<ProcessId>> by_role(plan.roles.size());
  for (const ProcessId process : processes) by_role[plan.processes[process].role].push_back(process);
  std::uint32_t longest_ms = 0;
  for (std::size_t role = 0; role < by_role.size(); ++role) {
    if (by_role[role].empty()) continue;
    const StopPolicy& policy = plan.roles[role].stop;
    StopOrdered order{std::move(by_role[role]), SIGKILL, 0};
    if (!at_once) {
      order.signal = SignalNumber(policy.signal).value_or(SIGTERM);
      order.grace_ms = policy.grace_ms;
    }
    longest_ms = std::max(longest_ms, order.grace_ms);
    orders.Add(std::move(order));
  }
  MonotonicNs deadline = orders.now() + FromMs(std::uint64_t{longest_ms} + kStopMarginMs);
  if (const auto armed = orders.Deadline(kStopTimer); armed && !at_once) deadline = std::max(deadline, *armed);
  if (any_left) orders.ArmAt(kStopTimer, deadline);
}

}  // namespace muster
