// Events of a sweep: the entries of its journal (sweep/record/sweep_journal.h), and the early stopping that it was
// given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "muster/value.h"
#include "space/space.h"
#include "space/sweep_description.h"

namespace muster {

// Early stopping: which trials are stopped, based on the losses that they report. Decisions depend only on the order of
// the reports, so replaying a journal of reports gives the same decisions. A loss is a finite number; smaller is
// better.

// A decision with all values that it is based on.
struct StopDecision {
  std::size_t rung = 0;       // from 0
  std::size_t results = 0;    // at this rung, including this one
  std::size_t rank = 0;       // of this one among them, from 1; of equal losses the earlier is the better
  std::size_t threshold = 0;  // trials with ranks up to this one continue
  bool stop = false;
  bool paused = false;  // if `stop`: it continues once it is among the best (TrialPromoted)

  bool operator==(const StopDecision&) const = default;
};

// Events of a sweep: the entries of its journal (sweep/record/sweep_journal.h). Trials are numbered in the order of the
// sampler, attempts from 0.

using TrialNumber = std::uint64_t;
// Both bounds are included.
using TrialRange = std::pair<TrialNumber, TrialNumber>;

// That trials which differ in this parameter only are repetitions of one point, whose result is theirs together.
struct Repetitions {
  std::string param;
  std::uint64_t count = 0;
  bool median = false;  // their median, else their mean
  bool operator==(const Repetitions&) const = default;
};

// A head starts to work on the sweep: the first entry, and again after each `muster resume` and `muster retry`.
struct SweepBegan {
  std::string sweep_id;
  std::string name;
  std::uint64_t trials = 0;  // number of trials of the sampler
  std::int64_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string boot;
  std::string muster;      // version
  std::string recipe;      // hash of the recipe's files and of its inputs
  bool accepted = false;   // it differs from the previous one, and the user has accepted that
  Repetitions seeds = {};  // `count` 0: none
  bool all_hosts = false;  // its user named the hosts: those in quarantine are tried again
  bool operator==(const SweepBegan&) const = default;
};

// Trials [first, first + count) were checked against the recipe's checks and the sweep's conditions.
struct PointsJudged {
  struct Reason {
    std::string text;                // the error of the first of these points
    std::string place;               // "gpt.lua:26"; may be empty
    std::vector<TrialRange> trials;  // ascending
    std::string skipped = {};        // "x=4": they are not tried because of a ValueSkipped; else empty
    bool operator==(const Reason&) const = default;
  };
  TrialNumber first = 0;
  std::uint64_t count = 0;
  std::vector<Reason> impossible;  // they are not run; all others are
  std::vector<Point> points = {};  // from `first` on; empty if a sequence gives them
  bool chosen = false;             // `points` are the next ones of those that users chose (SweepSteered)
  bool raced = false;              // they are repetitions that the race of the points leaves out
  bool operator==(const PointsJudged&) const = default;
};

// The checkpoint from which an attempt continues, and the attempt of the same trial that wrote it.
struct ResumedFrom {
  std::uint32_t attempt = 0;
  std::string checkpoint;  // absolute path; empty: the attempt starts without a checkpoint
  bool operator==(const ResumedFrom&) const = default;
};

// Written before any process of the attempt is started.
struct AttemptBegan {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  std::string id;    // PointId
  Point point;       // swept names and values
  std::string plan;  // PlanId
  std::string run_id;
  std::vector<std::string> hosts;  // empty: this machine
  ResumedFrom resumed = {};
  std::string job = {};       // "slurm job 12", if it has an allocation of its own
  std::uint32_t devices = 0;  // that it holds
  std::string warning = {};   // a sentence: it does not continue as it should
  bool operator==(const AttemptBegan&) const = default;
};

// A report at a rung, and Asha's decision.
struct RungReached {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double resource = 0;
  double loss = 0;
  StopDecision decision;
  bool operator==(const RungReached&) const = default;
};

// The median rule stopped the trial. (It uses the losses in AttemptEnded.)
struct MedianStopped {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  double resource = 0;
  double best = 0;  // loss
  std::uint64_t finished = 0;
  double median = 0;
  bool operator==(const MedianStopped&) const = default;
};

// A trial that is paused at a rung continues to the next one: another attempt follows, from its checkpoint.
struct TrialPromoted {
  TrialNumber trial = 0;
  std::size_t rung = 0;       // from 0
  std::size_t results = 0;    // at this rung
  std::size_t rank = 0;       // of the trial among them, from 1
  std::size_t threshold = 0;  // trials with ranks up to this one continue
  bool operator==(const TrialPromoted&) const = default;
};

struct AttemptEnded {
  TrialNumber trial = 0;
  std::uint32_t attempt = 0;
  TrialClass trial_class = TrialClass::kOk;
  bool interrupted = false;  // its head died or was stopped: not a result of the trial, which is run again
  bool again = false;        // another attempt follows
  bool counted = true;       // counts against retry.max, if `again`
  std::string blamed;        // the host that caused the failure; empty: none
  std::string why;           // one sentence; empty if it succeeded
  std::string verdict = {};  // of a sweep that judges failures: RestartVerdictName, and the rule that gave it
  std::string rule = {};
  std::optional<double> loss = {};
  std::map<std::string, Value> metrics;  // the last value of each
  std::map<double, double> losses;       // by resource; only with the median rule
  std::uint64_t ms = 0;                  // since its start
  bool operator==(const AttemptEnded&) const = default;
};

struct HostQuarantined {
  std::string host;
  std::string why;
  bool stays = false;  // also under later heads: trials failed there. A host that could not be reached is tried again
  bool operator==(const HostQuarantined&) const = default;
};

// `muster retry`: these finished trials are run again.
struct TrialsReopened {
  std::vector<TrialRange> trials;  // ascending
  bool operator==(const TrialsReopened&) const = default;
};

// A user changed the limits of the sweep while it ran (muster steer), or when it was resumed. Later values replace
// earlier ones, and those of the sweep's description. `points` are chosen points that are judged before any further
// ones, besides those of earlier entries; the first entry has those of the description.
struct SweepSteered {
  std::optional<std::uint64_t> trials;      // number of trials of the sampler
  std::optional<std::uint64_t> max_trials;  // to be started at most
  std::optional<std::uint32_t> slots;       // trials at a time
  std::vector<Point> points = {};
  std::optional<double> device_hours = {};  // that trials may take in all
  bool operator==(const SweepSteered&) const = default;
};

// `muster edit`: from here on the sweep has another description. Its trials until then keep their numbers, and those
// that have begun their points and results.
struct SweepEdited {
  std::string edit;          // id of the edit
  TrialNumber from = 0;      // the first trial of the edited sweep; those before it that had not begun are given up
  std::uint64_t trials = 0;  // number of trials of the sampler, with those before
  std::string recipe;        // as of SweepBegan, from here on
  bool accepted = false;     // it differs from the one before
  Repetitions seeds = {};    // `count` 0: none
  bool operator==(const SweepEdited&) const = default;
};

// With a value all trials failed (sweep/record/failure_table.h): points that have it are skipped from now on, those
// that users choose excepted, until a ValueRestored.
struct ValueSkipped {
  std::string name;
  Value value;
  TrialClass trial_class = TrialClass::kCrash;
  std::uint64_t failed = 0;        // trials with the value
  std::uint64_t hosts = 0;         // on which these ran; 0: on this machine
  std::uint64_t other_failed = 0;  // with other values, in the same way
  std::uint64_t other_over = 0;
  double chance = 0;
  std::vector<TrialRange> trials;  // that waited, ascending
  bool operator==(const ValueSkipped&) const = default;
};

// A user takes that back: these trials, which were skipped, are tried, and the value is not skipped again.
struct ValueRestored {
  std::string name;
  Value value;
  std::vector<TrialRange> trials;  // ascending
  bool operator==(const ValueRestored&) const = default;
};

// No gain above the noise is expected any more (space/regret_bound.h). Recorded once.
struct NoGainExpected {
  std::uint64_t results = 0;
  double bound = 0;
  double noise = 0;
  bool repeated = false;
  bool operator==(const NoGainExpected&) const = default;
};

// The head stops. `complete`: no trial is left to run.
struct SweepEnded {
  bool complete = false;
  std::string why;  // "all trials have ended", "ctrl-c", "36h are over", …
  std::int32_t exit_code = 0;
  bool operator==(const SweepEnded&) const = default;
};

using SweepEntry = std::variant<SweepBegan, PointsJudged, AttemptBegan, RungReached, MedianStopped, AttemptEnded,
                                HostQuarantined, TrialsReopened, SweepSteered, SweepEnded, TrialPromoted, SweepEdited,
                                ValueSkipped, ValueRestored, NoGainExpected>;

}  // namespace muster
