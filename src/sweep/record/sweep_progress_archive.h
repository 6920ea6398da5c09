// Serialises a sweep's progress (wire/archive/archive.h): the index stores it, so that the whole journal need not be
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sweep/record/sweep_event_fields.h"
#include "sweep/record/sweep_progress.h"
#include "sweep/record/trial_ends.h"
#include "sweep/record/trial_set.h"
#include "wire/archive/value_archive.h"

namespace muster {

namespace account_archive {

// Two numbers for each range, since an archive has no pairs.
template <class A>
void Pairs(A& archive, std::vector<TrialRange>& ranges) {
  std::vector<std::uint64_t> numbers;
  if constexpr (!A::kReading) {
    for (const auto& [first, last] : ranges) {
      numbers.push_back(first);
      numbers.push_back(last);
    }
  }
  archive(numbers);
  if constexpr (A::kReading) {
    ranges.clear();
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) ranges.emplace_back(numbers[i], numbers[i + 1]);
  }
}

template <class A>
void Set(A& archive, TrialSet& set) {
  std::vector<TrialRange> ranges = set.ranges();
  Pairs(archive, ranges);
  if constexpr (A::kReading) {
    set = {};
    for (const TrialRange& range : ranges) set.Add(range);
  }
}

}  // namespace account_archive

template <class A>
void Fields(A& archive, OpenTrial& trial) {
  archive(trial.attempts, trial.counted, trial.free, trial.id, trial.plan, trial.point, trial.running, trial.run_id,
          trial.hosts, trial.first, trial.resumed, trial.rungs);
  std::uint64_t kept = trial.kept ? std::uint64_t{1} + static_cast<std::uint64_t>(*trial.kept) : 0;
  archive(kept);
  if constexpr (A::kReading) {
    if (kept > kTrialClassNames.size()) return archive.Fail();
    trial.kept.reset();
    if (kept > 0) trial.kept = static_cast<TrialClass>(kept - 1);
  }
}

template <class A>
void Fields(A& archive, RungReport& report) {
  archive(report.rung, report.trial, report.loss);
}

template <class A>
void Fields(A& archive, BestTrial& best) {
  archive(best.trial, best.attempt, best.loss, best.id, best.point);
}

template <class V>
void Fields(V& archive, SweepProgress& account) {
  OpenTrials& open = account.open_;
  FinishedTrials& finished = account.finished_;
  archive(account.sweep_id_, account.name_, account.recipe_, open.sampled_, open.judged_to_, open.open_, open.begun_,
          open.attempts_, open.ms_, finished.best_, finished.losses_, account.rung_reports_, account.ended_,
          account.steered_);
  account_archive::Set(archive, open.impossible_);
  account_archive::Set(archive, finished.numbers_);
  std::vector<std::uint64_t> ends, counts;
  std::vector<std::string> quarantined;
  std::string ids;  // eight bytes each
  if constexpr (!V::kReading) {
    finished.ends_.ForEach([&](TrialNumber trial, TrialEnds::End end) {
      ends.push_back(trial);
      ends.push_back(std::uint64_t{end.attempts} << 8 | static_cast<std::uint64_t>(end.trial_class));
    });
    counts.assign(finished.counts_.begin(), finished.counts_.end());
    quarantined.assign(account.quarantined_.begin(), account.quarantined_.end());
    ids.reserve(open.points_.size() * 8);
    for (const std::uint64_t id : open.points_) {
      for (int shift = 0; shift < 64; shift += 8) ids.push_back(static_cast<char>(id >> shift));
    }
  }
  archive(ends, counts, quarantined, ids);
  if constexpr (V::kReading) {
    if (counts.size() != finished.counts_.size()) return archive.Fail();
    finished.ends_ = {};
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
      const std::uint64_t trial_class = ends[i + 1] & 0xffU;
      if (trial_class >= kTrialClassNames.size()) return archive.Fail();
      finished.ends_.Set(ends[i], {static_cast<TrialClass>(trial_class), static_cast<std::uint32_t>(ends[i + 1] >> 8)});
    }
    for (std::size_t i = 0; i < counts.size(); ++i) finished.counts_[i] = counts[i];
    account.quarantined_ = {quarantined.begin(), quarantined.end()};
    open.points_.clear();
    open.points_.reserve(ids.size() / 8);
    for (std::size_t at = 0; at + 8 <= ids.size(); at += 8) {
      std::uint64_t id = 0;
      for (std::size_t i = 8; i-- > 0;) id = id << 8 | static_cast<unsigned char>(ids[at + i]);
      open.points_.insert(id);
    }
  }
}

}  // namespace muster
