// The rule by which waiting jobs get devices of a host, as a function of values.
//
// Uses requests and holders; opens no file, takes no lock and has no clock (device_leases.h does that).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster {

struct DeviceRequest {
  // Names of leases in order of preference; letters, digits and hyphens.
  std::vector<std::string> candidates = {};
  std::size_t count = 0;         // number required: all are taken at once, or none
  bool shared = false;           // other jobs may hold them too, if they also share
  std::uint32_t per_device = 0;  // with `shared`: maximum number of jobs on a device, including this one; 0: unlimited
};

struct WaitingJob {
  DeviceRequest wish;
  // Jobs of one party (the trials of a sweep) count together: the party that holds fewer devices is served first.
  std::string party;
  std::uint64_t arrival = 0;    // smaller is earlier
  std::uint32_t overtaken = 0;  // how often another job took a device that this one could have used while its own
                                // request did not fit
};

// The holders of a device: none, one party, or the parties of the jobs that share it, one entry per job.
struct DeviceHolders {
  std::vector<std::string> parties;
  bool shared = false;
};

struct DeviceGrant {
  std::size_t job = 0;                 // position in `waiting`
  std::vector<std::size_t> positions;  // in its candidates, ascending
  std::vector<std::size_t> passes;     // jobs ahead of it that do not fit and could use one of these devices

  bool operator==(const DeviceGrant&) const = default;
};

// After it was overtaken this often, free devices that a job can use are reserved for it until there are enough.
inline constexpr std::uint32_t kMostDeviceOvertakes = 8;

// Which waiting jobs get which devices now, in the order of service: first jobs that were overtaken too often, then
// those whose party holds the fewest devices, then the earliest. A job that does not fit may be overtaken. A job that
// shares gets the devices with the fewest jobs.
std::vector<DeviceGrant> ServeInTurn(const std::vector<WaitingJob>& waiting,
                                     std::map<std::string, DeviceHolders> devices);

}  // namespace muster
