// The points of another sampler, each several times with different seeds, in a race: a point that is clearly worse than
// the best one gets no further seed (Maron, Moore: Hoeffding Races, NIPS 1993; here by a t-test with the variance that
// all points have in common, as in the t-race of Birattari: Tuning Metaheuristics, 2009).
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "space/group_statistics.h"
#include "space/sampler.h"

namespace muster {
namespace {

constexpr double kSignificant = 0.05;  // one-sided

class RepeatedSampler final : public Sampler {
 public:
  RepeatedSampler(const CompiledSpace& space, const SamplerChoice& choice, std::vector<Value> seeds,
                  std::unique_ptr<const CompiledSpace> points, std::unique_ptr<Sampler> inner)
      : Sampler(space, choice, inner->size() * seeds.size(), inner->limit() * seeds.size()),
        seeds_(std::move(seeds)),
        points_(std::move(points)),
        inner_(std::move(inner)) {}

  void Extend(std::uint64_t size) override {
    inner_->Extend((size + seeds_.size() - 1) / seeds_.size());
    Sampler::Extend(size);
  }
  bool is_sequence() const override { return false; }

  std::vector<Point> Ask(std::uint64_t first, std::uint64_t count) override {
    std::vector<Point> points;
    for (std::uint64_t trial = first; trial < first + count; ++trial) {
      if (!trials_.contains(trial)) {
        auto next = Next();
        if (!next) break;
        Recall(trial, {*std::move(next)});
      }
      points.push_back(At(trial));
    }
    return points;
  }
  Point At(std::uint64_t trial) override {
    const Trial& asked = trials_.at(trial);
    return PointOf(groups_[asked.group], asked.seed);
  }

  void Recall(std::uint64_t first, const std::vector<Point>& points) override { Recall(first, points, false); }
  // With the seeds that were named, and no others.
  void RecallChosen(std::uint64_t first, const std::vector<Point>& points) override { Recall(first, points, true); }

  void Recall(std::uint64_t first, const std::vector<Point>& points, bool chosen) {
    for (std::size_t i = 0; i < points.size(); ++i) {
      Point point = points[i];
      auto seed = point.extract(choice().seeds->param);
      const auto [known, is_new] = by_point_.emplace(PointText(point), groups_.size());
      if (is_new) {
        inner_->Recall(groups_.size(), {point});
        const bool inside = !chosen || points_->Locate(point).has_value();
        groups_.push_back({.point = std::move(point), .inside = inside});
      }
      Group& group = groups_[known->second];
      group.own = group.own || !chosen;
      const Value value = seed.empty() ? Value() : std::move(seed.mapped());
      if (trials_.emplace(first + i, Trial{known->second, value}).second) group.seeds.push_back(value);
      Sort(known->second);
    }
  }

  void Tell(std::uint64_t trial, const TrialResult& result) override { Take(trial, result, false); }

  // Of a group what those of its seeds say that have come to the rung.
  void TellRung(std::uint64_t trial, std::uint64_t rung, double loss) override {
    const auto asked = trials_.find(trial);
    if (asked == trials_.end()) return;
    auto& at_rung = groups_[asked->second.group].rungs[rung];
    at_rung[trial] = loss;
    std::vector<double> losses;
    for (const auto& [one, its_loss] : at_rung) losses.push_back(its_loss);
    inner_->TellRung(asked->second.group, rung, ValueOfGroup(std::move(losses), choice().seeds->median));
  }
  void TellStopped(std::uint64_t trial, const TrialResult& result) override { Take(trial, result, true); }

  void TellImpossible(std::uint64_t trial) override {
    const auto asked = trials_.find(trial);
    if (asked == trials_.end()) return;
    Group& group = groups_[asked->second.group];
    if (group.out.empty() && group.results.empty()) {
      inner_->TellImpossible(asked->second.group);
      group.out = "its first seed is impossible";
    }
    group.results.try_emplace(trial);  // it is over, without a result
    group.impossible.insert(trial);
    Sort(asked->second.group);
  }

  SuggestedPoint Explain(std::uint64_t trial) override {
    const std::optional<Point> next = trials_.contains(trial) ? At(trial) : Next();
    if (!next) return {};
    Point point = *next;
    point.erase(choice().seeds->param);
    if (const auto known = by_point_.find(PointText(point)); known != by_point_.end()) {
      return {.how = SuggestedPoint::How::kRepeated, .point = *next};
    }
    SuggestedPoint suggested{.point = *next};
    if (!inner_->is_sequence()) suggested = inner_->Explain(groups_.size());
    suggested.point = *next;
    suggested.near.clear();  // groups have no number
    return suggested;
  }

  void LeaveOutside() override {
    for (std::size_t number = 0; number < groups_.size(); ++number) {
      Group& group = groups_[number];
      if (group.outside || points_->Locate(group.point)) continue;
      group.outside = true;
      group.inside = false;
      Sort(number);
    }
  }

  std::vector<LeftOut> left_out() const override {
    std::vector<LeftOut> left;
    for (const std::size_t number : left_out_) {
      const Group& group = groups_[number];
      for (const Value& seed : SeedsLeft(group)) left.push_back({PointOf(group, seed), group.out});
    }
    return left;
  }

 private:
  // A repetition that was stopped early is no result of its point, whose other repetitions may be better than it.
  void Take(std::uint64_t trial, const TrialResult& result, bool stopped) {
    const auto asked = trials_.find(trial);
    if (asked == trials_.end()) return;
    Group& group = groups_[asked->second.group];
    group.results[trial] = result;
    group.impossible.erase(trial);  // it was, and is tried after all
    stopped ? void(group.stopped[trial] = result.paused) : void(group.stopped.erase(trial));
    const TrialResult together = Together(group);
    group.stopped.empty() ? inner_->Tell(asked->second.group, together)
                          : inner_->TellStopped(asked->second.group, together);
    Count(asked->second.group);
    Race();
  }

  struct Group {
    Point point = {};
    std::vector<Value> seeds = {};                                        // that were asked for
    std::map<std::uint64_t, TrialResult> results = {};                    // by trial
    std::set<std::uint64_t> impossible = {};                              // of these
    std::map<std::uint64_t, bool> stopped = {};                           // likewise; whether it may continue
    std::map<std::uint64_t, std::map<std::uint64_t, double>> rungs = {};  // losses by rung and trial
    std::string out = {};                                                 // why it gets no further seed; empty: it does
    GroupStatistics statistics = {};                                      // of its losses; of a failed one empty
    bool feasible = true;
    bool outside = false;  // the space has its point no more: it gets no further seed, and none is left out
    bool inside = true;    // the space has its point
    bool own = false;      // the sampler has asked for it; one that only users chose gets no seeds but theirs
  };
  struct Trial {
    std::size_t group = 0;
    Value seed;
  };

  Point PointOf(const Group& group, const Value& seed) const {
    Point point = group.point;
    point[choice().seeds->param] = seed;
    return point;
  }
  std::vector<Value> SeedsLeft(const Group& group) const {
    std::vector<Value> left;
    for (const Value& seed : seeds_) {
      if (std::find(group.seeds.begin(), group.seeds.end(), seed) == group.seeds.end()) left.push_back(seed);
    }
    return left;
  }

  static std::vector<double> LossesOf(const Group& group) {
    std::vector<double> losses;
    for (const auto& [trial, result] : group.results) {
      if (!group.impossible.contains(trial) && result.loss && std::isfinite(*result.loss))
        losses.push_back(*result.loss);
    }
    return losses;
  }
  static bool HasFailed(const Group& group) {
    return LossesOf(group).size() + group.impossible.size() < group.results.size();
  }
  // What stopped ones reported until then cannot be compared with what the others have at their end.
  static bool IsMixed(const Group& group) {
    return !group.stopped.empty() && group.stopped.size() + group.impossible.size() < group.results.size();
  }

  // What the results of a group say together.
  TrialResult Together(const Group& group) const {
    TrialResult together;
    if (HasFailed(group) || IsMixed(group)) return together;
    const std::vector<double> losses = LossesOf(group);
    if (losses.empty()) return together;
    together.loss = ValueOfGroup(losses, choice().seeds->median);
    together.repeats = losses.size();
    std::vector<double> second;
    for (const auto& [trial, result] : group.results) {
      if (group.impossible.contains(trial)) continue;
      if (result.second) second.push_back(*result.second);
      together.excess.resize(std::max(together.excess.size(), result.excess.size()), -HUGE_VAL);
      for (std::size_t i = 0; i < result.excess.size(); ++i) {
        if (!(result.excess[i] <= together.excess[i])) together.excess[i] = result.excess[i];
      }
    }
    if (!second.empty()) together.second = ValueOfGroup(second, choice().seeds->median);
    return together;
  }

  // A group is waiting, if it is to have further seeds, left out, if it is not although there are some, or neither.
  void Sort(std::size_t number) {
    const Group& group = groups_[number];
    const bool whole = SeedsLeft(group).empty() || !group.own;
    waiting_.erase(number);
    left_out_.erase(number);
    if (!whole && !group.outside) (group.out.empty() ? waiting_ : left_out_).insert(number);
  }

  // After a result of the group.
  void Count(std::size_t number) {
    Group& group = groups_[number];
    const auto weigh = [&](double sign) {
      if (group.statistics.count < 2) return;
      const auto freedom = static_cast<double>(group.statistics.count - 1);
      squares_ += sign * group.statistics.variance * freedom;
      freedom_ += sign * freedom;
    };
    weigh(-1);
    group.statistics = HasFailed(group) || !group.stopped.empty() ? GroupStatistics{} : StatisticsOf(LossesOf(group));
    weigh(1);
    group.feasible = IsFeasible(Together(group).excess);
    const auto better = [&](std::size_t one) {
      const Group& other = groups_[one];
      return other.statistics.count > 0 && other.feasible &&
             (!best_ || other.statistics.mean < groups_[*best_].statistics.mean);
    };
    if (best_ == number) {  // it may have become worse
      best_.reset();
      for (std::size_t i = 0; i < groups_.size(); ++i) {
        if (better(i)) best_ = i;
      }
    } else if (better(number)) {
      best_ = number;
    }
  }

  // Which groups get no further seed, by the results so far. A decision stays.
  void Race() {
    const PooledVariance pooled{freedom_ > 0 ? std::max(squares_, 0.0) / freedom_ : 0, freedom_};
    const std::set<std::size_t> waiting = waiting_;
    for (const std::size_t number : waiting) {
      Group& group = groups_[number];
      if (HasFailed(group)) {
        group.out = "one of its seeds has no result";
      } else if (std::any_of(group.stopped.begin(), group.stopped.end(), [](const auto& one) { return !one.second; })) {
        group.out = "one of its seeds was stopped early";
      } else if (best_ && best_ != number && choice().seeds->race) {
        const Group& best = groups_[*best_];
        const auto chance = PooledTest(group.statistics, best.statistics, pooled);
        if (!chance || *chance >= kSignificant) continue;
        group.out = "racing: after " + std::to_string(group.statistics.count) + " of " + std::to_string(seeds_.size()) +
                    " seeds it is worse than " + PointText(best.point) + " (t-test with pooled variance, 5 %)";
      }
      Sort(number);
    }
  }

  // The next seed of the best group that is to have one, then another point, and then the next seed of a group with a
  // paused repetition. Nothing while all depend on results that are yet to come.
  std::optional<Point> Next() {
    const Group* next = nullptr;
    const Group* paused = nullptr;
    for (const std::size_t number : waiting_) {
      const Group& group = groups_[number];
      // In a race after the results of the seeds before it; a chosen point may have had others.
      if (choice().seeds->race && group.results.size() < group.seeds.size()) continue;
      if (!group.stopped.empty()) {
        if (paused == nullptr) paused = &group;
      } else if (next == nullptr || group.statistics.mean < next->statistics.mean) {
        next = &group;
      }
    }
    if (next != nullptr) return PointOf(*next, SeedsLeft(*next).front());
    if (auto point = NextPoint()) return point;
    if (paused != nullptr) return PointOf(*paused, SeedsLeft(*paused).front());
    const bool open = std::any_of(groups_.begin(), groups_.end(),
                                  [](const Group& group) { return group.results.size() < group.seeds.size(); });
    if (open || groups_.empty()) return std::nullopt;
    for (const Group& group : groups_) {  // of those that users began
      if (!group.own && group.inside && !SeedsLeft(group).empty()) {
        return PointOf(group, SeedsLeft(group).front());
      }
    }
    // Chosen points may be among those of the sampler: there are fewer than trials. One that is known is not repeated.
    return PointOf(groups_.front(), groups_.front().seeds.front());
  }

  // How many trials its groups are, those to come included.
  std::uint64_t Reserved() const {
    std::uint64_t trials = 0;
    for (const Group& group : groups_) {
      if (!group.outside) trials += group.own ? std::max(group.seeds.size(), seeds_.size()) : group.seeds.size();
    }
    return trials;
  }

  // The first repetition of a further point. Of a sequence the next one that it has not asked for; a sampler that
  // learns knows the groups as its trials.
  std::optional<Point> NextPoint() {
    if (!inner_->is_sequence()) {
      const auto inside =
          std::count_if(groups_.begin(), groups_.end(), [](const Group& group) { return group.inside; });
      if (Reserved() >= size() || static_cast<std::uint64_t>(inside) >= inner_->limit()) return std::nullopt;
      auto points = inner_->Ask(groups_.size(), 1);
      if (points.empty()) return std::nullopt;
      return PointOf({.point = std::move(points.front())}, seeds_.front());
    }
    for (; next_ < inner_->size(); ++next_) {
      Point point = inner_->At(next_);
      const auto known = by_point_.find(PointText(point));
      if (known == by_point_.end()) return PointOf({.point = std::move(point)}, seeds_.front());
      const Group& group = groups_[known->second];
      if (group.own) continue;
      if (const auto left = SeedsLeft(group); !left.empty()) return PointOf(group, left.front());
    }
    return std::nullopt;
  }

  std::vector<Value> seeds_;
  std::unique_ptr<const CompiledSpace> points_;  // without the seeds
  std::unique_ptr<Sampler> inner_;
  std::uint64_t next_ = 0;  // of a sequence
  std::vector<Group> groups_;
  std::map<std::string, std::size_t> by_point_;
  std::map<std::uint64_t, Trial> trials_;
  std::set<std::size_t> waiting_;   // groups that are to have further seeds
  std::set<std::size_t> left_out_;  // those that are not, although there are some
  std::optional<std::size_t> best_;
  double squares_ = 0;  // of the deviations from the means of their groups, and the degrees of freedom
  double freedom_ = 0;
};

}  // namespace

Space WithSeeds(Space space, const SeedsChoice& seeds) {
  Space axis{.kind = Space::Kind::kAxis, .axis = {.name = seeds.param}, .place = seeds.place};
  for (std::uint64_t i = 0; i < seeds.count; ++i) axis.axis.values.emplace_back(static_cast<std::int64_t>(i));
  Space product{.kind = Space::Kind::kProduct, .place = space.place};
  product.parts = {std::move(space), std::move(axis)};
  return product;
}

Result<std::unique_ptr<Sampler>> MakeRepeatedSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  const Space& described = space.description();
  const bool has_seeds = described.kind == Space::Kind::kProduct && described.parts.size() == 2 &&
                         described.parts[1].axis.name == choice.seeds->param;
  if (!has_seeds) return RefuseSampler(choice, "the space of the sweep has no seeds", "");
  if (choice.shards > 1) return RefuseSampler(choice, "a race of seeds cannot be divided into parts", "");
  if (KindOf(choice).pipes) {
    return RefuseSampler(choice, "seeds are not for points of a program", "let the program repeat its points");
  }
  auto compiled = CompiledSpace::Of(described.parts[0]);
  if (!compiled) return Fail(compiled.error());
  auto points = std::make_unique<const CompiledSpace>(*std::move(compiled));
  SamplerChoice once = choice;
  once.seeds.reset();
  auto inner = Sampler::Of(*points, once);
  if (!inner) return Fail(inner.error());
  return std::make_unique<RepeatedSampler>(space, choice, described.parts[1].axis.values, std::move(points),
                                           *std::move(inner));
}

}  // namespace muster
