// The lease that a head has of each host: when an agent that is cut off kills all its processes, and when the head may
// consider the host lost, such that the agent always comes first.
//
// Pure: numbers of heartbeats and times of one machine's own clock; the two clocks are never compared. The agent sends
// numbered heartbeats, and the head answers with the number, which proves that it received the heartbeat after it was
// sent. The agent's time runs from sending the last answered heartbeat, the head's from receiving one. As the agent's
// time is shorter, it has killed all processes before the head stops waiting.
#pragma once

#include <cstdint>

namespace muster {

inline constexpr std::uint64_t kDefaultLeaseMs = 10'000;
// Short enough that the lease survives two late heartbeats.
constexpr std::uint64_t HeartbeatMs(std::uint64_t lease_ms) { return lease_ms < 4'000 ? lease_ms / 4 : 1'000; }

}  // namespace muster
