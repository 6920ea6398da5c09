// The devices of this host: the kinds that muster supports by name, their number, and those that the job may use, in
// muster's numbering. Reads variables and files below /dev, /proc and /sys; loads no vendor library, opens no device
// and leases nothing.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The device kinds that muster supports by name: the variable that sets a process's visible devices, and the number of
// devices on a host. Reads files below /dev, /proc and /sys; loads no vendor library and opens no device.

struct DeviceKind {
  std::string_view name;
  // The variable that lists the visible devices of a process, in its numbering order.
  std::string_view variable;
  // A variable that is applied first; `variable` then numbers the remaining devices. May be empty.
  std::string_view outer;
};

// CUDA C++ Programming Guide, "CUDA Environment Variables"; ROCm, "GPU isolation techniques"; CANN, "Environment
// variables": ascending and without blanks.
inline constexpr std::array<DeviceKind, 3> kDeviceKinds = {{{"ascend", "ASCEND_RT_VISIBLE_DEVICES", ""},
                                                            {"cuda", "CUDA_VISIBLE_DEVICES", ""},
                                                            {"hip", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}}};

// Null for an unknown name.
const DeviceKind* DeviceKindNamed(std::string_view name);

struct HostDeviceCount {
  std::string kind;         // empty if there are no devices
  std::uint32_t count = 0;  // 0: unknown

  bool operator==(const HostDeviceCount&) const = default;
};

// The devices of one kind, or, for an empty `kind`, of the first kind that is present: /dev/davinciN, /dev/nvidiaN, and
// for hip the GPU nodes of /sys/class/kfd/kfd/topology. `root` ends with a slash.
HostDeviceCount CountDevices(std::string_view kind, const std::string& root = "/");

// Overrides the count of devices: for devices that muster cannot count, and for tests.
inline constexpr const char* kHostDevicesVariable = "MUSTER_HOST_DEVICES";
// Parses the value of that variable; nothing if it is no number from 0 to 4096.
std::optional<std::uint32_t> ParseDeviceCount(std::string_view text);

// The devices of this host that the job may use, in muster's numbering: device i is the i-th device that is visible to
// muster itself.
//
// Evaluates the variables by which a caller restricts a process, and what /proc and /sys report; leases nothing.

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
