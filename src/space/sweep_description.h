// What is said about a sweep, by a file that returns muster.sweep { … } or on the command line: everything but the
// recipe that its trials run. Plain data, made in the evaluator and decoded as untrusted bytes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "space/sampler.h"
#include "space/space.h"

namespace muster {

// How an attempt ended, and how a trial did.
enum class TrialClass : std::uint8_t {
  kOk,
  kStopped,    // early, by the sweep's rule: a result
  kOomDevice,  // a device had not enough memory
  kOomHost,    // the host had not: the kernel killed it
  kDiverged,   // the objective is no finite number
  kTimeout,    // limits.time or limits.start
  kHostLost,   // a host or its agent is gone, or could not start anything
  kPreempted,  // ended from outside by a signal that nobody of this sweep sent
  kUserError,  // the program refused what it was given (exit code 2, or a pattern that says so)
  kCrash,      // every other failure
  kStalled,    // limits.silent
  kNoResult,   // it ended well and never reported what the sweep compares trials by
};
inline constexpr std::array<std::string_view, 12> kTrialClassNames = {
    "ok",        "stopped",   "oom_device", "oom_host", "diverged", "timeout",
    "host_lost", "preempted", "user_error", "crash",    "stalled",  "no_result"};
std::string_view TrialClassName(TrialClass trial_class);
std::optional<TrialClass> ParseTrialClass(std::string_view name);
constexpr bool IsFailure(TrialClass trial_class) { return trial_class > TrialClass::kStopped; }
// For hints: the names of all, or of those that are failures.
std::vector<std::string> TrialClassesThereAre(bool failures_only);

struct Objective {
  std::string metric;
  bool maximize = false;
  Place place = {};

  bool operator==(const Objective&) const = default;
};

// The objective's value from a loss; without one, the loss itself.
double ObjectiveValue(const std::optional<Objective>& objective, double loss);

struct EarlyStopChoice {
  enum class Kind : std::uint8_t { kAsha, kMedian };  // sweep/record/early_stop.h
  Kind kind = Kind::kAsha;
  std::string resource = "step";  // the metric that counts how far a trial is
  double min = 1;                 // kAsha
  double max = 100;
  double eta = 4;
  std::uint64_t min_results = 0;
  double warmup = 0;  // kMedian
  std::uint64_t min_finished = 5;
  Place place = {};

  bool operator==(const EarlyStopChoice&) const = default;
};

// Where metrics are read, besides what is reported at $MUSTER_METRICS.
struct MetricsChoice {
  // By metric: an RE2 pattern with one group, which is a number, looked for in each line of the log.
  std::map<std::string, std::string> patterns = {};
  std::string role = {};  // whose first process's log is read; empty: the role of rank 0, else the first one
  // A file of one JSON object, read at the end; relative to the process's working folder, "{run_dir}" stands for the
  // run directory. Empty: none.
  std::string result_file = {};
  Place place = {};

  bool operator==(const MetricsChoice&) const = default;
};

struct RetryChoice {
  std::uint32_t max = 0;  // attempts of a trial beyond the first, those that its host was to blame for left out
  std::vector<TrialClass> on = {};
  std::uint32_t quarantine_host_after =
      2;  // failures in a row on a host of trials that did not fail elsewhere; 0: never
  // By class: an RE2 pattern that the last lines of the first failure are looked through for.
  std::map<TrialClass, std::string> patterns = {};
  Place place = {};

  bool operator==(const RetryChoice&) const = default;
};

struct BudgetChoice {
  std::optional<std::uint32_t> devices = {};     // at once
  std::optional<std::uint64_t> time_ms = {};     // no trial is started after it
  std::optional<std::uint64_t> trials = {};      // that are started at most
  std::optional<std::uint32_t> slots = {};       // trials at once
  std::optional<std::uint32_t> per_device = {};  // trials at once on a device; 1 unless given
  Place place = {};

  bool operator==(const BudgetChoice&) const = default;
};

struct SweepDescription {
  std::string name;
  std::string doc;
  Space space;
  SamplerChoice sampler;
  std::optional<Objective> objective;
  std::optional<EarlyStopChoice> early_stop;
  MetricsChoice metrics;
  RetryChoice retry;
  BudgetChoice budget;
  bool has_where = false;          // the file has a condition of its own
  std::vector<std::string> where;  // conditions of the command line: Lua expressions over parameters and derived values

  bool operator==(const SweepDescription&) const = default;
};

// What no part can tell alone: a space that CompiledSpace refuses, a sampler that Sampler refuses, early stopping
// without an objective, resources that are none, patterns without a group are told where they are used.
Diagnostics CheckSweep(const SweepDescription& sweep);

}  // namespace muster
