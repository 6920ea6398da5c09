// The agent's side of a lease (lease.h).
#pragma once

#include <cstdint>
#include <deque>
#include <utility>

namespace muster {

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
