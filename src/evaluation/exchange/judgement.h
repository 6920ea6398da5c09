// Which points of a sweep a recipe can be planned for, and why not the others. Plain values, so that they can cross the
// evaluator's border (evaluation_archive.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "space/point.h"
#include "space/sweep_description.h"

namespace muster {

struct JudgeRequest {
  enum class What : std::uint8_t {
    kTrials,   // of the sampler, by their numbers
    kLayouts,  // the discrete points of the space (CompiledSpace::DiscreteAt), those of other shards too
  };
  What what = What::kTrials;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool each = false;  // which numbers are which is the answer, too

  bool operator==(const JudgeRequest&) const = default;
};

// Numbers from `first` on, `count` of them, one after the other.
struct PointNumbers {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  bool operator==(const PointNumbers&) const = default;
};

// Points that cannot be planned, for a reason that has one kind and one place.
struct RefusedPoints {
  Diagnostic problem;  // the first one's
  Point example;       // the first one
  std::uint64_t points = 0;
  std::vector<PointNumbers> ranges = {};  // with JudgeRequest::each

  bool operator==(const RefusedPoints&) const = default;
};

// Points that can be planned, and take so many hosts and devices, all together.
struct PossiblePoints {
  std::uint32_t hosts = 0;
  std::uint64_t devices = 0;
  std::uint64_t points = 0;
  std::vector<PointNumbers> ranges = {};  // with JudgeRequest::each

  bool operator==(const PossiblePoints&) const = default;
};

struct Judgement {
  std::uint64_t total = 0;     // how many trials or layouts there are
  std::uint64_t points = 0;    // that were judged, from JudgeRequest::first on; maybe fewer than were asked for
  std::uint64_t possible = 0;  // of these
  // How many plans were made to judge them: points that agree in everything that the recipe looked at are judged once.
  std::uint64_t planned = 0;
  std::vector<RefusedPoints> reasons = {};      // in the order in which they were met
  std::vector<PossiblePoints> footprints = {};  // by hosts and devices
  std::vector<std::string> read = {};           // swept names that verdicts depended on so far, sorted

  bool operator==(const Judgement&) const = default;
};

// What an engine is asked besides the request.
struct JudgeTask {
  SweepDescription sweep;
  JudgeRequest request;

  bool operator==(const JudgeTask&) const = default;
};

}  // namespace muster
