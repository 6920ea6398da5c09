// The head's side of a lease (lease.h).
#pragma once

#include <cstdint>

namespace muster {

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

}  // namespace muster
