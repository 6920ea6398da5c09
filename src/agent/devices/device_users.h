// Which processes of this host have the devices of a kind open, whoever started them: leases (device_leases.h) are
// known to muster alone.
//
// Reads /dev and /proc; opens no device. Of other users only root sees the open files; the vendors' tools see them, too
// (agent/parts/device_inquiry.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// By number of the device, /dev/nvidiaN or /dev/davinciN, as DeviceUserText() has them: without monitoring daemons of
// the vendors and display servers. Empty for other kinds. `root` ends with a slash.
std::map<std::uint32_t, std::string> DeviceUsers(std::string_view kind, std::int32_t self,
                                                 const std::string& root = "/");

// "pid 4711 (python3) of uid 1000", or nothing for one that holds devices open without computing on them, and for the
// process `self`. `name` is used if the kernel does not give one.
std::optional<std::string> DeviceUserText(std::int32_t pid, std::int32_t self, const std::string& name = {});

}  // namespace muster
