// What a run asks of the devices of its hosts besides what its plan says.
#pragma once

#include <cstdint>
#include <string>

namespace muster {

struct DeviceTerms {
  std::uint64_t wait_ms = 0;     // AllocateResources::wait_ms: kWaitForEver without a limit
  std::uint32_t per_device = 0;  // AllocateResources::per_device
  std::string sweep = {};  // id of the sweep that the run is a trial of: where devices are waited for it is one party
};

}  // namespace muster
