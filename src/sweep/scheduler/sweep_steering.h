// Changes that users make to the limits of a running sweep: from a request to the entry that records it. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include "sweep/record/sweep_events.h"

namespace muster {

class Sampler;

struct SteeringRequest {
  std::optional<std::uint32_t> slots = {};
  std::uint64_t add_trials = 0;

  bool empty() const { return !slots && add_trials == 0; }
};

// The entry that fulfils the request; it has absolute numbers, so that a repeated entry changes nothing.
// `most`: trials that may be started in all; if there is such a limit, it grows with the number of trials. The error is
// a sentence: the space has too few further points.
tl::expected<SweepSteered, std::string> SteeringFor(const SteeringRequest& request, const Sampler& sampler,
                                                    std::optional<std::uint64_t> most);

}  // namespace muster
