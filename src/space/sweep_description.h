// The description of a sweep, from a file that returns muster.sweep { … } or from the command line: everything except
// the recipe of its trials, plain data that is decoded as untrusted bytes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/plan.h"
#include "muster/result.h"
#include "space/sampler.h"
#include "space/space.h"

namespace muster {

// How an attempt, or a trial, ended.
enum class TrialClass : std::uint8_t {
  kOk,
  kStopped,     // by early stopping: a valid result
  kOomDevice,   // out of memory on a device
  kOomHost,     // out of memory on the host: killed by the kernel
  kDiverged,    // the objective is not a finite number
  kTimeout,     // limits.time or limits.start
  kHostLost,    // a host or its agent was lost, or could not start anything
  kPreempted,   // ended by a signal that this sweep did not send
  kUserError,   // the program refused its arguments (exit code 2, or a pattern for this class)
  kCrash,       // every other failure
  kStalled,     // limits.silent
  kNoResult,    // it succeeded without reporting the objective
  kInfeasible,  // it succeeded, and what it reported violates a constraint: a valid result
};
inline constexpr std::array<std::string_view, 13> kTrialClassNames = {
    "ok",        "stopped",    "oom_device", "oom_host", "diverged",  "timeout",   "host_lost",
    "preempted", "user_error", "crash",      "stalled",  "no_result", "infeasible"};
std::string_view TrialClassName(TrialClass trial_class);
std::optional<TrialClass> ParseTrialClass(std::string_view name);
constexpr bool IsFailure(TrialClass trial_class) {
  return trial_class > TrialClass::kStopped && trial_class != TrialClass::kInfeasible;
}
// Names for hints: all classes, or only failures.
std::vector<std::string> AllTrialClassNames(bool failures_only);

struct Objective {
  std::string metric;
  bool maximize = false;
  Place place = {};

  bool operator==(const Objective&) const = default;
};

// The value of the objective for a loss; without an objective, the loss itself.
double ObjectiveValue(const std::optional<Objective>& objective, double loss);

// What the last value of a metric has to be, so that the trial's result is one to choose: "memory <= 58GiB".
struct MetricConstraint {
  std::string metric;
  bool at_least = false;  // else at most
  double bound = 0;
  std::string text;  // as it was written
  Place place = {};

  bool operator==(const MetricConstraint&) const = default;
};

// "METRIC <= BOUND" or "METRIC >= BOUND"; the bound is a number, a size in bytes ("58GiB"), or a duration in seconds
// ("20ms"). Kind "constraint".
Result<MetricConstraint> ParseConstraint(const std::string& text, const Place& place = {});

// TrialResult::excess for the last values of metrics.
std::vector<double> ExcessOf(const std::vector<MetricConstraint>& constraints,
                             const std::map<std::string, Value>& metrics);

struct EarlyStopChoice {
  enum class Kind : std::uint8_t { kAsha, kMedian, kHyperband };  // sweep/scheduler/stop_rules.h
  Kind kind = Kind::kAsha;
  std::string resource = "step";  // the metric that counts the progress of a trial
  double min = 1;                 // these three: of rules with rungs
  double max = 100;
  double eta = 4;
  std::uint64_t min_results = 0;  // kAsha
  bool promote = false;           // with rungs: trials are paused there, and the best continue from their checkpoints
  double warmup = 0;              // kMedian
  std::uint64_t min_finished = 5;
  Place place = {};

  bool has_rungs() const { return kind != Kind::kMedian; }
  bool operator==(const EarlyStopChoice&) const = default;
};

// Sources of metrics, besides the reports at $MUSTER_METRICS.
struct MetricsChoice : LogMetrics {
  // A file with one JSON object, read at the end; relative to the process's working folder, "{run_dir}" is replaced by
  // the run directory. Empty: none.
  std::string result_file = {};
  Place place = {};

  bool operator==(const MetricsChoice&) const = default;
};

struct RetryChoice {
  std::uint32_t max = 0;  // retries of a trial, not counting attempts that failed because of the host
  std::vector<TrialClass> on = {};
  std::uint32_t quarantine_host_after =
      2;  // consecutive failures on a host of trials that did not fail elsewhere; 0: never
  // By class: an RE2 pattern that is matched against the last lines of the first failure.
  std::map<TrialClass, std::string> patterns = {};
  bool verdict = false;  // no retry if the verdict on the failure is that it would repeat (docs/verdicts.md)
  Place place = {};

  bool operator==(const RetryChoice&) const = default;
};

struct BudgetChoice {
  std::optional<std::uint32_t> devices = {};     // in use at a time
  std::optional<std::uint64_t> time_ms = {};     // no trial is started after this time
  std::optional<double> device_hours = {};       // of all trials; none is started that would not get far within them
  std::optional<std::uint64_t> trials = {};      // started at most
  std::optional<std::uint32_t> slots = {};       // trials at a time
  std::optional<std::uint32_t> per_device = {};  // trials at a time on a device; default 1
  Place place = {};

  bool operator==(const BudgetChoice&) const = default;
};

// When a sweep begins no further trial, since it is of no use.
struct StopAfterChoice {
  std::optional<std::uint64_t> failures = {};  // trials that failed alike, with no result among them
  bool no_gain = false;                        // once no gain above the noise is expected (space/regret_bound.h)
  Place place = {};

  bool operator==(const StopAfterChoice&) const = default;
};

// When a value is skipped (sweep/record/failure_table.h).
struct SkipAfterChoice {
  std::uint64_t failures = 4;  // trials with the value that failed, with none that did not; 0: never
  Place place = {};

  bool operator==(const SkipAfterChoice&) const = default;
};

struct SweepDescription {
  std::string name;
  std::string doc;
  Space space;
  SamplerChoice sampler;
  // Points that are tried before those of the sampler; of each its place, empty on the command line.
  std::vector<Point> seed_points = {};
  std::vector<Place> seed_places = {};
  std::optional<Objective> objective;
  // Besides the first one, by which trials are ranked and stopped early where one number is needed.
  std::optional<Objective> second_objective = {};
  std::vector<MetricConstraint> constraints = {};
  std::optional<EarlyStopChoice> early_stop;
  MetricsChoice metrics;
  RetryChoice retry;
  BudgetChoice budget;
  StopAfterChoice stop_after = {};
  SkipAfterChoice skip_after = {};
  std::string warm_start = {};     // another sweep, whose results the sampler is to know
  bool has_where = false;          // the file has a condition of its own
  std::vector<std::string> where;  // from the command line: Lua expressions over parameters and derived values

  bool operator==(const SweepDescription&) const = default;
};

// The loss of an objective for the last values of metrics; nothing if it is not among them, or not a finite number.
std::optional<double> LossOf(const Objective& objective, const std::map<std::string, Value>& metrics);

// What a trial that ended with this loss and these last values of metrics says to the sampler.
TrialResult ResultFor(const SweepDescription& sweep, std::optional<double> loss,
                      const std::map<std::string, Value>& metrics);

// A chosen point of the sweep: `given` with the values that all points of the space have. It need not be a point of the
// space. Kind "point": a name that is not swept, or an axis without a value that every point has, or every point with
// the values of `given` on which it depends.
Result<Point> CompletePoint(const Space& space, Point given, const Place& place = {});

// For sweep.json and --json (sweep_fields.h).
Value SweepDescriptionValue(const SweepDescription& sweep);
// The description of such a value, which is not trusted, but for its places; what is missing or invalid has its
// default. CompiledSpace and Sampler check it.
SweepDescription SweepDescriptionFrom(const Value& value);
// The schema (wire/archive/json_schema.h) of that, which is the part `at` of a larger one, such as
// "#/properties/sweep".
std::string SweepDescriptionSchema(const std::string& at);

// Checks the description as a whole: a space that CompiledSpace refuses, a sampler that Sampler refuses, early stopping
// without an objective, invalid resources. Patterns without a group are reported where they are used.
Diagnostics CheckSweep(const SweepDescription& sweep);

}  // namespace muster
