// The preview of a sweep before it starts: the number of points, which of them are possible and why others are not,
// rungs, cost and slots.
#pragma once

#include <string>

#include "cli/sweeps/sweep_options.h"

namespace muster {

struct SweepPreview {
  std::uint64_t layouts = 0;  // discrete points of the space
  bool continuous = false;    // there are continuous axes besides
  std::uint64_t trials = 0;   // of the sampler
  // What was judged: layouts; or trials if a check read a continuous axis, or if not all layouts are
  // used.
  bool of_layouts = false;
  std::string why_trials;  // the reason for judging trials, in words, if layouts might be expected
  bool sampled = false;    // a sample was judged, not the whole space
  Judgement judged;        // `points` of `total`
  // The number of possible trials: exact, or estimated if only layouts or a sample were judged.
  std::uint64_t possible_trials = 0;
  bool estimated = false;
};

// Judges the points; shows progress on a terminal after the first second.
Result<SweepPreview> PreviewSweep(const DescribedSweep& described, Evaluator& evaluator);

std::string SweepPreviewText(const DescribedSweep& described, const SweepPreview& preview);
std::string SweepPreviewJson(const DescribedSweep& described, const SweepPreview& preview);

}  // namespace muster
