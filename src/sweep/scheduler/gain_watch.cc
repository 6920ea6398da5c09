#include "sweep/scheduler/gain_watch.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "space/group_statistics.h"
#include "space/sampler.h"

namespace muster {

GainWatch::GainWatch(const SweepDescription& sweep) : sweep_(&sweep) {
  if (!sweep.objective || sweep.second_objective) return;
  // With seeds the space is a product of that of the points and the axis of the seeds (WithSeeds).
  const bool seeded = sweep.sampler.seeds && sweep.space.parts.size() == 2;
  auto space = CompiledSpace::Of(seeded ? sweep.space.parts.front() : sweep.space);
  if (space) space_ = std::make_unique<const CompiledSpace>(*std::move(space));
}

void GainWatch::Take(const SweepEntry& entry) {
  if (!asks()) return;
  if (const auto* began = std::get_if<AttemptBegan>(&entry)) {
    running_[began->trial] = began->point;
    return;
  }
  const auto* ended = std::get_if<AttemptEnded>(&entry);
  if (ended == nullptr) return;
  auto running = running_.extract(ended->trial);
  if (running.empty() || ended->trial_class != TrialClass::kOk || !ended->loss || ended->interrupted) return;
  Point point = std::move(running.mapped());
  if (sweep_->sampler.seeds) point.erase(sweep_->sampler.seeds->param);
  const auto [place, is_new] = places_.emplace(PointText(point), points_.size());
  if (is_new) points_.push_back({std::move(point), {}});
  points_[place->second].losses[ended->trial] = *ended->loss;
  if (points_.size() <= kMaxGpResults) return;
  space_.reset();  // nothing is asked any more
  running_.clear();
  places_.clear();
  points_.clear();
}

std::optional<NoGainExpected> GainWatch::Ask() {
  next_ = points_.size() + std::max<std::size_t>(1, points_.size() / 10);
  std::vector<KnownLoss> results;
  std::vector<GroupStatistics> groups;
  for (const Known& known : points_) {
    std::vector<double> losses;
    for (const auto& [trial, loss] : known.losses) losses.push_back(loss);
    groups.push_back(StatisticsOf(losses));
    const bool median = sweep_->sampler.seeds && sweep_->sampler.seeds->median;
    const std::size_t repeats = losses.size();
    results.push_back({known.point, ValueOfGroup(std::move(losses), median), repeats});
  }
  const PooledVariance pooled = PooledOf(groups);
  const auto bound =
      RegretBoundOf(*space_, results, pooled.freedom > 0 ? std::optional(pooled.variance) : std::nullopt);
  if (!bound || !bound->none_left()) return std::nullopt;
  return NoGainExpected{bound->results, bound->bound, bound->noise, bound->repeated};
}

}  // namespace muster
