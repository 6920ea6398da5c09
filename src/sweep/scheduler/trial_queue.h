// Chooses the next ready trial to start: the largest that fits, and smaller ones in the gaps (backfilling). Hosts are
// reserved for a trial that was overtaken too often, so that it does not starve.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "sweep/record/sweep_events.h"
#include "sweep/scheduler/host_pool.h"

namespace muster {

class TrialQueue {
 public:
  // A trial that was overtaken this often is not overtaken any more on hosts where it could start.
  static constexpr std::uint32_t kMostOvertaken = 8;

  // Among equal ones the earlier added comes first. Hosts of `avoid` are used only if no others will do.
  void Add(TrialNumber trial, TrialNeeds needs, std::set<std::uint32_t> avoid = {});
  bool empty() const { return waiting_.empty(); }
  std::size_t size() const { return waiting_.size(); }
  // The waiting trials.
  std::vector<TrialNumber> trials() const;

  struct Start {
    TrialNumber trial = 0;
    TrialNeeds needs;
    std::vector<std::uint32_t> hosts;
  };
  // Takes the next trial out of the queue and into the pool; nothing if none fits now. O(waiting · hosts).
  std::optional<Start> Next(HostPool& pool);
  // Removes trials that would not even fit into the empty pool: their numbers, and why.
  std::vector<std::pair<TrialNumber, std::string>> TakeHopeless(const HostPool& pool);

 private:
  struct Waiting {
    TrialNumber trial = 0;
    TrialNeeds needs;
    std::set<std::uint32_t> avoid;
    std::uint32_t overtaken = 0;
  };
  std::vector<Waiting> waiting_;  // largest first
};

}  // namespace muster
