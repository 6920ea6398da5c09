// Leases of devices among all musters of a host: one file per device, locked for as long as the lease is held, and one
// per job that waits for some.
//
// Knows files and locks; knows no plan and no vendor, and whose turn it is only from device_turns.h. A lock belongs to
// this process alone and ends with it, however that ends, so nothing is ever cleaned up and a file that is left means
// nothing. Everybody may use the folder: leases are an agreement among musters, not a fence (docs/devices.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "agent/devices/device_grants.h"
#include "base/system/unique_fd.h"

namespace muster {

// `given` ($MUSTER_LEASES) if it is not empty; else muster-leases in the first of /run/lock and /tmp that is a folder
// for everybody, so that all users of a host come to the same.
std::string LeaseFolder(std::string_view given);

class DeviceLeases {
 public:
  struct Wish {
    DeviceRequest devices;
    std::string whose;  // for those who find them taken: one line of text
    std::string party;  // WaitingJob::party; without blanks
    std::string job;    // which job of the party; without blanks
  };
  struct Shortage {
    std::string why;      // one sentence with those who hold what
    bool passes = false;  // whether there may be enough of them later, without a change of the wish
  };
  using Taken = std::vector<std::size_t>;  // positions in the candidates, ascending

  explicit DeviceLeases(std::string folder) : folder_(std::move(folder)) {}

  // All that are needed, held from now on, or none. A device that is due to a job that waits is none for others.
  // Musters that choose at the same time choose one after the other; one that is kept waiting for that longer than
  // `patience_ms` gives up.
  tl::expected<Taken, Shortage> Take(const Wish& wish, std::uint32_t patience_ms = 5'000);
  // The same, and what there is not enough of is waited for from now on: this job keeps its place among those that
  // wait, and whoever calls asks again once something has changed (lease_watch.h). Always with the same wish.
  tl::expected<Taken, Shortage> TakeInTurn(const Wish& wish, std::uint32_t patience_ms = 5'000);
  // Does not wait any more. What is held stays held.
  void Withdraw();

  void GiveUp();
  // Descriptors that are open for it.
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
  UniqueFd ticket_;  // the file by which it waits
  std::string ticket_name_;
};

}  // namespace muster
