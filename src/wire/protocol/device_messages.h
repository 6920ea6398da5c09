// Messages of the agent protocol: devices and processor cores of a host that a job is given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/event.h"

namespace muster {

// Which processor cores one process is to have (docs/devices.md).
struct CoreRequest {
  enum class Kind : std::uint8_t {
    kAuto,   // its equal share of what is left
    kCount,  // so many of its own
    kList    // these
  };
  ProcessId process = 0;
  Kind kind = Kind::kAuto;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> list;     // ascending
  std::string role;                    // for messages
  std::vector<std::uint32_t> devices;  // the plan's numbers of its devices
};

// What of the host the job is to have: asked once, before any start. What is given is the job's until the agent has
// reaped its last process.
struct AllocateResources {
  std::vector<std::uint32_t> devices;  // the plan's numbers of those that are used here, ascending
  std::uint32_t host_devices = 0;      // how many the plan takes the host to have
  // What the plan's numbers stand for: `given`, or themselves if that is empty. With `any`: whichever are free, of
  // `given` if that is not empty.
  bool any = false;
  std::vector<std::uint32_t> given;
  bool shared = false;  // others who say the same may have them too
  std::string kind;     // base/system/host_devices.h, or empty
  std::string whose;    // who has them, for others to read: one line
  std::vector<CoreRequest> cores;
  // How long devices that others hold are waited for; told by DevicesAwaited. 0: not at all.
  std::uint64_t wait_ms = 0;
  std::uint32_t per_device = 0;  // more than 1: they are shared, by at most so many jobs; else, any number
  std::string party = {};        // the sweep or run among those that wait; without blanks
  std::string job = {};          // the run
};

inline constexpr std::uint64_t kWaitForEver = ~std::uint64_t{0};

// Answer to AllocateResources, in the order asked.
struct ResourcesAllocated {
  std::vector<std::string> devices;               // their names on this host
  std::vector<std::vector<std::uint32_t>> cores;  // ascending, never empty
  std::vector<std::string> notes;                 // sentences about what could not be as it should
  std::string error;                              // empty: all is given
};

}  // namespace muster
