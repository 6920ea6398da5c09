// Facts about machines, asked once: hosts and their devices. A plan is a function of recipe, parameters
// and Site.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster {

struct SiteHost {
  std::string name;
  std::string address;  // IP literal, may be empty until a transport resolved it
  std::optional<std::uint32_t> devices;

  bool operator==(const SiteHost&) const = default;
};

struct Site {
  // Hosts named by the user, in order. Empty: the recipe's counts decide, and names stay holes.
  std::vector<SiteHost> hosts;
  std::uint64_t host_memory_bytes = 0;  // of the local host; 0 unknown
  std::uint32_t host_devices = 0;       // of the local host, as far as they can be counted; 0 unknown
  std::string device_kind;              // of those: "cuda", …; empty unknown

  bool operator==(const Site&) const = default;
};

}  // namespace muster
