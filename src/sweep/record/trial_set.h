// A set of trials by number.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

#include "sweep/record/sweep_events.h"

namespace muster {

// Numbers stored as ranges; efficient for numbers that arrive almost in order.
class TrialSet {
 public:
  void Add(TrialNumber trial);
  void Add(TrialRange range);
  void Remove(TrialNumber trial);
  bool Has(TrialNumber trial) const;
  std::uint64_t size() const { return size_; }
  std::vector<TrialRange> ranges() const;

  bool operator==(const TrialSet&) const = default;

 private:
  std::map<TrialNumber, TrialNumber> ranges_;  // first to last
  std::uint64_t size_ = 0;
};

}  // namespace muster
