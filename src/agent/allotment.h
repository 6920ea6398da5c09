// What of this host a job is given: devices, leased among all musters of the host, and processor cores.
//
// Knows what was asked for and who finds out what there is; the arithmetic is in core_shares.h.
#pragma once

#include <cstddef>
#include <optional>

#include "agent/device_leases.h"
#include "agent/protocol.h"

namespace muster {

class Allotment {
 public:
  // Once. With an error nothing is held.
  Allotted Give(const Allot& asked);
  // The last process has been reaped.
  void GiveUp() { leases_.reset(); }
  // Descriptors that are open for it.
  std::size_t held() const { return leases_ ? leases_->held() : 0; }

 private:
  std::optional<DeviceLeases> leases_;
};

}  // namespace muster
