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
  // When to look next: before LostAt(), so that a pause of this process is noticed.
  std::uint64_t LookAt() const { return look_at_; }
  // Whether the lease has expired. Call it when a timer for LookAt() has fired; then there is a new one.
  bool Expired();
  // The host was paused, and is not any more: the lease begins again.
  void Resumed();

 private:
  void Look(std::uint64_t now);

  const std::uint64_t lease_ms_;
  HostLease lease_;
  std::uint64_t look_at_ = 0;
  ClockOffset clock_;
  AgentHeartbeat answered_;  // the latest
  std::uint64_t answered_at_ = 0;
  std::uint64_t clock_reported_at_ = 0;
};

}  // namespace muster
