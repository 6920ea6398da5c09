// What follows a failure: another attempt or none, and whether it is the host's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "space/sweep_description.h"
#include "sweep/sweep_events.h"

namespace muster {

// So often a trial is tried again for what was not its own fault; then it counts as its own.
inline constexpr std::uint32_t kMostUncounted = 10;

struct RetryVerdict {
  bool again = false;
  bool counted = true;

  bool operator==(const RetryVerdict&) const = default;
};

// `counted` attempts before it count, `free` ones had failed and do not. Hosts that were lost and processes that were
// ended from outside are not the trial's fault. Without a list in `choice.on` everything is tried again but what the
// next attempt would do, too: diverging, and refusing what it was given.
RetryVerdict AfterFailure(const RetryChoice& choice, TrialClass trial_class, std::uint32_t counted, std::uint32_t free);

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
