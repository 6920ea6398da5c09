// Why a trial of a sweep has its point: recomputed from the entries of the sweep's journal, by giving them to its
// sampler again. Pure.
#pragma once

#include <optional>
#include <vector>

#include "muster/result.h"
#include "space/sampler.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

struct TrialSuggestion {
  enum class Source : std::uint8_t {
    kChosen,   // by a user
    kProgram,  // of muster.pipe
    kBefore,   // a sampler that the sweep had before it was edited
    kSampler,
  };
  Source source = Source::kSampler;
  Point point;
  // kSampler. Of a sequence: the number of the trial among its own, from 0.
  std::uint64_t number = 0;
  SuggestedPoint why = {};
  // What the sampler suggests instead if it is asked again; nothing if it is the same. Then `why` is not known.
  std::optional<Point> instead = {};
};

// `space` is that of the sweep. Fails with kind "trial" if the trial has no point yet, or cannot have
// one.
Result<TrialSuggestion> SuggestionOf(const CompiledSpace& space, const SweepDescription& sweep,
                                     const std::vector<SweepEntry>& entries, TrialNumber trial);

}  // namespace muster
