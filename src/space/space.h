// Descriptions of search spaces: axes combined by product, zip, union and conditions. compiled_space.h validates them
// and computes their points.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "muster/diagnostic.h"
#include "space/axis.h"
#include "space/point.h"

namespace muster {

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

// Gives the unions without weights one for each part, all equal.
void WeighEvenly(Space& space);
// Removes the weights of unions whose weights are all equal.
void ForgetEvenWeights(Space& space);

// The space with other names for some axes, fixed values and conditions: `names` has the new name of each.
void RenameInSpace(Space& space, const std::map<std::string, std::string>& names);

}  // namespace muster
