#include "run/supervise/port_rebinding.h"

#include <utility>

#include <fmt/format.h>

#include "run/supervise/action.h"

namespace muster {

bool PortRebinding::Concerns(const ProcessAttempt& who) const {
  return taken_ && taken_->process == who.process && taken_->attempt == who.attempt;
}

bool PortRebinding::Allowed(const Plan& plan, std::string& why) const {
  const auto port = plan.ports.find(taken_->port);
  if (port == plan.ports.end() || port->second.number != 0) return false;  // a number set by the recipe must not change
  if (times_ < kMostRebinds) return true;
  why += fmt::format(", and the job already got other ports {} times", kMostRebinds);
  return false;
}

std::uint32_t PortRebinding::Begin() {
  under_way_ = true;
  return ++times_;
}

bool PortRebinding::End() { return std::exchange(under_way_, false); }

}  // namespace muster
