// What happens in a sweep: the entries of its journal (sweep/record/sweep_journal.h). Trials go by their number in the
// order of the sampler, attempts are counted from 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "muster/value.h"
#include "space/point.h"
#include "space/sweep_description.h"
#include "sweep/record/early_stop.h"

namespace muster {

using TrialNumber = std::uint64_t;
// Both ends belong to it.
using TrialRange = std::pair<TrialNumber, TrialNumber>;

// A head takes up the sweep: the first entry, and again after each `muster resume` and `muster retry`.
struct SweepBegan {
  std::string sweep_id;
  std::string name;
  std::uint64_t trials = 0;  // of the sampler
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot;
  std::string muster;     // version
  std::string recipe;     // hash of the recipe's files and what it was evaluated with
  bool accepted = false;  // it differs from the one before, and the user said to go on
  bool operator==(const SweepBegan&) const = default;
};

// Trials [first, first + count) were held against the recipe's checks and the sweep's conditions.
struct PointsJudged {
  struct Reason {
    std::string text;                // the problem, as it was told of the first of these points
    std::string place;               // "gpt.lua:26"; may be empty
    std::vector<TrialRange> trials;  // ascending
    bool operator==(const Reason&) const = default;
  };
  TrialNumber first = 0;
  std::uint64_t count = 0;
  std::vector<Reason> impossible;  // they are not tried; all others are
  bool operator==(const PointsJudged&) const = default;
};

// The checkpoint that an attempt goes on from, and the attempt of the same trial that wrote it.
struct ResumedFrom {
  std::uint32_t attempt = 0;
  std::string checkpoint;  // absolute path; empty: the attempt begins from nothing
  bool operator==(const ResumedFrom&) const = default;
};

// Written before anything of it is started.
struct AttemptBegan {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  std::string id;    // PointId
  Point point;       // swept names and values
  std::string plan;  // PlanId
  std::string run_id;
  std::vector<std::string> hosts;  // empty: this machine
  ResumedFrom resumed = {};
  bool operator==(const AttemptBegan&) const = default;
};

// A report at a rung, and what Asha decided by it.
struct RungReached {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double resource = 0;
  double loss = 0;
  StopDecision decision;
  bool operator==(const RungReached&) const = default;
};

// The median rule stopped the trial. (What it goes by are the losses of AttemptEnded.)
struct MedianStopped {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double resource = 0;
  double best = 0;  // loss
  std::uint64_t finished = 0;
  double median = 0;
  bool operator==(const MedianStopped&) const = default;
};

struct AttemptEnded {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  TrialClass trial_class = TrialClass::kOk;
  bool interrupted =
      false;            // its head was gone or was told to stop: it says nothing of the trial, which is tried again
  bool again = false;   // another attempt follows
  bool counted = true;  // against retry.max, if `again`
  std::string blamed;   // the host that it was the fault of; empty: none
  std::string why;      // one sentence; empty if it ended well
  std::optional<double> loss;
  std::map<std::string, Value> metrics;  // the last of each
  std::map<double, double> losses;       // by resource; only with the median rule
  std::uint64_t ms = 0;                  // from its beginning
  bool operator==(const AttemptEnded&) const = default;
};

struct HostQuarantined {
  std::string host;
  std::string why;
  bool operator==(const HostQuarantined&) const = default;
};

// `muster retry`: these, which were over, are tried again.
struct TrialsReopened {
  std::vector<TrialRange> trials;  // ascending
  bool operator==(const TrialsReopened&) const = default;
};

// The head leaves. `complete`: nothing is left to try.
struct SweepEnded {
  bool complete = false;
  std::string why;  // "all trials have ended", "ctrl-c", "36h are over", …
  std::int32_t exit_code = 0;
  bool operator==(const SweepEnded&) const = default;
};

using SweepEntry = std::variant<SweepBegan, PointsJudged, AttemptBegan, RungReached, MedianStopped, AttemptEnded,
                                HostQuarantined, TrialsReopened, SweepEnded>;

}  // namespace muster
