// Leases of devices among all musters of a host: one file per device, locked for as long as the lease is held.
//
// Knows files and locks; knows no plan and no vendor. A lock belongs to this process alone and ends with it, however
// that ends, so nothing is ever cleaned up and a file that is left means nothing. Everybody may use the folder: leases
// are an agreement among musters, not a fence (docs/devices.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "base/unique_fd.h"

namespace muster {

// `given` ($MUSTER_LEASES) if it is not empty; else muster-leases in the first of /run/lock and /tmp that is a folder
// for everybody, so that all users of a host come to the same.
std::string LeaseFolder(std::string_view given);

class DeviceLeases {
 public:
  struct Wish {
    // Names of devices, in the order in which they are tried; letters, digits and hyphens.
    std::vector<std::string> candidates;
    std::size_t count = 0;  // how many of them are needed; all, or any of them
    bool shared = false;    // others may hold them too, if they say the same
    std::string whose;      // for those who find them taken: one line of text
  };

  explicit DeviceLeases(std::string folder) : folder_(std::move(folder)) {}

  // All that are needed, or none: positions in `candidates`, ascending, and they are held from now on. If not, one
  // sentence with those who hold what. Musters that choose at the same time choose one after the other; who is kept
  // waiting for that longer than `patience_ms` gives up.
  tl::expected<std::vector<std::size_t>, std::string> Take(const Wish& wish, std::uint32_t patience_ms = 5'000);

  void GiveUp();
  // Descriptors that are open for it.
  std::size_t held() const { return held_.size() + (open_folder_ ? 1 : 0); }

 private:
  tl::expected<void, std::string> OpenFolder();

  std::string folder_;
  UniqueFd open_folder_;
  std::vector<UniqueFd> held_;
};

}  // namespace muster
