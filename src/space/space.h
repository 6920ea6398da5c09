// Spaces of points: axes joined by product, zip, union and when. A space is arithmetic: point number n is computed, and
// no list of points is ever made.
//
// Order: the last axis of a product turns fastest. Where parts of a product depend on axes of it (when), those axes
// turn slowest.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"
#include "space/axis.h"
#include "space/point.h"

namespace muster {

// A space as it is described; nothing of it is checked.
struct Space {
  enum class Kind : std::uint8_t {
    kAxis,
    kFixed,    // one point: `fixed`
    kProduct,  // each point of one with each of the others; without parts, the one point that says nothing
    kZip,      // the n-th of each together; all of one size
    kUnion,    // those of the first, then those of the second, …
    kWhen,     // its one part, where all of `condition` holds; only as a part of a product that has those axes
  };
  Kind kind = Kind::kProduct;
  Axis axis = {};
  Point fixed = {};
  std::vector<Space> parts = {};
  std::map<std::string, std::vector<Value>> condition = {};  // a name, and the values of which it has one
  Place place = {};

  bool operator==(const Space&) const = default;
};

// What chooses: a coordinate in [0, 1) of each dimension, by its name.
using Coordinate = std::function<double(const std::string& dimension)>;

class CompiledSpace {
 public:
  // Kind "space": an axis that CheckAxis refuses, a name twice in one product or zip, parts of a zip that differ in
  // size or have none, a condition on what is no axis of the product, an empty union, more than 2^53 points.
  static Result<CompiledSpace> Of(const Space& space);
  CompiledSpace(CompiledSpace&&) noexcept;
  CompiledSpace& operator=(CompiledSpace&&) noexcept;
  ~CompiledSpace();

  // How many points there are; nothing if an axis has no values to count.
  std::optional<std::uint64_t> size() const;
  // The same with such axes left out: the discrete choices, "layouts".
  std::uint64_t discrete_size() const;

  // `index` below size(), which there must be.
  Point At(std::uint64_t index) const;
  // `index` below discrete_size(): the point without the axes that have no values to count.
  Point DiscreteAt(std::uint64_t index) const;

  // What has to be chosen for a point, in the order of the description; names of axes, "a+b" of a zip, "a|b" of a
  // union. Parts of a union are as likely as they have discrete points.
  const std::vector<std::string>& dimensions() const;
  Point From(const Coordinate& coordinate) const;

  // All names that a point can have, sorted.
  const std::vector<std::string>& names() const;
  // The axes that have no values to count, in the order of the description.
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
