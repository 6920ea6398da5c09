// The processes that use devices, from the text that the vendor's tool prints: it knows those of other users, whose
// open files only root sees.
//
// Text to values; runs no tool (agent/parts/device_inquiry.h). The text is not trusted.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct DeviceProcess {
  std::int32_t pid = 0;
  std::string name;  // as the tool prints it; may be empty

  bool operator==(const DeviceProcess&) const = default;
};

// By the names that processes are given: a number, of CUDA devices also the UUID.
using DeviceProcesses = std::map<std::string, std::vector<DeviceProcess>, std::less<>>;

// The commands whose outputs together say it, for devices of that kind (base/system/host_devices.h). Empty for other
// kinds.
std::vector<std::vector<std::string>> DeviceProcessCommands(std::string_view kind);

// `outputs`: of these commands, in their order.
DeviceProcesses ParseDeviceProcesses(std::string_view kind, std::span<const std::string> outputs);

}  // namespace muster
