// Which points of a sweep give a plan, and why the others do not. Plain values, so that they can be sent to and from
// the evaluator (evaluation_archive.h).
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
    kTrials,   // of the sampler, by number
    kLayouts,  // the discrete points of the space (CompiledSpace::DiscreteAt), including those of other shards
  };
  What what = What::kTrials;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool each = false;  // also return the numbers of the points of each group

  bool operator==(const JudgeRequest&) const = default;
};

// `count` consecutive numbers from `first` on.
struct PointNumbers {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  bool operator==(const PointNumbers&) const = default;
};

// Points that give no plan, for reasons of one kind at one place.
struct RefusedPoints {
  Diagnostic problem;  // the first one's
  Point example;       // the first one
  std::uint64_t points = 0;
  std::vector<PointNumbers> ranges = {};  // with JudgeRequest::each

  bool operator==(const RefusedPoints&) const = default;
};

// Points that give a plan, and that need so many hosts and devices in all.
struct PossiblePoints {
  std::uint32_t hosts = 0;
  std::uint64_t devices = 0;
  std::uint64_t points = 0;
  std::vector<PointNumbers> ranges = {};  // with JudgeRequest::each

  bool operator==(const PossiblePoints&) const = default;
};

struct Judgement {
  std::uint64_t total = 0;     // number of trials or layouts
  std::uint64_t points = 0;    // judged, from JudgeRequest::first on; possibly fewer than requested
  std::uint64_t possible = 0;  // of these
  // The number of plans that were made: points that agree in all inputs that the recipe read are judged once.
  std::uint64_t planned = 0;
  std::vector<RefusedPoints> reasons = {};      // in order of first occurrence
  std::vector<PossiblePoints> footprints = {};  // by hosts and devices
  std::vector<std::string> read = {};           // swept names that results depended on so far, sorted

  bool operator==(const Judgement&) const = default;
};

// The parameters of a judging request.
struct JudgeTask {
  SweepDescription sweep;
  JudgeRequest request;

  bool operator==(const JudgeTask&) const = default;
};

}  // namespace muster
