// Meshes of named axes over ranks. Integers only.
#pragma once

#include <cstdint>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/result.h"
#include "plan/hosts/topology.h"

namespace muster {

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
