// Device leases among all muster processes of a host: one file per device, locked as long as the lease is held, and one
// file per waiting job.
//
// Handles files and locks; independent of plans and device vendors. The order of jobs is decided by device_grants.h. A
// lock belongs to this process alone and ends with it in every case, so nothing needs cleaning up and a remaining file
// has no meaning. All users may use the folder: leases are cooperative, not enforced (docs/devices.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "agent/devices/device_grants.h"
#include "base/system/unique_fd.h"

namespace muster {

// `given` ($MUSTER_LEASES) if it is not empty; else muster-leases in /run/lock or /tmp, the first that is a folder
// writable by all users, so that all users of a host get the same one.
std::string LeaseFolder(std::string_view given);

class DeviceLeases {
 public:
  struct Wish {
    DeviceRequest devices;
    std::string whose;  // description for other users: one line
    std::string party;  // WaitingJob::party; without blanks
    std::string job;    // which job of the party; without blanks
  };
  struct Shortage {
    std::string why;      // one sentence that names the holders
    bool passes = false;  // whether the same wish may succeed later
  };
  using Taken = std::vector<std::size_t>;  // positions in the candidates, ascending

  explicit DeviceLeases(std::string folder) : folder_(std::move(folder)) {}

  // Takes all required devices, or none. Devices reserved for waiting jobs are not available.
  // Processes choose one after the other; fails if the lock for choosing is not free within
  // `patience_ms`.
  tl::expected<Taken, Shortage> Take(const Wish& wish, std::uint32_t patience_ms = 5'000);
  // The same, but if there are too few devices, this job waits in line from now on, and the caller has to call again
  // after changes (lease_watch.h), always with the same wish.
  tl::expected<Taken, Shortage> TakeInTurn(const Wish& wish, std::uint32_t patience_ms = 5'000);
  // Stops waiting. Keeps held devices.
  void Withdraw();
  // Whether a job holds the device, this one or another.
  bool IsLeased(const std::string& device);

  void GiveUp();
  // Number of descriptors that it has open.
  std::size_t held() const { return held_.size() + (open_folder_ ? 1 : 0) + (ticket_ ? 1 : 0); }
  const std::string& folder() const { return folder_; }

 private:
  class Choice;  // device_leases.cc

  tl::expected<void, std::string> OpenFolder();
  tl::expected<void, std::string> Hold(const Wish& wish, const std::string& device);
  void LeaveTicket(const Wish& wish, std::uint64_t arrival);
  tl::expected<Taken, Shortage> Choose(const Wish& wish, bool waits, std::uint32_t patience_ms);

  std::string folder_;
  UniqueFd open_folder_;
  std::vector<UniqueFd> held_;
  UniqueFd ticket_;  // the locked file of the waiting job
  std::string ticket_name_;
};

}  // namespace muster
