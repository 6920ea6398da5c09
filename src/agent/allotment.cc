#include "agent/allotment.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "agent/core_shares.h"
#include "agent/host_cores.h"
#include "agent/visible_devices.h"
#include "base/number_list.h"
#include "base/shell_quote.h"

namespace muster {
namespace {

const char* OwnVariable(const char* name) { return std::getenv(name); }

// "… of alice (uid 1000), since 2026-11-22 02:30:12 UTC". The name is what the caller's environment says: looking it
// up could mean to wait for a network.
std::string Holder(const std::string& whose) {
  const char* name = OwnVariable("USER");
  const std::string user = name == nullptr || *name == '\0' ? fmt::format("uid {}", ::geteuid())
                                                            : fmt::format("{} (uid {})", Printable(name), ::geteuid());
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char since[32] = {};
  std::strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return fmt::format("{} of {}, since {}", whose, user, since);
}

// Positions in sight of the devices that may be taken, in the order in which they are tried; or why there are not
// enough of them.
tl::expected<std::vector<std::size_t>, std::string> Candidates(const Allot& asked, const VisibleDevices& sight) {
  std::vector<std::size_t> positions;
  const std::string limit = sight.limit.empty() ? std::string() : fmt::format(" ({})", sight.limit);
  if (asked.any) {
    for (std::size_t i = 0; i < sight.devices.size(); ++i) positions.push_back(i);
    if (positions.size() >= asked.devices.size()) return positions;
    return tl::unexpected(
        fmt::format("{} devices are wanted, and muster may use {}{}", asked.devices.size(), positions.size(), limit));
  }
  std::vector<std::uint32_t> beyond;
  for (const std::uint32_t number : asked.devices) {
    const std::uint32_t position = number < asked.given.size() ? asked.given[number] : number;
    positions.push_back(position);
    if (position >= sight.devices.size()) beyond.push_back(position);
  }
  if (beyond.empty()) return positions;
  return tl::unexpected(fmt::format("the job uses device{} {}, and muster may use {}{}", beyond.size() == 1 ? "" : "s",
                                    NumberListText(beyond), sight.devices.size(), limit));
}

}  // namespace

Allotted Allotment::Give(const Allot& asked) {
  Allotted given;
  std::vector<std::optional<std::uint32_t>> node_of_device;
  if (!asked.devices.empty()) {
    const std::uint32_t highest = asked.devices.back();
    std::uint32_t least = std::max(highest + 1, asked.host_devices);
    if (!asked.given.empty()) least = *std::max_element(asked.given.begin(), asked.given.end()) + 1;
    const VisibleDevices sight = DevicesInSight(asked.kind, least, OwnVariable);
    auto candidates = Candidates(asked, sight);
    if (!candidates) {
      given.error = std::move(candidates.error());
      return given;
    }
    DeviceLeases::Wish wish{{}, asked.devices.size(), asked.shared, Holder(asked.whose)};
    for (const std::size_t position : *candidates) wish.candidates.push_back(sight.devices[position].lease);
    const char* folder = OwnVariable("MUSTER_LEASES");
    DeviceLeases leases(LeaseFolder(folder == nullptr ? "" : folder));
    auto taken = leases.Take(wish);
    if (!taken) {
      given.error = fmt::format("{} {} wanted{}: {}", asked.devices.size(),
                                asked.devices.size() == 1 ? "device is" : "devices are",
                                asked.any ? " and not free" : "", taken.error());
      return given;
    }
    node_of_device.resize(std::size_t{highest} + 1);
    for (std::size_t i = 0; i < taken->size(); ++i) {
      const HostDevice& device = sight.devices[(*candidates)[(*taken)[i]]];
      given.devices.push_back(device.name);
      node_of_device[asked.devices[i]] = device.node;
    }
    leases_.emplace(std::move(leases));
  }
  if (asked.cores.empty()) return given;

  std::vector<std::optional<std::uint32_t>> nodes;
  for (const CoreWish& wish : asked.cores) {
    const bool known = !wish.devices.empty() && wish.devices.front() < node_of_device.size();
    nodes.push_back(known ? node_of_device[wish.devices.front()] : std::nullopt);
  }
  auto shares = ShareCores(CoresThere(OwnCores()), asked.cores, nodes);
  if (!shares) {
    GiveUp();
    given.devices.clear();
    given.error = "cores: " + shares.error();
    return given;
  }
  given.cores = std::move(shares->of);
  for (std::string& note : shares->notes) given.notes.push_back("cores: " + std::move(note));
  return given;
}

}  // namespace muster
