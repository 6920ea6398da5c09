// Samplers: which points of a space the trials of a sweep try. A sampler is asked for points, which are judged, and
// told the results. One that is a sequence (a grid, random draws, Sobol's points) maps the number of a trial to its
// point, so a sweep that is resumed only needs the number of trials so far; the points of any other are recorded in the
// sweep's journal when they are judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/plan.h"
#include "muster/result.h"
#include "space/space.h"
#include "space/suggested_point.h"

namespace muster {

// Repetitions of each point with different values of a parameter, which seeds its random numbers.
struct SeedsChoice {
  std::string param = "seed";
  std::uint64_t count = 0;
  bool median = false;  // points are ranked by their median, else by their mean
  bool race = true;     // a point that is clearly worse than the best gets no further seed
  Place place = {};

  bool operator==(const SeedsChoice&) const = default;
};
inline constexpr std::uint64_t kMaxSeeds = 1000;

// The space with an axis of the seeds 0, 1, … behind it.
Space WithSeeds(Space space, const SeedsChoice& seeds);

struct SamplerChoice {
  enum class Kind : std::uint8_t {
    kGrid,    // every point, in the space's order
    kRandom,  // drawn; without repetition if the space is countable
    kSobol,   // low-discrepancy sequence
    kTpe,     // near good results: tree-structured Parzen estimator
    kGp,      // where the most improvement is expected: Gaussian process
    kAuto,    // one of the others, by space and trials
    kPipe,    // from a program
  };
  Kind kind = Kind::kGrid;
  std::optional<std::uint64_t> trials = {};  // of a grid: an upper limit
  std::uint64_t seed = 0;
  bool scramble = true;                   // kSobol
  std::vector<std::string> command = {};  // kPipe
  std::uint64_t timeout_ms = 600'000;     // kPipe: within which the program answers a question
  // Splits the trials into `shards` equal parts; this part has the trials shard, shard + shards, …
  std::uint64_t shard = 0;
  std::uint64_t shards = 1;
  std::optional<SeedsChoice> seeds = {};  // of a space WithSeeds(); `trials` is the number of points then
  Place place = {};
  // Random points of a countable space are drawn by the weights of their choices. False: all points equally often, as
  // in sweeps that began before unions had weights.
  bool weighted = true;
  // Of a sampler that learns: results of another sweep, which it knows before its first trial.
  struct Given {
    std::string sweep = {};  // its id
    std::vector<Point> points = {};
    std::vector<double> losses = {};

    bool operator==(const Given&) const = default;
  };
  Given given = {};
  // Of a sweep that was edited: the points of its trials until then, by number; empty for those that were given up. The
  // sampler's own trials follow.
  std::vector<Point> kept = {};
  // How many trials, chosen ones included, such a sweep had when it was edited: their points are in its journal, so
  // `kept` is not stored. 0: `kept` is.
  std::uint64_t edited_at = 0;

  bool operator==(const SamplerChoice&) const = default;
};

// What a trial that has ended says to a sampler.
struct TrialResult {
  TrialResult() = default;
  TrialResult(std::nullopt_t) {}                                   // NOLINT(google-explicit-constructor)
  TrialResult(double its_loss) : loss(its_loss) {}                 // NOLINT(google-explicit-constructor)
  TrialResult(std::optional<double> its_loss) : loss(its_loss) {}  // NOLINT(google-explicit-constructor)

  std::optional<double> loss = {};    // its objective, the smaller the better, if it reported one
  std::uint64_t repeats = 1;          // from how many repetitions the result is the mean or median
  std::optional<double> second = {};  // its second objective, likewise, if the sweep has one
  // By constraint: how far its metric is beyond the bound, at most 0 if it holds; not a number: unknown.
  std::vector<double> excess = {};
  bool paused = false;  // of a trial that was stopped: it may continue

  bool operator==(const TrialResult&) const = default;
};

// Results with two losses by how good they are: those that no other one dominates (is better in one and not worse in
// the other) first, then those that only these dominate, and so on (fronts, Deb et al.: NSGA-II, 2002); of a front
// first those with the fewest others nearby. The places of the results.
std::vector<std::size_t> ByFronts(const std::vector<std::pair<double, double>>& losses,
                                  std::size_t* first_front = nullptr);

// Whether no constraint is known to be violated.
bool IsFeasible(const std::vector<double>& excess);

class Sampler {
 public:
  // Kind "sampler": a grid of an uncountable space, draws without a number of trials, an invalid shard, more dimensions
  // than the sequence has. The space must outlive it.
  static Result<std::unique_ptr<Sampler>> Of(const CompiledSpace& space, const SamplerChoice& choice);
  virtual ~Sampler() = default;

  // The number of trials in this shard.
  std::uint64_t size() const { return size_; }
  // The largest size of this shard: the number of points that the space or the sequence has for it.
  std::uint64_t limit() const { return limit_; }
  // Adds trials up to this size, which is at most limit(); the points of existing trials stay. A smaller size has no
  // effect.
  virtual void Extend(std::uint64_t size);
  // With the number of trials after Extend().
  const SamplerChoice& choice() const { return choice_; }

  // The points of trials `first` to `first` + `count` - 1, all below size(), for judging them. Fewer if the next ones
  // depend on results that are yet to come, but at least one if no trial is open; those asked for before stay the same.
  virtual std::vector<Point> Ask(std::uint64_t first, std::uint64_t count);
  // `trial` below size(); for a sampler that is no sequence, asked for or recalled before.
  virtual Point At(std::uint64_t trial) = 0;
  // Whether At() is a function of the space, the choice and the number of the trial, whatever was asked and told.
  virtual bool is_sequence() const { return true; }
  // A trial has ended. In the order of the sweep's journal, for each trial the last time counts.
  virtual void Tell(std::uint64_t trial, const TrialResult& result);
  // A trial has reported this loss at a rung, from 0: there the losses of trials can be compared.
  virtual void TellRung(std::uint64_t trial, std::uint64_t rung, double loss);
  // As Tell(), of a trial that was stopped or paused: of one with rungs those say how good it is.
  virtual void TellStopped(std::uint64_t trial, const TrialResult& result) { Tell(trial, result); }
  // A trial was judged impossible, which is no bad result.
  virtual void TellImpossible(std::uint64_t trial) { Tell(trial, std::nullopt); }
  // Points that are not to be tried after all, as trials of their own with the reason; until they are recalled and told
  // impossible.
  struct LeftOut {
    Point point;
    std::string why;
  };
  virtual std::vector<LeftOut> left_out() const { return {}; }
  // Points recalled so far that the space does not have get no further trials.
  virtual void LeaveOutside() {}
  // The point that Ask() would give this trial, which is the next one that it was not asked for, and why.
  virtual SuggestedPoint Explain(std::uint64_t trial) { return {.point = At(trial)}; }
  // Points that an earlier head asked for, as recorded in the sweep's journal; in its order, with Tell().
  virtual void Recall(std::uint64_t first, const std::vector<Point>& points);
  // As Recall(), of points that users chose: no further trials follow from them.
  virtual void RecallChosen(std::uint64_t first, const std::vector<Point>& points) { Recall(first, points); }
  // Whether the space has the point.
  bool Has(const Point& point) const { return space_->Locate(point).has_value(); }
  // There can be so many trials more, at points that the space does not have.
  virtual void Widen(std::uint64_t trials) { limit_ += trials; }

 protected:
  // `all`, `most`: the numbers of trials of all shards together, at first and after Extend().
  Sampler(const CompiledSpace& space, const SamplerChoice& choice, std::uint64_t all, std::uint64_t most);

  const CompiledSpace& space() const { return *space_; }
  // The number of a trial of this shard among those of all shards.
  std::uint64_t NumberOf(std::uint64_t trial) const { return trial * choice_.shards + choice_.shard; }

 private:
  const CompiledSpace* space_;
  SamplerChoice choice_;
  std::uint64_t size_;
  std::uint64_t limit_;
};

// One row for each sampler, in the order of SamplerChoice::Kind; src/space/NAME_sampler.cc has the rest.
using SamplerMaker = Result<std::unique_ptr<Sampler>>(const CompiledSpace&, const SamplerChoice&);
SamplerMaker MakeRepeatedSampler;  // of a choice with seeds, whatever its kind
SamplerMaker MakeEditedSampler;    // of a choice with kept points, likewise
SamplerMaker MakeGivenSampler;     // of a choice with given results, around the sampler of its kind
SamplerMaker MakeGridSampler, MakeRandomSampler, MakeSobolSampler, MakeTpeSampler, MakeGpSampler, MakeAutoSampler,
    MakePipeSampler;

struct SamplerKind {
  const char* name;    // in sweep.json, as muster.NAME in a sweep file, and as --NAME N on the command line
  const char* option;  // what N of the option is; nullptr: there is no option
  SamplerMaker* make;  // from a choice with a valid shard
  bool draws = true;   // it has a seed; otherwise its trials are the points of the space in order
  bool scrambles = false;
  bool learns = false;  // from results, so it needs an objective
  bool pipes = false;   // its points come from a program
};
inline constexpr SamplerKind kSamplers[] = {
    {.name = "grid", .option = nullptr, .make = MakeGridSampler, .draws = false},
    {.name = "random", .option = "number of random trials", .make = MakeRandomSampler},
    {.name = "sobol",
     .option = "number of Sobol trials (best a power of two)",
     .make = MakeSobolSampler,
     .scrambles = true},
    {.name = "tpe",
     .option = "number of trials that learn from the results (TPE)",
     .make = MakeTpeSampler,
     .learns = true},
    {.name = "gp",
     .option = "number of trials that learn from the results (Gaussian process)",
     .make = MakeGpSampler,
     .learns = true},
    {.name = "auto", .option = "number of trials by the sampler that fits the space", .make = MakeAutoSampler},
    {.name = "pipe",
     .option = "number of trials that the program of --optimizer chooses",
     .make = MakePipeSampler,
     .learns = true,
     .pipes = true},
};
constexpr const SamplerKind& KindOf(const SamplerChoice& choice) {
  return kSamplers[static_cast<std::size_t>(choice.kind)];
}

// Beyond these kGp suggests what kTpe does.
inline constexpr std::size_t kMaxGpAxes = 20;
inline constexpr std::uint64_t kMaxGpResults = 500;

// The choice itself, or, of kAuto, another kind with the same trials and seed; and a sentence about what a user may not
// expect: why that kind, or that kGp does not suffice.
struct ChosenSampler {
  SamplerChoice choice;
  std::string why = {};
};
// `at_once`: how many trials run at a time, if that is limited.
ChosenSampler ChooseSampler(const CompiledSpace& space, const SamplerChoice& choice, bool has_objective,
                            std::optional<std::uint64_t> at_once);

// The refusal of a choice. Kind "sampler".
tl::unexpected<Diagnostics> RefuseSampler(const SamplerChoice& choice, std::string why, std::string hint);

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

}  // namespace muster
