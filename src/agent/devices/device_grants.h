// Which of the jobs that want devices of a host get theirs next: a rule over values.
//
// Knows wishes and who holds what; opens no file, takes no lock and has no clock (device_leases.h does that).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster {

struct DeviceRequest {
  // Names of leases, in the order in which they are preferred; letters, digits and hyphens.
  std::vector<std::string> candidates = {};
  std::size_t count = 0;         // how many of them are needed: all at once, or none is taken
  bool shared = false;           // others may hold them too, if they share as well
  std::uint32_t per_device = 0;  // with `shared`: at most so many jobs on a device, this one included; 0: any number
};

struct WaitingJob {
  DeviceRequest wish;
  // Jobs of one party (the trials of a sweep) count as one: a party that holds less is served first.
  std::string party;
  std::uint64_t arrival = 0;    // the smaller the earlier
  std::uint32_t overtaken = 0;  // how often another took a device that it could have used, when it did not fit itself
};

// Who holds a device: nobody, one party, or the parties of the jobs that share it, one entry for each job.
struct DeviceHolders {
  std::vector<std::string> parties;
  bool shared = false;
};

struct DeviceGrant {
  std::size_t job = 0;                 // position in `waiting`
  std::vector<std::size_t> positions;  // in its candidates, ascending
  std::vector<std::size_t> passes;     // jobs before it that do not fit and could use one of these devices

  bool operator==(const DeviceGrant&) const = default;
};

// A job that was overtaken so often has the free devices that it can use kept for it until there are enough of them.
inline constexpr std::uint32_t kMostDeviceOvertakes = 8;

// Who gets which devices now, in the order of service. Served are jobs that were overtaken too often, then those whose
// party holds the fewest devices, then the earliest; one that does not fit lets the others pass. A job that shares gets
// the devices with the fewest jobs on them.
std::vector<DeviceGrant> ServeInTurn(const std::vector<WaitingJob>& waiting,
                                     std::map<std::string, DeviceHolders> devices);

}  // namespace muster
