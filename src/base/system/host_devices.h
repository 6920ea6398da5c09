// The kinds of devices that muster knows by name: which variable tells a process what it may see, and how many of them
// a host has. Knows files below /dev, /proc and /sys; loads no library of any vendor and asks no device.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

struct DeviceKind {
  std::string_view name;
  // A list of what a process may see, in the order in which it numbers them.
  std::string_view variable;
  // Applies before that one, which then counts what it has left; may be empty.
  std::string_view outer;
};

// CUDA C++ Programming Guide, "CUDA Environment Variables"; ROCm, "GPU isolation techniques"; CANN, "Environment
// variables": ascending and without blanks.
inline constexpr std::array<DeviceKind, 3> kDeviceKinds = {{{"ascend", "ASCEND_RT_VISIBLE_DEVICES", ""},
                                                            {"cuda", "CUDA_VISIBLE_DEVICES", ""},
                                                            {"hip", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"}}};

// Null for a name that is none.
const DeviceKind* DeviceKindNamed(std::string_view name);

struct DevicesThere {
  std::string kind;         // empty if there is none
  std::uint32_t count = 0;  // 0: nothing is known

  bool operator==(const DevicesThere&) const = default;
};

// Those of one kind, or, for an empty `kind`, of the first kind of which there is one: /dev/davinciN, /dev/nvidiaN,
// and for hip the nodes of /sys/class/kfd/kfd/topology that compute. `root` ends with a slash.
DevicesThere CountDevices(std::string_view kind, const std::string& root = "/");

// A number that stands for the count, whatever there is: for devices that muster cannot count, and for tests.
inline constexpr const char* kHostDevicesVariable = "MUSTER_HOST_DEVICES";
// What its text says; nothing if it is no number from 0 to 4096.
std::optional<std::uint32_t> BelievedDevices(std::string_view text);

}  // namespace muster
