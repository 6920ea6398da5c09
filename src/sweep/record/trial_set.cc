#include "sweep/record/trial_set.h"

#include <algorithm>
#include <iterator>

namespace muster {

// --- TrialSet ---------------------------------------------------------------------------------------

void TrialSet::Add(TrialNumber trial) { Add(TrialRange{trial, trial}); }

void TrialSet::Add(TrialRange range) {
  auto [first, last] = range;
  if (last < first) return;
  auto next = ranges_.upper_bound(first);
  // The previous range, if it is adjacent.
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    if (before->second >= last) return;
    if (before->second + 1 >= first) {
      first = before->first;
      size_ -= before->second - before->first + 1;
      next = ranges_.erase(before);
    }
  }
  while (next != ranges_.end() && next->first - 1 <= last) {
    last = std::max(last, next->second);
    size_ -= next->second - next->first + 1;
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, first, last);
  size_ += last - first + 1;
}

void TrialSet::Remove(TrialNumber trial) {
  auto next = ranges_.upper_bound(trial);
  if (next == ranges_.begin()) return;
  const auto at = std::prev(next);
  const auto [first, last] = *at;
  if (trial > last) return;
  next = ranges_.erase(at);
  if (trial < last) next = ranges_.emplace_hint(next, trial + 1, last);
  if (first < trial) ranges_.emplace_hint(next, first, trial - 1);
  --size_;
}

bool TrialSet::Has(TrialNumber trial) const {
  const auto next = ranges_.upper_bound(trial);
  return next != ranges_.begin() && std::prev(next)->second >= trial;
}

std::vector<TrialRange> TrialSet::ranges() const { return {ranges_.begin(), ranges_.end()}; }

}  // namespace muster
