// Records failures per host, to quarantine faulty hosts.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// Detects failures caused by a host: so many in a row there, of different trials, while trials succeeded elsewhere.
// Failures caused by the point do not count: out of memory on a device, divergence, invalid input.
class HostRecord {
 public:
  explicit HostRecord(std::uint32_t after) : after_(after) {}

  void Succeeded(const std::string& host);
  // The trials that failed there in a row, this one last, if the host is to be quarantined; else empty.
  std::vector<TrialNumber> Failed(const std::string& host, TrialNumber trial, TrialClass trial_class);

 private:
  struct Streak {
    std::vector<TrialNumber> trials;
    std::uint64_t began = 0;  // as a number of ends
  };
  std::uint32_t after_;
  std::uint64_t ends_ = 0;
  std::map<std::string, Streak> streaks_;
  std::map<std::string, std::uint64_t> last_well_;  // last success by host
};

}  // namespace muster
