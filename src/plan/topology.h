// Counting ranks: exact division, pipeline stages, and meshes of named axes. Integers only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/result.h"

namespace muster {

// A number and what the recipe calls it, for messages.
struct NamedCount {
  std::string name;
  std::int64_t count = 0;
};

// dividend / (product of `by`), which must leave no rest. Kind "division" with the numbers, kind "range" if
// one of them is not positive or the product overflows.
Result<std::int64_t> ExactQuotient(const NamedCount& dividend, const std::vector<NamedCount>& by, const Place& place);

struct StagePosition {
  std::uint32_t stage = 0;
  std::uint32_t rank_in_stage = 0;

  bool operator==(const StagePosition&) const = default;
};

// MindSpore's rule: stage size = world_size / stages, consecutive ranks share a stage. Promises nothing unless
// 0 < stages, stages divides world_size and rank < world_size.
StagePosition StageOf(std::uint32_t rank, std::uint32_t world_size, std::uint32_t stages);

struct MeshAxis {
  std::string name;
  std::uint32_t size = 1;

  bool operator==(const MeshAxis&) const = default;
};

// Ranks arranged along named axes; the last axis varies fastest.
class Mesh {
 public:
  // Refuses no axes, empty or repeated names, sizes of 0, and more than 2^32 - 1 ranks (kind "mesh").
  static Result<Mesh> Make(std::vector<MeshAxis> axes, const Place& place);

  const std::vector<MeshAxis>& axes() const { return axes_; }
  std::uint32_t size() const { return size_; }

  // Coordinates in the order of the axes; kind "range" unless rank < size().
  Result<std::vector<std::uint32_t>> Coords(std::uint32_t rank, const Place& place) const;
  // The rank at these coordinates; kind "range" unless there is one per axis, each below its size.
  Result<std::uint32_t> Rank(const std::vector<std::uint32_t>& coords, const Place& place) const;

 private:
  std::vector<MeshAxis> axes_;
  std::uint32_t size_ = 0;
};

}  // namespace muster
