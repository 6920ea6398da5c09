// The heartbeats of one agent at the head: its lease, and what their round trips say about the offset of its clock.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/clock_offset.h"
#include "wire/lease/host_lease.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentHeartbeats {
 public:
  // The lease begins.
  explicit AgentHeartbeats(std::uint64_t lease_ms);

  // A heartbeat has arrived and was answered. Returns an estimate of the clock if it should be reported.
  std::optional<ClockEstimate> Heard(const AgentHeartbeat& heartbeat);

  std::uint64_t LostAt() const { return lease_.LostAt(); }
  // Whether the lease has expired. Call it when a timer for LostAt() has fired.
  bool Expired();

 private:
  HostLease lease_;
  ClockOffset clock_;
  AgentHeartbeat answered_;  // the latest
  std::uint64_t answered_at_ = 0;
  std::uint64_t clock_reported_at_ = 0;
};

}  // namespace muster
