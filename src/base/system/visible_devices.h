// The devices of this host that the job may use, in muster's numbering: device i is the i-th device that is visible to
// muster itself.
//
// Evaluates the variables by which a caller restricts a process, and what /proc and /sys report; leases nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct HostDevice {
  std::string name;   // value for the kind's variable: a number, or the caller's own word (a UUID)
  std::string lease;  // name for leases, the same for all muster processes of the host, whatever each of them may see
  std::optional<std::uint32_t> node;  // the nearest memory node, if the kernel reports one

  bool operator==(const HostDevice&) const = default;
};

struct VisibleDevices {
  std::vector<HostDevice> devices;
  // Why there are not more: "CUDA_VISIBLE_DEVICES=2,3", "this host has 8"; empty if the number is unknown and the
  // devices are assumed to exist.
  std::string limit;
};

// Returns the value of a variable; null if it is not set.
using VariableOf = std::function<const char*(const char* name)>;

// `kind` as in base/system/host_devices.h, or empty. If the number of devices is unknown, `wanted` devices are assumed.
// The caller's list ends at its first invalid word, as for CUDA; a variable set to an empty text leaves no device.
VisibleDevices FindVisibleDevices(std::string_view kind, std::uint32_t wanted, const VariableOf& variable,
                                  const std::string& root = "/");

}  // namespace muster
