#include "space/learning_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace muster {
namespace {

constexpr std::uint64_t kDrawnResults = 10;    // before them it draws as RandomSampler does; also enough at a rung
constexpr std::size_t kMaxRepeatedDraws = 64;  // until a draw is a new point

std::uint64_t TrialsOf(const CompiledSpace& space, const SamplerChoice& choice) {
  const auto size = space.size();
  const std::uint64_t trials = choice.trials.value_or(size.value_or(0));
  return size ? std::min(*size, trials) : trials;
}

// The discrete values of a point.
std::vector<double> LayoutOf(const std::vector<Cell>& cells) {
  std::vector<double> layout;
  for (const Cell& cell : cells) {
    if (!cell.exists) layout.push_back(-1);
    if (cell.exists && cell.width > 0) layout.push_back(cell.low);
  }
  return layout;
}

}  // namespace

LearningSampler::LearningSampler(const CompiledSpace& space, const SamplerChoice& choice,
                                 std::unique_ptr<Sampler> drawn)
    : Sampler(space, choice, TrialsOf(space, choice), space.size().value_or(kMaxLearnedTrials)),
      drawn_(std::move(drawn)) {
  for (const std::string& dimension : space.dimensions()) dimensions_.emplace(dimension, dimensions_.size());
}

Result<std::unique_ptr<Sampler>> LearningSampler::MakeDraws(const CompiledSpace& space, const SamplerChoice& choice) {
  SamplerChoice random = choice;
  random.kind = SamplerChoice::Kind::kRandom;
  return Sampler::Of(space, random);
}

std::vector<Point> LearningSampler::Ask(std::uint64_t first, std::uint64_t count) {
  std::vector<Point> points;
  for (std::uint64_t trial = first; trial < first + count; ++trial) {
    if (trial >= trials_.size()) Recall(trial, {Next(trial)});
    points.push_back(trials_[trial].point);
  }
  return points;
}

LearnedTrial::State LearningSampler::StateOf(const TrialResult& result) {
  if (!result.loss || !std::isfinite(*result.loss)) return State::kFailed;
  return IsFeasible(result.excess) ? State::kDone : State::kInfeasible;
}

void LearningSampler::Tell(std::uint64_t trial, const TrialResult& result) {
  if (trial >= trials_.size()) return;
  const State state = StateOf(result);
  SetResult(trial, LearnedTrial::kWhole, state == State::kFailed ? std::nullopt : std::optional(result));
  trials_[trial].ended = state;
  trials_[trial].excess_at_end = result.excess;
  Update(trial);
}

void LearningSampler::TellRung(std::uint64_t trial, std::uint64_t rung, double loss) {
  if (trial >= trials_.size() || rung == LearnedTrial::kWhole || !std::isfinite(loss)) return;
  SetResult(trial, rung, loss);
  Update(trial);
}

void LearningSampler::TellStopped(std::uint64_t trial, const TrialResult& result) {
  if (trial >= trials_.size()) return;
  const auto& results = trials_[trial].results;
  if (results.empty() || results.begin()->first == LearnedTrial::kWhole) return Tell(trial, result);
  SetResult(trial, LearnedTrial::kWhole, std::nullopt);
  trials_[trial].ended = IsFeasible(result.excess) ? State::kDone : State::kInfeasible;
  trials_[trial].excess_at_end = result.excess;
  Update(trial);
}

void LearningSampler::TellImpossible(std::uint64_t trial) {
  if (trial >= trials_.size()) return;
  trials_[trial].ended = State::kImpossible;
  Update(trial);
}

void LearningSampler::SetResult(std::uint64_t number, std::uint64_t level, const std::optional<TrialResult>& result) {
  auto& results = trials_[number].results;
  if (result) {
    const bool is_new = results.insert_or_assign(level, *result).second;
    if (is_new) ++at_level_[level];
  } else if (results.erase(level) > 0 && --at_level_[level] == 0) {
    at_level_.erase(level);
  }
}

void LearningSampler::Update(std::uint64_t number) {
  std::uint64_t level = at_level_.empty() ? LearnedTrial::kWhole : at_level_.begin()->first;
  for (const auto& [one, count] : at_level_) {
    if (count >= kDrawnResults) level = one;
  }
  if (std::exchange(level_, level) == level) return SetState(number);
  for (std::uint64_t trial = 0; trial < trials_.size(); ++trial) SetState(trial);
}

void LearningSampler::SetState(std::uint64_t number) {
  const LearnedTrial& trial = trials_[number];
  const bool has_ended = trial.ended == State::kDone || trial.ended == State::kInfeasible;
  if (const auto at = trial.results.find(level_);
      at != trial.results.end() && (has_ended || trial.ended == State::kOpen)) {
    TrialResult result = at->second;
    result.excess = trial.excess_at_end;  // rungs know only losses
    return Take(number, StateOf(result), result);
  }
  Take(number, has_ended ? State::kFailed : trial.ended, {});
}

void LearningSampler::Recall(std::uint64_t first, const std::vector<Point>& points) {
  if (trials_.size() < first + points.size()) trials_.resize(first + points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    trials_[first + i].point = points[i];
    trials_[first + i].cells = CellsOf(points[i]);
    known_.insert(PointText(points[i]));
  }
}

std::vector<Cell> LearningSampler::CellsOf(const Point& point) const {
  const auto spans = space().Locate(point);
  if (!spans) return {};
  std::vector<Cell> cells(dimensions_.size());
  for (const auto& [dimension, span] : *spans) {
    cells[dimensions_.at(dimension)] = {true, span.ordered, span.low, (span.low + span.high) / 2, span.high - span.low};
  }
  return cells;
}

void LearningSampler::Take(std::uint64_t number, State state, const TrialResult& result) {
  if (number >= trials_.size()) return;
  LearnedTrial& trial = trials_[number];
  if (trial.state == State::kDone) ranked_.erase({trial.loss, number});
  if (trial.has_result() || trial.state == State::kFailed) --results_;
  if (trial.state == State::kInfeasible) --infeasible_;
  if (trial.second) --two_losses_;
  by_fronts_.reset();
  const auto count = [&](std::uint64_t one) {
    if (trial.state == State::kOpen) return;
    auto& [possible, impossible] = layouts_[LayoutOf(trial.cells)];
    (trial.state == State::kImpossible ? impossible : possible) += one;
    if (trial.state == State::kImpossible) impossible_ += one;
  };
  count(~std::uint64_t{0});
  trial.state = state;
  trial.loss = trial.has_result() ? *result.loss : 0;
  trial.second = trial.has_result() ? result.second : std::nullopt;
  trial.excess = result.excess;
  trial.repeats = result.repeats;
  if (trial.second) ++two_losses_;
  count(1);
  if (trial.has_result() || state == State::kFailed) ++results_;
  if (state == State::kInfeasible) ++infeasible_;
  if (state == State::kDone && !trial.cells.empty()) ranked_.emplace(trial.loss, number);
}

std::vector<std::uint64_t> LearningSampler::Best(std::size_t most) const {
  std::vector<std::uint64_t> best;
  if (has_two_losses()) {
    if (!by_fronts_) {
      std::vector<std::pair<double, double>> losses;
      std::vector<std::uint64_t> numbers;
      for (const auto& [loss, number] : ranked_) {
        losses.emplace_back(loss, trials_[number].second.value_or(std::numeric_limits<double>::infinity()));
        numbers.push_back(number);
      }
      by_fronts_.emplace();
      for (const std::size_t place : ByFronts(losses)) by_fronts_->push_back(numbers[place]);
    }
    best.assign(by_fronts_->begin(),
                by_fronts_->begin() + static_cast<std::ptrdiff_t>(std::min(most, by_fronts_->size())));
    return best;
  }
  for (const auto& [loss, number] : ranked_) {
    if (best.size() == most) break;
    best.push_back(number);
  }
  return best;
}

std::uint64_t LearningSampler::RefusalsAt(const std::vector<Cell>& cells) const {
  const std::vector<double> layout = LayoutOf(cells);
  if (impossible_ == 0 || layout.empty()) return 0;
  const auto found = layouts_.find(layout);
  return found == layouts_.end() || found->second.first > 0 ? 0 : found->second.second;
}

double LearningSampler::DrawOf(std::uint64_t trial, std::string_view what, std::size_t index,
                               std::string_view dimension) const {
  std::string name = KindOf(choice()).name;
  name.append(" ").append(what).append(std::to_string(index)).append(" ").append(dimension);
  return Draw(choice().seed, NumberOf(trial), name);
}

SuggestedPoint LearningSampler::Explain(std::uint64_t trial) {
  SuggestedPoint suggestion{.how = SuggestedPoint::How::kDrawn, .point = Next(trial)};
  for (const LearnedTrial& known : trials_) {
    switch (known.state) {
      case State::kDone:
        ++suggestion.results;
        break;
      case State::kInfeasible:
        ++suggestion.infeasible;
        break;
      case State::kFailed:
        ++suggestion.failed;
        break;
      case State::kOpen:
        if (!known.cells.empty()) ++suggestion.running;  // else it was given up
        break;
      case State::kImpossible:
        ++suggestion.impossible;
        break;
    }
  }
  if (has_learned()) Describe(suggestion);
  return suggestion;
}

bool LearningSampler::has_learned() const { return results_ >= kDrawnResults && CanSuggest(); }

Point LearningSampler::Next(std::uint64_t trial) {
  if (has_learned()) return Suggest(trial);
  Point point = drawn_->At(trial);
  return IsNew(point) ? point : DrawNew(trial);
}

Point LearningSampler::DrawNew(std::uint64_t trial) {
  for (std::size_t i = 0; i < kMaxRepeatedDraws; ++i) {
    Point point = space().From([&](const std::string& dimension) { return DrawOf(trial, "new ", i, dimension); });
    if (IsNew(point)) return point;
  }
  for (const auto size = space().size(); size && shuffled_ < *size; ++shuffled_) {
    Point point = space().At(Shuffled(shuffled_, *size, choice().seed));
    if (IsNew(point)) return point;
  }
  return drawn_->At(trial);
}

}  // namespace muster
