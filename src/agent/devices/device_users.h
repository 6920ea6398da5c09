// Which processes of this host have the devices of a kind open, whoever started them: leases (device_leases.h) are
// known to muster alone.
//
// Reads /dev and /proc; opens no device. Of other users only root sees the open files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace muster {

// By number of the device, /dev/nvidiaN or /dev/davinciN: "pid 4711 (python3) of uid 1000". Empty for other kinds. Left
// out are monitoring daemons of the vendors and display servers, which hold devices open without computing on them,
// and the process `self`. `root` ends with a slash.
std::map<std::uint32_t, std::string> DeviceUsers(std::string_view kind, std::int32_t self,
                                                 const std::string& root = "/");

}  // namespace muster
