// Which of the trials that are ready is started next: the largest that fits, and smaller ones in the gaps. One that was
// passed over too often has the hosts that it needs kept for it, so that it comes to its turn.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "sweep/course/host_pool.h"
#include "sweep/record/sweep_events.h"

namespace muster {

class TrialQueue {
 public:
  // A trial that others have overtaken so often is overtaken no more where it could start.
  static constexpr std::uint32_t kMostOvertaken = 8;

  // Of equal ones the earlier added comes first. Hosts of `avoid` are taken only where no others will do.
  void Add(TrialNumber trial, TrialNeeds needs, std::set<std::uint32_t> avoid = {});
  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }
  // What the waiting ones need.
  std::vector<TrialNumber> trials() const;

  struct Start {
    TrialNumber trial = 0;
    TrialNeeds needs;
    std::vector<std::uint32_t> hosts;
  };
  // The next one, taken out of the queue and into the pool; nothing if none fits now. O(waiting · hosts).
  std::optional<Start> Next(HostPool& pool);
  // Those that not even the empty pool could hold, taken out: their numbers, and why.
  std::vector<std::pair<TrialNumber, std::string>> TakeHopeless(const HostPool& pool);

 private:
  struct Waiting {
    TrialNumber trial = 0;
    TrialNeeds needs;
    std::set<std::uint32_t> avoid;
    std::uint32_t overtaken = 0;
  };
  std::vector<Waiting> waiting_;  // the largest first
};

}  // namespace muster
