#include "plan/hosts/mesh.h"

#include <limits>

namespace muster {

Result<Mesh> Mesh::Make(std::vector<MeshAxis> axes, const Place& place) {
  if (axes.empty()) return Fail(Error("mesh", place, "a mesh needs at least one axis"));
  std::uint64_t size = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].name.empty())
      return Fail(Error("mesh", place, "axis " + std::to_string(i + 1) + " of the mesh has no name"));
    for (std::size_t j = 0; j < i; ++j) {
      if (axes[j].name == axes[i].name) {
        return Fail(Error("mesh", place, "the mesh has two axes named \"" + axes[i].name + "\""));
      }
    }
    if (axes[i].size == 0) return Fail(Error("mesh", place, "axis " + axes[i].name + " of the mesh has size 0"));
    size *= axes[i].size;
    if (size > std::numeric_limits<std::uint32_t>::max())
      return Fail(Error("mesh", place, "the mesh has too many ranks"));
  }
  Mesh mesh;
  mesh.axes_ = std::move(axes);
  mesh.size_ = static_cast<std::uint32_t>(size);
  return mesh;
}

Result<std::vector<std::uint32_t>> Mesh::Coords(std::uint32_t rank, const Place& place) const {
  if (rank >= size_) {
    return Fail(Error("range", place,
                      "rank " + std::to_string(rank) + " is not in the mesh of " + std::to_string(size_) + " ranks"));
  }
  std::vector<std::uint32_t> coords(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    coords[i] = rank % axes_[i].size;
    rank /= axes_[i].size;
  }
  return coords;
}

Result<std::uint32_t> Mesh::Rank(const std::vector<std::uint32_t>& coords, const Place& place) const {
  if (coords.size() != axes_.size()) {
    return Fail(
        Error("range", place,
              std::to_string(coords.size()) + " coordinates for a mesh of " + std::to_string(axes_.size()) + " axes"));
  }
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (coords[i] >= axes_[i].size) {
      return Fail(Error("range", place,
                        axes_[i].name + " = " + std::to_string(coords[i]) + " is not below the axis's size " +
                            std::to_string(axes_[i].size)));
    }
    rank = rank * axes_[i].size + coords[i];
  }
  return rank;
}

}  // namespace muster
