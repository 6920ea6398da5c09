// Facts about machines, collected once: hosts and their devices. A plan is a function of recipe, parameters and
// Site.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/diagnostic.h"

namespace muster {

struct SiteHost {
  std::string name;
  std::string address;  // IP literal, may be empty until a transport has resolved it
  std::optional<std::uint32_t> devices;
  // Of an engine's allocation: for how many processes it was asked there, …
  std::optional<std::uint32_t> slots = std::nullopt;
  // … or for how many there is room, if it was asked for hosts only.
  std::optional<std::uint32_t> room = std::nullopt;

  bool operator==(const SiteHost&) const = default;
};

// The site's changes to the environment that processes inherit, applied before their host's activation: first the
// filter for inherited variables, then removals, then settings.
struct SiteEnvironment {
  std::map<std::string, std::string> set;
  std::vector<std::string> unset;  // NAME or PREFIX*
  std::vector<std::string> pass;   // NAME or PREFIX*; empty: everything passes

  bool empty() const { return set.empty() && unset.empty() && pass.empty(); }
  bool operator==(const SiteEnvironment&) const = default;
};

struct Site {
  // Hosts named by the user, in order. Empty: the recipe sets the number, and names stay placeholders.
  std::vector<SiteHost> hosts;
  std::uint64_t host_memory_bytes = 0;  // of the local host; 0 unknown
  std::uint32_t host_devices = 0;       // of the local host, if they can be counted; 0 unknown
  std::string device_kind;              // of those: "cuda", …; empty unknown

  // From a site file. Its hosts are the available ones: the recipe sets how many are used.
  std::optional<std::uint32_t> devices_per_host;  // for hosts without a number of their own
  SiteEnvironment environment;
  // By field ("hosts", "devices", "memory", "environment.set.NAME", …): the line that set it, and its source as shown:
  // "muster.site.lua:4 (project site file)". Without "hosts" the command line named them.
  std::map<std::string, Place> places;
  std::map<std::string, std::string> sources;

  bool operator==(const Site&) const = default;
};

}  // namespace muster
