// What samplers that learn from results have in common: the trials that were asked for with their results, random draws
// until there are enough of these, and no point twice.
#pragma once

#include <map>
#include <memory>
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
  enum class State : std::uint8_t { kOpen, kDone, kFailed, kImpossible };
  Point point = {};
  std::vector<Cell> cells = {};  // by dimension; empty if the space does not have the point
  State state = State::kOpen;
  double loss = 0;  // kDone
};

class LearningSampler : public Sampler {
 public:
  // Random draws with the same number of trials, which a countable space limits.
  static Result<std::unique_ptr<Sampler>> MakeDraws(const CompiledSpace& space, const SamplerChoice& choice);

  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count) override;
  Point At(std::uint64_t trial) override { return trials_.at(trial).point; }
  bool is_sequence() const override { return false; }
  void Tell(std::uint64_t trial, std::optional<double> loss) override;
  void TellImpossible(std::uint64_t trial) override { Take(trial, State::kImpossible, 0); }
  void Recall(std::uint64_t first, const std::vector<Point>& points) override;
  SuggestedPoint Explain(std::uint64_t trial) override;

 protected:
  using State = LearnedTrial::State;

  // `drawn`: of MakeDraws().
  LearningSampler(const CompiledSpace& space, const SamplerChoice& choice, std::unique_ptr<Sampler> drawn);

  // The point of a trial, when there are results.
  virtual Point Suggest(std::uint64_t trial) = 0;
  // Adds what speaks for the point of a suggestion.
  virtual void Describe(SuggestedPoint& suggestion) = 0;

  const std::vector<LearnedTrial>& trials() const { return trials_; }
  std::uint64_t results() const { return results_; }  // done or failed
  // Losses of trials that are done, with their numbers.
  const std::set<std::pair<double, std::uint64_t>>& ranked() const { return ranked_; }
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
  void Take(std::uint64_t number, State state, double loss);
  // Whether there are results enough to learn from.
  bool has_learned() const;
  Point Next(std::uint64_t trial);

  std::unique_ptr<Sampler> drawn_;
  std::map<std::string, std::size_t, std::less<>> dimensions_;
  std::vector<LearnedTrial> trials_;
  std::set<std::pair<double, std::uint64_t>> ranked_;
  std::uint64_t results_ = 0;
  std::uint64_t impossible_ = 0;
  std::map<std::vector<double>, std::pair<std::uint64_t, std::uint64_t>> layouts_;  // possible and impossible trials
  std::unordered_set<std::string> known_;                                           // points
  std::uint64_t shuffled_ = 0;  // places of the order of Shuffled() without new points
};

}  // namespace muster
