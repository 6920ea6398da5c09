// The memory that is in use on devices, from the text that the vendor's tool prints.
//
// Text to values; runs no tool (agent/parts/usage_samples.h). The text is not trusted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The command for devices of that kind (base/system/host_devices.h): `nvidia-smi` with a query, or `npu-smi info`.
// Empty for other kinds.
std::vector<std::string> DeviceMemoryCommand(std::string_view kind);

// By the names that processes are given: a number, of CUDA devices also the UUID. In KiB.
using DeviceMemory = std::map<std::string, std::uint64_t, std::less<>>;
DeviceMemory ParseDeviceMemory(std::string_view kind, std::string_view output);

// The sum for these devices; nothing if there are none, or if one of them is unknown.
std::optional<std::uint64_t> MemoryOf(const std::vector<std::string>& devices, const DeviceMemory& memory);

}  // namespace muster
