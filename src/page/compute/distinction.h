// What distinguishes the best trials of a sweep from all of them, as short texts. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "page/compute/importance.h"

namespace muster {

struct Distinction {
  std::string name;
  std::string best;  // "0.0003 to 0.003", "adam in 9 of 10"
  std::string all;

  bool operator==(const Distinction&) const = default;
};

// The rows of the best trials, the best first: the share `gamma`, at least two, and those as good as the last of them.
// All if there are fewer than kLeastTrials.
std::vector<std::size_t> BestTrials(const std::vector<double>& losses, double gamma = kTopShare);

// Of the parameters in which the best trials differ clearly from all: their numbers are within less than half of the
// range, or a choice is at least half more frequent among them and has more than half of them. `texts`: by axis, the
// texts of its choices. Empty if the best trials are more than half of all.
std::vector<Distinction> Distinctions(const std::vector<ImportanceAxis>& axes,
                                      const std::vector<std::vector<std::string>>& texts,
                                      const std::vector<double>& losses, double gamma = kTopShare);

}  // namespace muster
