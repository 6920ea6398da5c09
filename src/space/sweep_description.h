// The description of a sweep, from a file that returns muster.sweep { … } or from the command line: everything except
// the recipe of its trials, plain data that is decoded as untrusted bytes; and its sampler, which maps trial numbers
// to points of the space: trial n is a function of the space, the kind, the seed and n, so a sweep that is resumed
// only needs the number of trials so far.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "muster/plan.h"
#include "muster/result.h"
#include "space/space.h"

namespace muster {

// Random numbers by index: each draw is a function of seed, trial and axis, so it does not depend on the order of
// trials, needs no stored state, and is not changed by adding another axis.

// In [0, 1), with 53 bits: the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
// Generators, OOPSLA 2014) over seed, trial and the FNV-1a hash of the axis's name.
double Draw(std::uint64_t seed, std::uint64_t trial, std::string_view axis);

// A permutation of the numbers below `size`, computed for one index at a time: a Feistel network of four rounds over
// the next power of four, repeated until the result is below `size` (Black and Rogaway: Ciphers with Arbitrary Finite
// Domains, CT-RSA 2002). `index` below `size`, which is below 2^62.
std::uint64_t Shuffled(std::uint64_t index, std::uint64_t size, std::uint64_t seed);

// Low-discrepancy points in the unit cube: the Sobol sequence with the direction numbers of Joe and Kuo (Constructing
// Sobol sequences with better two-dimensional projections, SIAM J. Sci. Comput. 30, 2008; new-joe-kuo-6.21201),
// including its zeroth point (Owen: On dropping the first Sobol' point, 2020).
class SobolPoints {
 public:
  static constexpr std::size_t kMaxDimensions = 3667;  // of the direction number table

  // From 1 to kMaxDimensions. With a seed, each dimension is scrambled by nested uniform scrambling (Owen 1995), as
  // hashed by Laine and Karras with the constants of Burley (Practical Hash-based Owen Scrambling, JCGT 9(4), 2020),
  // which keeps the points evenly distributed and makes them depend on the seed.
  SobolPoints(std::size_t dimensions, std::optional<std::uint64_t> seed);
  SobolPoints(SobolPoints&&) noexcept;
  SobolPoints& operator=(SobolPoints&&) noexcept;
  ~SobolPoints();

  // Each coordinate in [0, 1), with 32 bits. Any index below 2^32; consecutive indices are the
  // fastest.
  std::vector<double> At(std::uint64_t index);

 private:
  struct Engine;
  std::unique_ptr<Engine> engine_;
};

// Random points of a countable space without repetition, each choice drawn with its weight: points are drawn one after
// the other, and those that were drawn before are left out.
class DistinctDraws {
 public:
  // The space is countable and must outlive this object.
  DistinctDraws(const CompiledSpace& space, std::uint64_t seed);

  // The n-th point, from 0: below the number of points of the space. The points of two parts of a union may be equal;
  // after the last distinct point the first one repeats.
  Point At(std::uint64_t number);

 private:
  struct Source {
    bool drawn = true;        // CompiledSpace::From of draw `index`, else the point …
    std::uint64_t index = 0;  // … at this place of the order of Shuffled()
  };
  Point PointOf(Source source) const;
  Source FindNext();

  const CompiledSpace* space_;
  std::uint64_t seed_;
  std::uint64_t size_;
  std::uint64_t draws_ = 0;     // so far
  std::uint64_t shuffled_ = 0;  // places of that order that were looked at
  std::vector<Source> sources_;
  std::unordered_set<std::string> known_;
};

// Maps trial numbers to points of a space: trial n is a function of the space, the kind, the seed and n, so a sweep
// that is resumed only needs the number of trials so far.

struct SamplerChoice {
  enum class Kind : std::uint8_t {
    kGrid,    // every point, in the space's order
    kRandom,  // drawn; without repetition if the space is countable
    kSobol,   // low-discrepancy sequence
  };
  Kind kind = Kind::kGrid;
  std::optional<std::uint64_t> trials = {};  // of a grid: an upper limit
  std::uint64_t seed = 0;
  bool scramble = true;  // kSobol
  // Splits the trials into `shards` equal parts; this part has the trials shard, shard + shards, …
  std::uint64_t shard = 0;
  std::uint64_t shards = 1;
  Place place = {};
  // Random points of a countable space are drawn by the weights of their choices. False: all points equally often, as
  // in sweeps that began before unions had weights.
  bool weighted = true;

  bool operator==(const SamplerChoice&) const = default;
};

// The samplers, in the order of SamplerChoice::Kind.
struct SamplerName {
  const char* name;    // in sweep.json, as muster.NAME in a sweep file, and as --NAME N on the command line
  const char* option;  // what N of the option is; nullptr: there is no option
};
inline constexpr SamplerName kSamplers[] = {
    {"grid", nullptr},
    {"random", "number of random trials"},
    {"sobol", "number of Sobol trials (best a power of two)"},
};
constexpr const char* NameOf(SamplerChoice::Kind kind) { return kSamplers[static_cast<std::size_t>(kind)].name; }

class Sampler {
 public:
  // Kind "sampler": a grid of an uncountable space, draws without a number of trials, an invalid shard, more dimensions
  // than the sequence has. The space must outlive it.
  static Result<Sampler> Of(const CompiledSpace& space, const SamplerChoice& choice);

  // The number of trials in this shard.
  std::uint64_t size() const { return size_; }
  // The largest size of this shard: the number of points that the space or the sequence has for it.
  std::uint64_t limit() const { return limit_; }
  // Adds trials up to this size, which is at most limit(); the points of existing trials stay. A smaller size has no
  // effect.
  void Extend(std::uint64_t size);
  // With the number of trials after Extend().
  const SamplerChoice& choice() const { return choice_; }
  // `trial` below size().
  Point At(std::uint64_t trial);

 private:
  // `all`, `most`: the numbers of trials of all shards together.
  Sampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all, std::uint64_t most);

  const CompiledSpace* space_;
  SamplerChoice choice_;
  std::uint64_t size_;
  std::uint64_t limit_;
  std::optional<SobolPoints> sobol_;
  std::optional<DistinctDraws> distinct_;
};

// The description of a sweep, from a file that returns muster.sweep { … } or from the command line: everything except
// the recipe of its trials. Plain data, created in the evaluator and decoded as untrusted bytes.

// How an attempt, or a trial, ended.
enum class TrialClass : std::uint8_t {
  kOk,
  kStopped,    // by early stopping: a valid result
  kOomDevice,  // out of memory on a device
  kOomHost,    // out of memory on the host: killed by the kernel
  kDiverged,   // the objective is not a finite number
  kTimeout,    // limits.time or limits.start
  kHostLost,   // a host or its agent was lost, or could not start anything
  kPreempted,  // ended by a signal that this sweep did not send
  kUserError,  // the program refused its arguments (exit code 2, or a pattern for this class)
  kCrash,      // every other failure
  kStalled,    // limits.silent
  kNoResult,   // it succeeded without reporting the objective
};
inline constexpr std::array<std::string_view, 12> kTrialClassNames = {
    "ok",        "stopped",   "oom_device", "oom_host", "diverged", "timeout",
    "host_lost", "preempted", "user_error", "crash",    "stalled",  "no_result"};
std::string_view TrialClassName(TrialClass trial_class);
std::optional<TrialClass> ParseTrialClass(std::string_view name);
constexpr bool IsFailure(TrialClass trial_class) { return trial_class > TrialClass::kStopped; }
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

struct EarlyStopChoice {
  enum class Kind : std::uint8_t { kAsha, kMedian };  // sweep/record/sweep_events.h
  Kind kind = Kind::kAsha;
  std::string resource = "step";  // the metric that counts the progress of a trial
  double min = 1;                 // kAsha
  double max = 100;
  double eta = 4;
  std::uint64_t min_results = 0;
  double warmup = 0;  // kMedian
  std::uint64_t min_finished = 5;
  Place place = {};

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
  Place place = {};

  bool operator==(const RetryChoice&) const = default;
};

struct BudgetChoice {
  std::optional<std::uint32_t> devices = {};     // in use at a time
  std::optional<std::uint64_t> time_ms = {};     // no trial is started after this time
  std::optional<std::uint64_t> trials = {};      // started at most
  std::optional<std::uint32_t> slots = {};       // trials at a time
  std::optional<std::uint32_t> per_device = {};  // trials at a time on a device; default 1
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
  std::vector<std::string> where;  // from the command line: Lua expressions over parameters and derived values

  bool operator==(const SweepDescription&) const = default;
};

// For sweep.json and --json (sweep_fields.h).
Value SweepDescriptionValue(const SweepDescription& sweep);

// Checks the description as a whole: a space that CompiledSpace refuses, a sampler that Sampler refuses, early stopping
// without an objective, invalid resources. Patterns without a group are reported where they are used.
Diagnostics CheckSweep(const SweepDescription& sweep);

}  // namespace muster
