// The choice among samplers, by the space and the trials.
#include <string>
#include <utility>

#include "space/sampler.h"

namespace muster {
namespace {

constexpr std::uint64_t kTooFew = 10;      // trials: samplers that learn draw as many at first
constexpr std::uint64_t kLeastRounds = 3;  // of trials at a time, of which the first two teach the third

std::string Several(std::uint64_t count, const std::string& one, const std::string& several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

}  // namespace

ChosenSampler ChooseSampler(const CompiledSpace& space, const SamplerChoice& choice, bool has_objective,
                            std::optional<std::uint64_t> at_once) {
  using Kind = SamplerChoice::Kind;
  if (choice.seeds && !space.description().parts.empty()) {  // as for the points without seeds
    SamplerChoice once = choice;
    once.seeds.reset();
    const auto points = CompiledSpace::Of(space.description().parts.front());
    if (!points) return {choice};
    ChosenSampler chosen = ChooseSampler(*points, once, has_objective, at_once);
    chosen.choice.seeds = choice.seeds;
    return chosen;
  }
  const auto size = space.size();
  const std::uint64_t trials = choice.trials.value_or(size.value_or(0));
  const std::size_t axes = space.dimensions().size();
  const std::string all_axes = Several(axes, "axis", "axes");
  const std::string all_trials = Several(trials, "trial", "trials");
  if (choice.kind == Kind::kGp && axes > kMaxGpAxes) {
    return {choice,
            "gp does as tpe for " + all_axes + ": a Gaussian process learns about up to " + std::to_string(kMaxGpAxes)};
  }
  if (choice.kind == Kind::kGp && trials > kMaxGpResults) {
    return {choice, "gp does as tpe after " + std::to_string(kMaxGpResults) +
                        " results, more than a Gaussian process learns from"};
  }
  if (choice.kind != Kind::kAuto) return {choice};
  const auto as = [&](Kind kind, const std::string& why) {
    ChosenSampler chosen{choice};
    chosen.choice.kind = kind;
    chosen.why = std::string("auto took ") + KindOf(chosen.choice).name + ": " + why;
    return chosen;
  };
  if (size && trials >= *size) return as(Kind::kRandom, "there are trials for every point of the space");
  if (!has_objective) return as(Kind::kSobol, "there is no objective to learn about");
  const bool knows_nothing = choice.given.points.empty();
  if (trials <= kTooFew && knows_nothing) return as(Kind::kSobol, all_trials + " are too few to learn from");
  if (at_once && knows_nothing && trials < *at_once * kLeastRounds) {
    return as(Kind::kSobol, all_trials + ", " + std::to_string(*at_once) + " at once, end too late to learn from");
  }
  if (axes > kMaxGpAxes) return as(Kind::kTpe, all_axes + " are too many for a Gaussian process");
  if (trials > kMaxGpResults) return as(Kind::kTpe, all_trials + " are too many for a Gaussian process");
  return as(Kind::kGp, all_axes + " and " + all_trials + " are few enough for a Gaussian process");
}

Result<std::unique_ptr<Sampler>> MakeAutoSampler(const CompiledSpace& space, const SamplerChoice& choice) {
  return Sampler::Of(space, ChooseSampler(space, choice, true, std::nullopt).choice);
}

}  // namespace muster
