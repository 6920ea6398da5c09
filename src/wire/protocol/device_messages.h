// Messages of the agent protocol: devices and processor cores of a host that are allocated to a job.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/event.h"

namespace muster {

// The processor cores that a process requests (docs/devices.md).
struct CoreRequest {
  enum class Kind : std::uint8_t {
    kAuto,   // an equal share of the remaining cores
    kCount,  // this number of exclusive cores
    kList    // these cores
  };
  ProcessId process = 0;
  Kind kind = Kind::kAuto;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> list;     // ascending
  std::string role;                    // for error messages
  std::vector<std::uint32_t> devices;  // the plan's numbers of its devices
};

// Allocates resources of the host to the job. Sent once, before any start. They belong to the job until the agent has
// collected the exit status of its last process.
struct AllocateResources {
  std::vector<std::uint32_t> devices;  // the plan's numbers of the devices used here, ascending
  std::uint32_t host_devices = 0;      // number of devices of the host according to the plan
  // Which devices the plan's numbers stand for: those of `given`, or the same numbers if it is empty. With `any`: any
  // free devices, out of `given` if it is not empty.
  bool any = false;
  std::vector<std::uint32_t> given;
  bool shared = false;  // other jobs that also set it may use the devices at the same time
  std::string kind;     // device kind (base/system/host_devices.h), or empty
  std::string whose;    // description of the holder, shown to other users: one line
  std::vector<CoreRequest> cores;
  // How long to wait for devices that other jobs hold; meanwhile DevicesAwaited is sent. 0: do not wait.
  std::uint64_t wait_ms = 0;
  std::uint32_t per_device = 0;  // if more than 1: maximum number of jobs that share a device; else unlimited
  std::string party = {};        // the waiting sweep or run; without blanks
  std::string job = {};          // the run
};

inline constexpr std::uint64_t kWaitForEver = ~std::uint64_t{0};

// Answer to AllocateResources, in the requested order.
struct ResourcesAllocated {
  std::vector<std::string> devices;               // device names on this host
  std::vector<std::vector<std::uint32_t>> cores;  // ascending, never empty
  std::vector<std::string> notes;                 // warnings, as sentences
  std::string error;                              // empty: everything was allocated
};

}  // namespace muster
