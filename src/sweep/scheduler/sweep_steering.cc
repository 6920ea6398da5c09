#include "sweep/scheduler/sweep_steering.h"

#include <algorithm>

#include <fmt/format.h>

#include "space/sweep_description.h"

namespace muster {

tl::expected<SweepSteered, std::string> SteeringFor(const SteeringRequest& request, const Sampler& sampler,
                                                    std::optional<std::uint64_t> most) {
  SweepSteered steered;
  steered.slots = request.slots;
  const std::uint64_t add = request.add_trials;
  if (add == 0) return steered;
  const std::uint64_t room = sampler.limit() - sampler.size();
  const std::uint64_t unused = most && *most < sampler.size() ? sampler.size() - *most : 0;
  if (add > room + unused) {
    if (room + unused == 0) {
      return tl::make_unexpected(
          fmt::format("no trial can be added: all {} points of the space are trials already", sampler.limit()));
    }
    return tl::make_unexpected(
        fmt::format("at most {} trials can be added: the sampler has {} in all", room + unused, sampler.limit()));
  }
  if (most) steered.max_trials = *most + add;
  if (room > 0) steered.trials = sampler.size() + std::min(add, room);
  return steered;
}

}  // namespace muster
