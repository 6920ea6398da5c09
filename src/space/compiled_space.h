// A validated search space with numbered points. Point number n is computed; no list of points is created.
//
// Order: the last axis of a product varies fastest. Axes that conditional parts of a product depend on vary slowest.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"
#include "space/axis.h"
#include "space/point.h"
#include "space/space.h"

namespace muster {

// Returns a coordinate in [0, 1) for each dimension, by its name.
using Coordinate = std::function<double(const std::string& dimension)>;

class CompiledSpace {
 public:
  // Kind "space": an axis that CheckAxis refuses, a name twice in one product or zip, parts of a zip that differ in
  // size or are uncountable, a condition on a name that is no axis of the product, an empty union, weights that are not
  // one positive number for each part, over 2^53 points.
  static Result<CompiledSpace> Of(const Space& space);
  CompiledSpace(CompiledSpace&&) noexcept;
  CompiledSpace& operator=(CompiledSpace&&) noexcept;
  ~CompiledSpace();

  // The number of points; nothing if an axis is uncountable.
  std::optional<std::uint64_t> size() const;
  // The same without the uncountable axes: the discrete choices, "layouts".
  std::uint64_t discrete_size() const;

  // `index` below size(), which must exist.
  Point At(std::uint64_t index) const;
  // `index` below discrete_size(): the point without the uncountable axes.
  Point DiscreteAt(std::uint64_t index) const;

  // The dimensions to choose for a point, in the order of the description; names of axes, "a+b" of a zip, "a|b" of a
  // union, which chooses a part by its weight.
  const std::vector<std::string>& dimensions() const;
  Point From(const Coordinate& coordinate) const;
  // Whether From() gives all discrete points equally often: not if parts of a union or cases of a condition have other
  // shares of the draws than of the points.
  bool draws_evenly() const;

  // All names that a point can have, sorted.
  const std::vector<std::string>& names() const;
  // The uncountable axes, in the order of the description.
  const std::vector<Axis>& continuous() const;

  class Node;

 private:
  explicit CompiledSpace(std::unique_ptr<Node> root);
  std::unique_ptr<Node> root_;
  std::vector<std::string> dimensions_;
  std::vector<std::string> names_;
  std::vector<Axis> continuous_;
};

}  // namespace muster
