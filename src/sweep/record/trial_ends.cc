#include "sweep/record/trial_ends.h"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

constexpr unsigned kClassBits = 4;
constexpr std::uint32_t kMostAttempts = (1U << (32 - kClassBits)) - 1;

TrialEnds::End EndFrom(std::uint32_t end) {
  return {static_cast<TrialClass>(end & ((1U << kClassBits) - 1)), end >> kClassBits};
}

}  // namespace

void TrialEnds::Set(TrialNumber trial, End end) {
  const std::uint32_t attempts = std::clamp(end.attempts, 1U, kMostAttempts);
  chunks_[trial / kChunk][trial % kChunk] = attempts << kClassBits | static_cast<std::uint32_t>(end.trial_class);
}

std::optional<TrialEnds::End> TrialEnds::Of(TrialNumber trial) const {
  const auto chunk = chunks_.find(trial / kChunk);
  if (chunk == chunks_.end() || chunk->second[trial % kChunk] == 0) return std::nullopt;
  return EndFrom(chunk->second[trial % kChunk]);
}

void TrialEnds::Remove(TrialRange range, const std::function<void(TrialNumber, End)>& take) {
  for (auto chunk = chunks_.lower_bound(range.first / kChunk); chunk != chunks_.end(); ++chunk) {
    const TrialNumber begin = chunk->first * kChunk;
    if (begin > range.second) return;
    for (std::size_t i = 0; i < kChunk; ++i) {
      const TrialNumber trial = begin + i;
      if (trial < range.first || trial > range.second || chunk->second[i] == 0) continue;
      const End end = EndFrom(std::exchange(chunk->second[i], 0));
      take(trial, end);
    }
  }
}

void TrialEnds::ForEach(const std::function<void(TrialNumber, End)>& take) const {
  for (const auto& [number, chunk] : chunks_) {
    for (std::size_t i = 0; i < kChunk; ++i) {
      if (chunk[i] != 0) take(number * kChunk + i, EndFrom(chunk[i]));
    }
  }
}

}  // namespace muster
