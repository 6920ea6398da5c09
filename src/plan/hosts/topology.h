// Counting ranks: exact division, pipeline stages, and meshes of named axes. Integers only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/result.h"

namespace muster {

// A number and its name in the recipe, for messages.
struct NamedCount {
  std::string name;
  std::int64_t count = 0;
};

// dividend / (product of `by`), which must have no remainder. Kind "division" with the numbers, kind "range" if one of
// them is not positive or the product overflows.
Result<std::int64_t> ExactQuotient(const NamedCount& dividend, const std::vector<NamedCount>& by, const Place& place);

struct StagePosition {
  std::uint32_t stage = 0;
  std::uint32_t rank_in_stage = 0;

  bool operator==(const StagePosition&) const = default;
};

// MindSpore's rule: stage size = world_size / stages, consecutive ranks share a stage. Requires 0 < stages, that stages
// divides world_size, and rank < world_size.
StagePosition StageOf(std::uint32_t rank, std::uint32_t world_size, std::uint32_t stages);

struct MeshAxis {
  std::string name;
  std::uint32_t size = 1;

  bool operator==(const MeshAxis&) const = default;
};

}  // namespace muster
