// What a sweep comes to before anything of it is started: how many points there are, which of them are possible and why
// the others are not, rungs, cost and slots.
#pragma once

#include <string>

#include "cli/sweeps/sweep_options.h"

namespace muster {

struct SweepPreview {
  std::uint64_t layouts = 0;  // discrete points of the space
  bool continuous = false;    // there are axes beside them that have no values to count
  std::uint64_t trials = 0;   // of the sampler
  // What was judged: layouts, or trials where a check looked at a continuous axis, or where only some of the layouts
  // could have been.
  bool of_layouts = false;
  std::string why_trials;  // in words, where somebody would expect layouts
  bool sampled = false;    // of the points drawn, not all of the space
  Judgement judged;        // `points` of `total`
  // Of the trials, counted or, where only layouts or a part were judged, estimated.
  std::uint64_t possible_trials = 0;
  bool estimated = false;
};

// Judges; shows on a terminal how far it is once it takes more than a second.
Result<SweepPreview> PreviewSweep(const DescribedSweep& described, Evaluator& evaluator);

std::string SweepPreviewText(const DescribedSweep& described, const SweepPreview& preview);
std::string SweepPreviewJson(const DescribedSweep& described, const SweepPreview& preview);

}  // namespace muster
