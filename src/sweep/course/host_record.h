// What hosts have done to trials so far.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// Whether failures follow a host: so many in a row there, of different trials, while trials went well elsewhere.
// Failures that follow the point do not count: too little memory on a device, divergence, refused input.
class HostRecord {
 public:
  explicit HostRecord(std::uint32_t after) : after_(after) {}

  void EndedWell(const std::string& host);
  // The trials that failed there in a row, this one last, once the host is to be left alone; else empty.
  std::vector<TrialNumber> Failed(const std::string& host, TrialNumber trial, TrialClass trial_class);

 private:
  struct Streak {
    std::vector<TrialNumber> trials;
    std::uint64_t began = 0;  // by the number of ends
  };
  std::uint32_t after_;
  std::uint64_t ends_ = 0;
  std::map<std::string, Streak> streaks_;
  std::map<std::string, std::uint64_t> last_well_;  // by host
};

}  // namespace muster
