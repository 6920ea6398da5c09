// How people are told of a host of a plan: by the name that they gave it, else by the plan's own.
#pragma once

#include <cstdint>
#include <string>

#include "muster/plan.h"

namespace muster {

// `host` must be one of the plan's.
inline const std::string& HostWord(const Plan& plan, std::uint32_t host) {
  const PlanHost& one = plan.hosts[host];
  return one.name.empty() ? one.label : one.name;
}

}  // namespace muster
