// Which devices of this host the job may use at all, by muster's numbers: device i is the i-th that muster itself may
// see.
//
// Knows the variables by which a caller restricts a process, and what /proc and /sys tell of devices; leases nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct HostDevice {
  std::string name;   // what the kind's variable is to say for it: a number, or the caller's own word (a UUID)
  std::string lease;  // what it is called among all musters of the host, whatever each may see
  std::optional<std::uint32_t> node;  // of memory that it is near to, if the kernel tells

  bool operator==(const HostDevice&) const = default;
};

struct VisibleDevices {
  std::vector<HostDevice> devices;
  // Why there are no more: "CUDA_VISIBLE_DEVICES=2,3", "this host has 8"; empty if that is not known, and devices are
  // taken for granted.
  std::string limit;
};

// Value of a variable; null if it is not set.
using VariableOf = std::function<const char*(const char* name)>;

// `kind` as in base/system/host_devices.h or empty. Where nothing tells how many there are, there are `wanted`. A list
// of the caller's ends at its first word that names nothing, as for CUDA; set to nothing it leaves no device.
VisibleDevices DevicesInSight(std::string_view kind, std::uint32_t wanted, const VariableOf& variable,
                              const std::string& root = "/");

}  // namespace muster
