// The lease that a head has of each host: when an agent that is cut off kills all its processes, and when the head may
// consider the host lost, such that the agent always comes first.
//
// A pause is not a death: a side that finds that it did not run itself for a while (a suspended job, SIGSTOP, a machine
// that slept) cannot judge the other's silence, and begins a new lease. The other side may have judged meanwhile: then
// it has closed the connection, which ends the agent as soon as it runs again.
//
// Pure: numbers of heartbeats and times of one machine's own clock; the two clocks are never compared. The agent sends
// numbered heartbeats, and the head answers with the number, which proves that it received the heartbeat after it was
// sent. The agent's time runs from sending the last answered heartbeat, the head's from receiving one. As the agent's
// time is shorter, it has killed all processes before the head stops waiting.
#pragma once

#include <algorithm>
#include <cstdint>

namespace muster {

inline constexpr std::uint64_t kDefaultLeaseMs = 10'000;
// Short enough that the lease survives two late heartbeats.
constexpr std::uint64_t HeartbeatMs(std::uint64_t lease_ms) { return lease_ms < 4'000 ? lease_ms / 4 : 1'000; }

// A side whose timer is late by this did not run. Less than that is the load of a machine, and counts.
constexpr std::uint64_t PauseNs(std::uint64_t lease_ms) {
  return std::max<std::uint64_t>(lease_ms / 4, 2'000) * 1'000'000;
}

}  // namespace muster
