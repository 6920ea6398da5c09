// The device kinds that muster supports by name: the variable that sets a process's visible devices, and the number of
// devices on a host. Reads files below /dev, /proc and /sys; loads no vendor library and opens no device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

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

}  // namespace muster
