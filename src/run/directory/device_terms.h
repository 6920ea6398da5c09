// Conditions of a run for the devices of its hosts that are not part of its plan.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

struct DeviceTerms {
  std::uint64_t wait_ms = 0;     // AllocateResources::wait_ms: kWaitForEver without a limit
  std::uint32_t per_device = 0;  // AllocateResources::per_device
  std::string sweep = {};  // id of the sweep if the run is a trial: a sweep has one place in the queue for devices
};

}  // namespace muster
