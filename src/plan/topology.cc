#include "plan/topology.h"

#include <limits>

namespace muster {
namespace {

std::string ProductText(const std::vector<NamedCount>& by) {
  std::string text;
  for (const NamedCount& factor : by) {
    text += (text.empty() ? "" : " × ") + factor.name + " " + std::to_string(factor.count);
  }
  return text;
}

}  // namespace

Result<std::int64_t> ExactQuotient(const NamedCount& dividend, const std::vector<NamedCount>& by, const Place& place) {
  std::vector<NamedCount> all{dividend};
  all.insert(all.end(), by.begin(), by.end());
  for (const NamedCount& each : all) {
    if (each.count < 1) {
      return Fail(Error("range", place, each.name + " = " + std::to_string(each.count) + " must be at least 1"));
    }
  }
  std::int64_t product = 1;
  for (const NamedCount& factor : by) {
    if (factor.count > std::numeric_limits<std::int64_t>::max() / product) {
      return Fail(Error("range", place, "the product " + ProductText(by) + " is too large"));
    }
    product *= factor.count;
  }
  if (dividend.count % product == 0) return dividend.count / product;
  std::string message =
      dividend.name + " = " + std::to_string(dividend.count) + " can not be divided by " + ProductText(by);
  if (by.size() > 1) message += " = " + std::to_string(product);
  std::string hint;
  const std::int64_t below = dividend.count - dividend.count % product;
  if (below > 0) {
    hint = dividend.name + " could be " + std::to_string(below);
    if (below <= std::numeric_limits<std::int64_t>::max() - product) hint += " or " + std::to_string(below + product);
  } else {
    hint = dividend.name + " must be at least " + std::to_string(product);
  }
  return Fail(Error("division", place, std::move(message), std::move(hint)));
}

StagePosition StageOf(std::uint32_t rank, std::uint32_t world_size, std::uint32_t stages) {
  const std::uint32_t stage_size = world_size / stages;
  return {rank / stage_size, rank % stage_size};
}

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
