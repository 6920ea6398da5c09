// What uses the devices of this host, whoever started it: processes that have device files open, according to /dev
// and /proc, and processes and memory in the text that the vendor's tool prints, which also knows those of other
// users. Opens no device and runs no tool; the tool's text is not trusted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The memory that is in use on devices, from the text that the vendor's tool prints.
//
// Text to values; runs no tool (agent/parts/usage_samples.h). The text is not trusted.

// The command for devices of that kind (base/system/host_devices.h): `nvidia-smi` with a query, or `npu-smi info`.
// Empty for other kinds.
std::vector<std::string> DeviceMemoryCommand(std::string_view kind);

// By the names that processes are given: a number, of CUDA devices also the UUID. In KiB.
using DeviceMemory = std::map<std::string, std::uint64_t, std::less<>>;
DeviceMemory ParseDeviceMemory(std::string_view kind, std::string_view output);

// The sum for these devices; nothing if there are none, or if one of them is unknown.
std::optional<std::uint64_t> MemoryOf(const std::vector<std::string>& devices, const DeviceMemory& memory);

// The processes that use devices, from the text that the vendor's tool prints: it knows those of other users, whose
// open files only root sees.
//
// Text to values; runs no tool (agent/parts/host_preparation.h). The text is not trusted.

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

// Which processes of this host have the devices of a kind open, whoever started them: leases (device_leases.h) are
// known to muster alone.
//
// Reads /dev and /proc; opens no device. Of other users only root sees the open files; the vendors' tools see them, too
// (agent/parts/host_preparation.h).

// By number of the device, /dev/nvidiaN or /dev/davinciN, as DeviceUserText() has them: without monitoring daemons of
// the vendors and display servers. Empty for other kinds. `root` ends with a slash.
std::map<std::uint32_t, std::string> DeviceUsers(std::string_view kind, std::int32_t self,
                                                 const std::string& root = "/");

// "pid 4711 (python3) of uid 1000", or nothing for one that holds devices open without computing on them, and for the
// process `self`. `name` is used if the kernel does not give one.
std::optional<std::string> DeviceUserText(std::int32_t pid, std::int32_t self, const std::string& name = {});

}  // namespace muster
