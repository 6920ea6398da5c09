// How the trials of a sweep ended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include <boost/unordered/unordered_flat_set.hpp>

#include "sweep/record/sweep_events.h"

namespace muster {

// How each finished trial ended, in a few bytes each.
class TrialEnds {
 public:
  struct End {
    TrialClass trial_class = TrialClass::kOk;
    std::uint32_t attempts = 0;  // at most 2^28 - 1
    bool operator==(const End&) const = default;
  };
  void Set(TrialNumber trial, End end);
  std::optional<End> Of(TrialNumber trial) const;
  // Removes the trials of the range; `take` is called for each.
  void Remove(TrialRange range, const std::function<void(TrialNumber, End)>& take);
  void ForEach(const std::function<void(TrialNumber, End)>& take) const;  // ascending

  bool operator==(const TrialEnds&) const = default;

 private:
  static constexpr std::size_t kChunk = 1024;
  using Chunk = std::array<std::uint32_t, kChunk>;  // attempts and class; 0: not finished
  std::map<TrialNumber, Chunk> chunks_;             // by trial / kChunk
};

}  // namespace muster
