// The lease that a head has of each host: when an agent that is cut off kills all its processes, and when the head
// may consider the host lost, such that the agent always comes first. Pure: numbers and times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

namespace muster {

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

inline constexpr std::uint64_t kDefaultLeaseMs = 10'000;
// Short enough that the lease survives two late heartbeats.
constexpr std::uint64_t HeartbeatMs(std::uint64_t lease_ms) { return lease_ms < 4'000 ? lease_ms / 4 : 1'000; }

// A side whose timer is late by this did not run. Less than that is the load of a machine, and counts.
constexpr std::uint64_t PauseNs(std::uint64_t lease_ms) {
  return std::max<std::uint64_t>(lease_ms / 4, 2'000) * 1'000'000;
}

// The head's side of a lease (lease.h).
class HostLease {
 public:
  HostLease(std::uint64_t lease_ms, std::uint64_t now_ns) : lease_ns_(lease_ms * 1'000'000), heard_at_(now_ns) {}

  // A heartbeat has arrived. Other messages do not count, as the agent gets no confirmation that they arrived.
  void Heard(std::uint64_t now_ns) { heard_at_ = now_ns; }
  // The head itself did not run for this time (other processes used the processors), so messages that it could not
  // receive are not missing. An agent does the opposite: such a time counts, since the head may have considered it lost
  // in the meantime.
  void Slept(std::uint64_t ns) { heard_at_ += ns; }
  // The head did not run until now (PauseNs), or the host was paused and goes on: the lease begins again.
  void Resumed(std::uint64_t now_ns) { heard_at_ = now_ns; }
  std::uint64_t LostAt() const { return heard_at_ + lease_ns_; }

 private:
  std::uint64_t lease_ns_;
  std::uint64_t heard_at_;
};

// The agent's side of a lease (lease.h).
class AgentLease {
 public:
  AgentLease(std::uint64_t lease_ms, std::uint64_t now_ns) : lease_ns_(lease_ms * 1'000'000), renewed_at_(now_ns) {}

  // The number of the heartbeat that is sent now: 1, 2, ….
  std::uint32_t NextNumber(std::uint64_t now_ns);
  // The head has received the heartbeat of that number. Unknown numbers, and older ones than the last, are ignored.
  void Answered(std::uint32_t heartbeat);
  // The agent did not run until now (PauseNs): the lease begins again.
  void Resumed(std::uint64_t now_ns);
  // The time by which all processes on this host must have been killed.
  std::uint64_t EndsAt() const { return renewed_at_ + lease_ns_ / 4 * 3; }

 private:
  std::uint64_t lease_ns_;
  std::uint64_t renewed_at_;
  std::uint32_t last_ = 0;
  std::deque<std::pair<std::uint32_t, std::uint64_t>> unanswered_;  // number, time of sending
};

}  // namespace muster
