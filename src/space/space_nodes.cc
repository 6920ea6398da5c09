#include "space/space_nodes.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace muster {
namespace {

using Node = SpaceNode;
using Parts = SpaceParts;

constexpr std::uint64_t kMostCases = 1'000'000;  // combinations of axes that conditions depend on

std::string Joined(const std::set<std::string>& names, char between) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += between;
    text += name;
  }
  return text;
}

bool Holds(const std::map<std::string, std::vector<Value>>& condition, const Point& point) {
  return std::all_of(condition.begin(), condition.end(), [&](const auto& wanted) {
    const auto found = point.find(wanted.first);
    return found != point.end() &&
           std::find(wanted.second.begin(), wanted.second.end(), found->second) != wanted.second.end();
  });
}

class AxisNode : public Node {
 public:
  explicit AxisNode(Axis axis) : axis_(std::move(axis)), count_(CountOf(axis_)) { names = {axis_.name}; }
  std::uint64_t size() const override { return count_.value_or(1); }
  void AddAt(std::uint64_t index, Point& point) const override {
    if (count_) point[axis_.name] = ValueAt(axis_, index);
  }
  void AddFrom(const Coordinate& coordinate, Point& point) const override {
    point[axis_.name] = ValueFrom(axis_, coordinate(axis_.name));
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override { dimensions.push_back(axis_.name); }
  void ListContinuous(std::vector<Axis>& axes) const override {
    if (!count_) axes.push_back(axis_);
  }
  bool DrawsEvenly() const override { return true; }

 private:
  Axis axis_;
  std::optional<std::uint64_t> count_;
};

class FixedNode : public Node {
 public:
  explicit FixedNode(Point fixed) : fixed_(std::move(fixed)) {
    for (const auto& [name, unused] : fixed_) names.insert(name);
  }
  std::uint64_t size() const override { return 1; }
  void AddAt(std::uint64_t, Point& point) const override { Add(point); }
  void AddFrom(const Coordinate&, Point& point) const override { Add(point); }
  void ListDimensions(std::vector<std::string>&) const override {}
  void ListContinuous(std::vector<Axis>&) const override {}
  bool DrawsEvenly() const override { return true; }

 private:
  void Add(Point& point) const {
    for (const auto& [name, value] : fixed_) point[name] = value;
  }
  Point fixed_;
};

class NodeOfParts : public Node {
 public:
  explicit NodeOfParts(Parts given) : parts(std::move(given)) {
    for (const auto& part : parts) names.insert(part->names.begin(), part->names.end());
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override {
    for (const auto& part : parts) part->ListDimensions(dimensions);
  }
  void ListContinuous(std::vector<Axis>& axes) const override {
    for (const auto& part : parts) part->ListContinuous(axes);
  }
  bool DrawsEvenly() const override {
    return std::all_of(parts.begin(), parts.end(), [](const auto& part) { return part->DrawsEvenly(); });
  }

  Parts parts;
};

// The n-th point of a product of parts in mixed radix, the last part varying fastest.
std::uint64_t AddProductAt(const std::vector<const Node*>& parts, std::uint64_t index, Point& point) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    (*part)->AddAt(index % (*part)->size(), point);
    index /= (*part)->size();
  }
  return index;
}

std::uint64_t SizeOf(const std::vector<const Node*>& parts) {
  std::uint64_t size = 1;
  for (const Node* part : parts) size *= part->size();
  return size;
}

class ProductNode : public NodeOfParts {
 public:
  ProductNode(Parts given, std::vector<ConditionalPart> conditionals)
      : NodeOfParts(std::move(given)), conditionals_(std::move(conditionals)) {
    std::set<std::string> deciding;
    for (const ConditionalPart& each : conditionals_) {
      names.insert(each.part->names.begin(), each.part->names.end());
      for (const auto& [name, unused] : each.condition) deciding.insert(name);
    }
    for (const auto& part : parts) {
      const bool decides = std::any_of(part->names.begin(), part->names.end(),
                                       [&](const std::string& name) { return deciding.contains(name); });
      (decides ? deciding_ : free_).push_back(part.get());
    }
  }

  // Whether there are few enough cases; must be called first.
  bool CountCases() {
    if (conditionals_.empty()) return true;
    const std::uint64_t cases = SizeOf(deciding_);
    if (cases > kMostCases) return false;
    for (std::uint64_t i = 0; i < cases; ++i) {
      Point point;
      AddProductAt(deciding_, i, point);
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + SizeOf(free_) * SizeOf(Active(point)));
    }
    return true;
  }

  std::uint64_t size() const override { return conditionals_.empty() ? SizeOf(free_) : ends_.back(); }
  void AddAt(std::uint64_t index, Point& point) const override {
    if (conditionals_.empty()) {
      AddProductAt(free_, index, point);
      return;
    }
    const auto found = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto nth = static_cast<std::uint64_t>(found - ends_.begin());
    if (nth > 0) index -= ends_[nth - 1];
    Point decided;
    AddProductAt(deciding_, nth, decided);
    index = AddProductAt(Active(decided), index, point);
    AddProductAt(free_, index, point);
    point.merge(decided);
  }
  void AddFrom(const Coordinate& coordinate, Point& point) const override {
    Point own;
    for (const auto& part : parts) part->AddFrom(coordinate, own);
    for (const ConditionalPart& each : conditionals_) {
      if (Holds(each.condition, own)) each.part->AddFrom(coordinate, own);
    }
    point.merge(own);
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override {
    NodeOfParts::ListDimensions(dimensions);
    for (const ConditionalPart& each : conditionals_) each.part->ListDimensions(dimensions);
  }
  void ListContinuous(std::vector<Axis>& axes) const override {
    NodeOfParts::ListContinuous(axes);
    for (const ConditionalPart& each : conditionals_) each.part->ListContinuous(axes);
  }
  // The cases are drawn equally often, whatever the number of their points.
  bool DrawsEvenly() const override {
    if (!NodeOfParts::DrawsEvenly()) return false;
    for (std::size_t i = 1; i < ends_.size(); ++i) {
      if (ends_[i] - ends_[i - 1] != ends_.front()) return false;
    }
    return std::all_of(conditionals_.begin(), conditionals_.end(),
                       [](const ConditionalPart& each) { return each.part->DrawsEvenly(); });
  }

 private:
  std::vector<const Node*> Active(const Point& decided) const {
    std::vector<const Node*> active;
    for (const ConditionalPart& each : conditionals_) {
      if (Holds(each.condition, decided)) active.push_back(each.part.get());
    }
    return active;
  }

  std::vector<ConditionalPart> conditionals_;
  std::vector<const Node*> free_;
  std::vector<const Node*> deciding_;
  std::vector<std::uint64_t> ends_;  // end index of the points of each case
};

class ZipNode : public NodeOfParts {
 public:
  explicit ZipNode(Parts given) : NodeOfParts(std::move(given)), dimension_(Joined(names, '+')) {}
  std::uint64_t size() const override { return parts.front()->size(); }
  void AddAt(std::uint64_t index, Point& point) const override {
    for (const auto& part : parts) part->AddAt(index, point);
  }
  void AddFrom(const Coordinate& coordinate, Point& point) const override {
    const auto index = static_cast<std::uint64_t>(coordinate(dimension_) * static_cast<double>(size()));
    AddAt(std::min(index, size() - 1), point);
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override { dimensions.push_back(dimension_); }

 private:
  std::string dimension_;
};

class UnionNode : public NodeOfParts {
 public:
  UnionNode(Parts given, const std::vector<double>& weights)
      : NodeOfParts(std::move(given)), dimension_(Joined(names, '|')) {
    for (const auto& part : parts) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + part->size());
    if (weights.empty()) return;
    for (const double weight : weights) {
      weight_ends_.push_back((weight_ends_.empty() ? 0 : weight_ends_.back()) + weight);
    }
    // The choice of a part is independent of all choices within it.
    std::vector<std::string> within;
    NodeOfParts::ListDimensions(within);
    while (std::find(within.begin(), within.end(), dimension_) != within.end()) dimension_ += '|';
  }
  std::uint64_t size() const override { return ends_.back(); }
  void AddAt(std::uint64_t index, Point& point) const override {
    const std::size_t part = PartOf(index);
    parts[part]->AddAt(part == 0 ? index : index - ends_[part - 1], point);
  }
  void AddFrom(const Coordinate& coordinate, Point& point) const override {
    parts[DrawnPart(coordinate(dimension_))]->AddFrom(coordinate, point);
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override {
    dimensions.push_back(dimension_);
    NodeOfParts::ListDimensions(dimensions);
  }
  bool DrawsEvenly() const override {
    if (!NodeOfParts::DrawsEvenly()) return false;
    for (std::size_t i = 0; i < weight_ends_.size(); ++i) {
      const double share = (weight_ends_[i] - (i == 0 ? 0 : weight_ends_[i - 1])) / weight_ends_.back();
      const double of_points = static_cast<double>(parts[i]->size()) / static_cast<double>(size());
      if (std::abs(share - of_points) > 1e-9) return false;
    }
    return true;
  }

 private:
  std::size_t PartOf(std::uint64_t index) const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  }
  std::size_t DrawnPart(double u) const {
    if (weight_ends_.empty()) {
      return PartOf(std::min(static_cast<std::uint64_t>(u * static_cast<double>(size())), size() - 1));
    }
    const auto found = std::upper_bound(weight_ends_.begin(), weight_ends_.end(), u * weight_ends_.back());
    return std::min(static_cast<std::size_t>(found - weight_ends_.begin()), parts.size() - 1);
  }

  std::string dimension_;
  std::vector<std::uint64_t> ends_;
  std::vector<double> weight_ends_;  // the sums of the weights up to each part; empty: by the numbers of points
};

}  // namespace

std::unique_ptr<SpaceNode> AxisNodeOf(const Axis& axis) { return std::make_unique<AxisNode>(axis); }

std::unique_ptr<SpaceNode> FixedNodeOf(const Point& fixed) { return std::make_unique<FixedNode>(fixed); }

std::unique_ptr<SpaceNode> ProductNodeOf(SpaceParts parts, std::vector<ConditionalPart> conditionals) {
  auto node = std::make_unique<ProductNode>(std::move(parts), std::move(conditionals));
  return node->CountCases() ? std::move(node) : nullptr;
}

std::unique_ptr<SpaceNode> ZipNodeOf(SpaceParts parts) { return std::make_unique<ZipNode>(std::move(parts)); }

std::unique_ptr<SpaceNode> UnionNodeOf(SpaceParts parts, const std::vector<double>& weights) {
  return std::make_unique<UnionNode>(std::move(parts), weights);
}

bool IsCountable(const Node& node) {
  std::vector<Axis> continuous;
  node.ListContinuous(continuous);
  return continuous.empty();
}

void WeighEvenly(Space& space) {
  if (space.kind == Space::Kind::kUnion && space.weights.empty()) space.weights.assign(space.parts.size(), 1);
  for (Space& part : space.parts) WeighEvenly(part);
}

void ForgetEvenWeights(Space& space) {
  const bool even = std::all_of(space.weights.begin(), space.weights.end(),
                                [&](double weight) { return weight == space.weights.front(); });
  if (even) space.weights.clear();
  for (Space& part : space.parts) ForgetEvenWeights(part);
}

void RenameInSpace(Space& space, const std::map<std::string, std::string>& names) {
  const auto renamed = [&names](const std::string& name) {
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  };
  space.axis.name = renamed(space.axis.name);
  Point fixed;
  for (auto& [name, value] : space.fixed) fixed.emplace(renamed(name), std::move(value));
  space.fixed = std::move(fixed);
  std::map<std::string, std::vector<Value>> condition;
  for (auto& [name, values] : space.condition) condition.emplace(renamed(name), std::move(values));
  space.condition = std::move(condition);
  for (Space& part : space.parts) RenameInSpace(part, names);
}

}  // namespace muster
