// The lease that a head has of each of its hosts: when the agent of one that is not heard of any more ends everything,
// and when the head may take the host for lost, so that it cannot be that both go on.
//
// Pure: knows numbers of beats and times, each of one machine's own clock; the two clocks are never compared. The agent
// sends numbered beats, the head answers with the number. What the head has answered it had heard by then, and not
// before the agent had sent it: so the agent's time runs from the sending of the last beat that was answered, and the
// head's from hearing one. As the agent's is the shorter one, it has ended everything before the head stops to wait.
#pragma once

#include <cstdint>

namespace muster {

inline constexpr std::uint64_t kDefaultLeaseMs = 10'000;
// So short that two beats may be late and the lease still holds.
constexpr std::uint64_t HeartbeatMs(std::uint64_t lease_ms) { return lease_ms < 4'000 ? lease_ms / 4 : 1'000; }

}  // namespace muster
