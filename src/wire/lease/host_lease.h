// The lease of a host, as the head keeps it (lease.h).
#pragma once

#include <cstdint>

namespace muster {

class HostLease {
 public:
  HostLease(std::uint64_t lease_ms, std::uint64_t now_ns) : lease_ns_(lease_ms * 1'000'000), heard_at_(now_ns) {}

  // A beat, which is answered: no other word counts, as its agent does not know that it was heard.
  void Heard(std::uint64_t now_ns) { heard_at_ = now_ns; }
  // The head itself did not run for so long (it was stopped, or other processes had the processors): what it could not
  // hear is no silence of the host. An agent does the opposite: time in which it slept counts, since the head may have
  // given it up meanwhile.
  void Slept(std::uint64_t ns) { heard_at_ += ns; }
  std::uint64_t LostAt() const { return heard_at_ + lease_ns_; }

 private:
  std::uint64_t lease_ns_;
  std::uint64_t heard_at_;
};

}  // namespace muster
