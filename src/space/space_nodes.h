// The nodes of a compiled space: the number of points of each, and its n-th point. compiled_space.cc checks which
// combinations are valid.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "space/compiled_space.h"

namespace muster {

// A node of a compiled space: its number of discrete points, and each of them.
class CompiledSpace::Node {
 public:
  virtual ~Node() = default;
  virtual std::uint64_t size() const = 0;  // number of discrete points
  virtual void AddAt(std::uint64_t index, Point& point) const = 0;
  virtual void AddFrom(const Coordinate& coordinate, Point& point) const = 0;
  virtual void ListDimensions(std::vector<std::string>& dimensions) const = 0;
  virtual void ListContinuous(std::vector<Axis>& axes) const = 0;
  // Whether AddFrom draws its countable points equally often.
  virtual bool DrawsEvenly() const = 0;

  std::set<std::string> names;
};

using SpaceNode = CompiledSpace::Node;
using SpaceParts = std::vector<std::unique_ptr<SpaceNode>>;

// A part of a product that exists if the condition holds.
struct ConditionalPart {
  std::map<std::string, std::vector<Value>> condition;
  std::unique_ptr<SpaceNode> part;
};

std::unique_ptr<SpaceNode> AxisNodeOf(const Axis& axis);
std::unique_ptr<SpaceNode> FixedNodeOf(const Point& fixed);
// The axes in conditions are among the parts, and countable. Null if they have more than a million combinations.
std::unique_ptr<SpaceNode> ProductNodeOf(SpaceParts parts, std::vector<ConditionalPart> conditionals);
// At least one part; all countable and of one size.
std::unique_ptr<SpaceNode> ZipNodeOf(SpaceParts parts);
// At least one part. `weights` as in Space.
std::unique_ptr<SpaceNode> UnionNodeOf(SpaceParts parts, const std::vector<double>& weights);

// Whether all its axes are countable.
bool IsCountable(const SpaceNode& node);

}  // namespace muster
