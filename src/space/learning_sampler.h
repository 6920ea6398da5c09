// What samplers that learn from results have in common: the trials that were asked for with their results, random draws
// until there are enough of these, and no point twice. Where trials are compared at rungs, the results are the losses
// at one of them, the highest that has enough, and losses of different rungs are never compared.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "space/sampler.h"

namespace muster {

inline constexpr std::uint64_t kMaxLearnedTrials = std::uint64_t{1} << 48U;

// Where a point is in a dimension.
struct Cell {
  bool exists = false;
  bool ordered = true;
  double low = 0;     // the same for all points with this value
  double centre = 0;  // of the coordinates that give the value
  double width = 0;

  bool IsSame(const Cell& other) const { return exists && other.exists && low == other.low; }
};

struct LearnedTrial {
  static constexpr std::uint64_t kWhole = ~std::uint64_t{0};
  // kInfeasible: it has a result, which violates a constraint. kFailed: also one that ended without a result that can
  // be compared with the others.
  enum class State : std::uint8_t { kOpen, kDone, kInfeasible, kFailed, kImpossible };
  Point point = {};
  std::vector<Cell> cells = {};  // by dimension; empty if the space does not have the point
  State state = State::kOpen;
  double loss = 0;  // these three if it has a result
  std::optional<double> second = {};
  std::vector<double> excess = {};  // TrialResult
  std::uint64_t repeats = 1;        // likewise
  // From which these follow: results by rung (kWhole: that of its end), and how it ended.
  std::map<std::uint64_t, TrialResult> results = {};
  State ended = State::kOpen;
  std::vector<double> excess_at_end = {};

  bool has_result() const { return state == State::kDone || state == State::kInfeasible; }
};

class LearningSampler : public Sampler {
 public:
  // Random draws with the same number of trials, which a countable space limits.
  static Result<std::unique_ptr<Sampler>> MakeDraws(const CompiledSpace& space, const SamplerChoice& choice);

  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count) override;
  Point At(std::uint64_t trial) override { return trials_.at(trial).point; }
  bool is_sequence() const override { return false; }
  void Tell(std::uint64_t trial, const TrialResult& result) override;
  void TellRung(std::uint64_t trial, std::uint64_t rung, double loss) override;
  void TellStopped(std::uint64_t trial, const TrialResult& result) override;
  void TellImpossible(std::uint64_t trial) override;
  void Recall(std::uint64_t first, const std::vector<Point>& points) override;
  SuggestedPoint Explain(std::uint64_t trial) override;

 protected:
  using State = LearnedTrial::State;

  // `drawn`: of MakeDraws().
  LearningSampler(const CompiledSpace& space, const SamplerChoice& choice, std::unique_ptr<Sampler> drawn);

  // The state of a trial that ended with this result.
  static State StateOf(const TrialResult& result);
  // Whether the results suffice for suggestions.
  virtual bool CanSuggest() const { return any_done(); }
  bool any_done() const { return !ranked_.empty(); }
  // The point of a trial, when there are results.
  virtual Point Suggest(std::uint64_t trial) = 0;
  // Adds what speaks for the point of a suggestion.
  virtual void Describe(SuggestedPoint& suggestion) = 0;

  const std::vector<LearnedTrial>& trials() const { return trials_; }
  std::uint64_t results() const { return results_; }  // done, infeasible or failed
  std::uint64_t infeasible() const { return infeasible_; }
  // The rung whose losses are the results; LearnedTrial::kWhole: those of ends.
  std::uint64_t level() const { return level_; }
  bool has_rungs() const { return !at_level_.empty() && at_level_.begin()->first != LearnedTrial::kWhole; }
  // How many trials are done, and their numbers, the best first: by their loss, of two by fronts (ByFronts).
  std::size_t done() const { return ranked_.size(); }
  std::vector<std::uint64_t> Best(std::size_t most) const;
  bool has_two_losses() const { return two_losses_ > 0; }
  const std::map<std::string, std::size_t, std::less<>>& dimensions() const { return dimensions_; }

  // By the numbers of the dimensions; empty if the space does not have the point.
  std::vector<Cell> CellsOf(const Point& point) const;
  bool IsNew(const Point& point) const { return !known_.contains(PointText(point)); }
  // A point that was not tried, as long as there are some.
  Point DrawNew(std::uint64_t trial);
  // How many trials with the same discrete values were impossible, if none was possible; 0 without discrete axes.
  std::uint64_t RefusalsAt(const std::vector<Cell>& cells) const;
  std::uint64_t impossible() const { return impossible_; }
  // A draw for a trial, named by the sampler, a purpose, an index and a dimension.
  double DrawOf(std::uint64_t trial, std::string_view what, std::size_t index, std::string_view dimension = {}) const;

 private:
  void Take(std::uint64_t number, State state, const TrialResult& result);
  void SetResult(std::uint64_t number, std::uint64_t level, const std::optional<TrialResult>& result);
  // State and result of the trial at the current level, and first of all another level, if there is a better one now.
  void Update(std::uint64_t number);
  void SetState(std::uint64_t number);
  // Whether there are results enough to learn from.
  bool has_learned() const;
  Point Next(std::uint64_t trial);

  std::unique_ptr<Sampler> drawn_;
  std::map<std::string, std::size_t, std::less<>> dimensions_;
  std::vector<LearnedTrial> trials_;
  std::set<std::pair<double, std::uint64_t>> ranked_;            // losses of trials that are done, with their numbers
  mutable std::optional<std::vector<std::uint64_t>> by_fronts_;  // the numbers of these, until the next result
  std::map<std::uint64_t, std::uint64_t> at_level_;              // how many trials have a result there
  std::uint64_t level_ = LearnedTrial::kWhole;
  std::uint64_t results_ = 0;
  std::uint64_t infeasible_ = 0;
  std::uint64_t two_losses_ = 0;
  std::uint64_t impossible_ = 0;
  std::map<std::vector<double>, std::pair<std::uint64_t, std::uint64_t>> layouts_;  // possible and impossible trials
  std::unordered_set<std::string> known_;                                           // points
  std::uint64_t shuffled_ = 0;  // places of the order of Shuffled() without new points
};

}  // namespace muster
