// Search spaces: axes combined by product, zip, union and conditions, and their points, which are numbered. Point
// number n is computed; no list of points is created. Order: the last axis of a product varies fastest. Axes that
// conditional parts of a product depend on vary slowest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// A point of a space: the values of the swept names, and its id.

using Point = Value::Map;

// 16 hex digits of SHA-256 over the sorted names and values; -0 counts as 0. Depends on these only: adding a value to
// an axis changes no other point's id.
std::string PointId(const Point& point);

// The id as a number; nothing if the text is no valid id.
std::optional<std::uint64_t> PointNumber(const std::string& id);

// "lr=0.1, workers=4".
std::string PointText(const Point& point);

// One axis of a space: the values of a name, and the mapping from the unit interval to them.
//
// Both ends are included, except the upper end of continuous axes. Steps must reach the upper end exactly.

struct Axis {
  enum class Kind : std::uint8_t {
    kChoice,         // `values`, equally likely
    kRange,          // low, low + step, …, high, equally likely; whole numbers if low and step are
    kUniform,        // [low, high)
    kLogUniform,     // [low, high), uniform in the logarithm; low > 0
    kIntLogUniform,  // whole numbers from low to high, uniform in the logarithm; low >= 1
  };
  std::string name;
  Kind kind = Kind::kChoice;
  std::vector<Value> values = {};
  double low = 0;
  double high = 0;
  double step = 1;
  bool whole = false;  // kRange: whole numbers

  bool operator==(const Axis&) const = default;
};

inline constexpr std::array<std::string_view, 5> kAxisKindNames = {"choice", "range", "uniform", "log_uniform",
                                                                   "int_log_uniform"};
constexpr std::string_view AxisKindName(Axis::Kind kind) { return kAxisKindNames[static_cast<std::size_t>(kind)]; }

// Kind "space": no values, bounds that are not finite or in the wrong order, a step that does not reach the upper end.
// `repeats`: values may occur more than once.
Result<void> CheckAxis(const Axis& axis, const Place& place, bool repeats = false);

// The number of values; nothing without a grid: continuous axes, and those with values that are not equally likely.
std::optional<std::uint64_t> CountOf(const Axis& axis);

// `index` is below CountOf.
Value ValueAt(const Axis& axis, std::uint64_t index);

// `u` in [0, 1).
Value ValueFrom(const Axis& axis, double u);

// "log_uniform(1e-05, 0.001)", "{1, 2, 4}".
std::string AxisText(const Axis& axis);

// Descriptions of search spaces: axes combined by product, zip, union and conditions. CompiledSpace validates them
// and computes their points.

// A space as described by the user, not validated.
struct Space {
  enum class Kind : std::uint8_t {
    kAxis,
    kFixed,    // one point: `fixed`
    kProduct,  // every combination of points of its parts; without parts, one empty point
    kZip,      // the n-th points of all parts together; all of one size
    kUnion,    // the points of the first part, then of the second, …; draws choose a part by `weights`
    kWhen,     // its one part, if all of `condition` holds; only as a part of a product that has those axes
  };
  Kind kind = Kind::kProduct;
  Axis axis = {};
  Point fixed = {};
  std::vector<Space> parts = {};
  std::vector<double> weights = {};  // kUnion: one for each part; empty: their numbers of countable points
  std::map<std::string, std::vector<Value>> condition = {};  // for each name, the values that satisfy the condition
  Place place = {};

  bool operator==(const Space&) const = default;
};

// Whether the point has one of the values of each name: a condition of kWhen.
bool Holds(const std::map<std::string, std::vector<Value>>& condition, const Point& point);

// Warnings of kind "space" about values in conditions that their names never have: what depends on these is never
// tried. A value may be missing since the command line has others.
Diagnostics WarnOfConditions(const Space& space);

// Gives the unions without weights one for each part, all equal.
void WeighEvenly(Space& space);
// Removes the weights of unions whose weights are all equal.
void ForgetEvenWeights(Space& space);

// The space with other names for some axes, fixed values and conditions: `names` has the new name of each.
void RenameInSpace(Space& space, const std::map<std::string, std::string>& names);

// A validated search space with numbered points. Point number n is computed; no list of points is created.
//
// Order: the last axis of a product varies fastest. Axes that conditional parts of a product depend on vary slowest.

// Returns a coordinate in [0, 1) for each dimension, by its name.
using Coordinate = std::function<double(const std::string& dimension)>;

// The coordinates of a dimension that give a point its value: from low to high; one number if the axis is continuous.
struct Span {
  double low = 0;
  double high = 0;
  bool ordered = true;  // whether values at near coordinates are similar: numbers, not names or parts of a union

  bool operator==(const Span&) const = default;
};

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
  // What users read for a dimension: its name; of a union the names whose values tell its parts apart ("optimizer"), or
  // else its parts by their names ("k+n or y").
  std::string LabelOf(const std::string& dimension) const;
  Point From(const Coordinate& coordinate) const;
  // Where From() gives this point, for each dimension that it depends on; nothing if the space does not have it.
  std::optional<std::map<std::string, Span>> Locate(const Point& point) const;
  // Whether From() gives all discrete points equally often: not if parts of a union or cases of a condition have other
  // shares of the draws than of the points.
  bool draws_evenly() const;

  // What it was made of.
  const Space& description() const { return description_; }
  // All names that a point can have, sorted.
  const std::vector<std::string>& names() const;
  // The uncountable axes, in the order of the description.
  const std::vector<Axis>& continuous() const;

  class Node;

 private:
  CompiledSpace(std::unique_ptr<Node> root, Space description);
  std::unique_ptr<Node> root_;
  Space description_;
  std::vector<std::string> dimensions_;
  std::map<std::string, std::string> labels_;  // of unions
  std::vector<std::string> names_;
  std::vector<Axis> continuous_;
};

}  // namespace muster
