#include "space/space.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/suggest.h"

namespace muster {
namespace {

constexpr std::uint64_t kMostPoints = std::uint64_t{1} << 53U;
constexpr std::uint64_t kMostCases = 1'000'000;  // combinations of axes that parts of a product depend on

Diagnostic SpaceError(const Place& place, std::string message, std::string hint = {}) {
  return Error("space", place, std::move(message), std::move(hint));
}

std::string Joined(const std::set<std::string>& names, char between) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += between;
    text += name;
  }
  return text;
}

std::string ListText(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

bool Holds(const std::map<std::string, std::vector<Value>>& condition, const Point& point) {
  return std::all_of(condition.begin(), condition.end(), [&](const auto& wanted) {
    const auto found = point.find(wanted.first);
    return found != point.end() &&
           std::find(wanted.second.begin(), wanted.second.end(), found->second) != wanted.second.end();
  });
}

}  // namespace

// A part of a compiled space: how many discrete points it has, and each of them.
class CompiledSpace::Node {
 public:
  virtual ~Node() = default;
  virtual std::uint64_t size() const = 0;  // of the discrete points
  virtual void AddAt(std::uint64_t index, Point& point) const = 0;
  virtual void AddFrom(const Coordinate& coordinate, Point& point) const = 0;
  virtual void ListDimensions(std::vector<std::string>& dimensions) const = 0;
  virtual void ListContinuous(std::vector<Axis>& axes) const = 0;

  std::set<std::string> names;
};

namespace {

using Node = CompiledSpace::Node;
using Parts = std::vector<std::unique_ptr<Node>>;

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

  Parts parts;
};

// The n-th point of a product of parts in mixed radix, the last turning fastest.
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

struct Conditional {
  std::map<std::string, std::vector<Value>> condition;
  std::unique_ptr<Node> part;
};

class ProductNode : public NodeOfParts {
 public:
  ProductNode(Parts given, std::vector<Conditional> conditionals)
      : NodeOfParts(std::move(given)), conditionals_(std::move(conditionals)) {
    std::set<std::string> deciding;
    for (const Conditional& each : conditionals_) {
      names.insert(each.part->names.begin(), each.part->names.end());
      for (const auto& [name, unused] : each.condition) deciding.insert(name);
    }
    for (const auto& part : parts) {
      const bool decides = std::any_of(part->names.begin(), part->names.end(),
                                       [&](const std::string& name) { return deciding.contains(name); });
      (decides ? deciding_ : free_).push_back(part.get());
    }
  }

  // Whether there are few enough cases; before anything else is asked.
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
    for (const Conditional& each : conditionals_) {
      if (Holds(each.condition, own)) each.part->AddFrom(coordinate, own);
    }
    point.merge(own);
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override {
    NodeOfParts::ListDimensions(dimensions);
    for (const Conditional& each : conditionals_) each.part->ListDimensions(dimensions);
  }
  void ListContinuous(std::vector<Axis>& axes) const override {
    NodeOfParts::ListContinuous(axes);
    for (const Conditional& each : conditionals_) each.part->ListContinuous(axes);
  }

 private:
  std::vector<const Node*> Active(const Point& decided) const {
    std::vector<const Node*> active;
    for (const Conditional& each : conditionals_) {
      if (Holds(each.condition, decided)) active.push_back(each.part.get());
    }
    return active;
  }

  std::vector<Conditional> conditionals_;
  std::vector<const Node*> free_;
  std::vector<const Node*> deciding_;
  std::vector<std::uint64_t> ends_;  // where the points of each case end
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
  explicit UnionNode(Parts given) : NodeOfParts(std::move(given)), dimension_(Joined(names, '|')) {
    for (const auto& part : parts) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + part->size());
  }
  std::uint64_t size() const override { return ends_.back(); }
  void AddAt(std::uint64_t index, Point& point) const override {
    const std::size_t part = PartOf(index);
    parts[part]->AddAt(part == 0 ? index : index - ends_[part - 1], point);
  }
  void AddFrom(const Coordinate& coordinate, Point& point) const override {
    const auto index = static_cast<std::uint64_t>(coordinate(dimension_) * static_cast<double>(size()));
    parts[PartOf(std::min(index, size() - 1))]->AddFrom(coordinate, point);
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override {
    dimensions.push_back(dimension_);
    NodeOfParts::ListDimensions(dimensions);
  }

 private:
  std::size_t PartOf(std::uint64_t index) const {
    return static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  }
  std::string dimension_;
  std::vector<std::uint64_t> ends_;
};

bool IsCountable(const Node& node) {
  std::vector<Axis> continuous;
  node.ListContinuous(continuous);
  return continuous.empty();
}

class Compiler {
 public:
  std::unique_ptr<Node> Compile(const Space& space) {
    if (++depth_ > kDeepest) {
      Report(space, "spaces are nested too deeply");
      return nullptr;
    }
    auto node = CompileKind(space);
    --depth_;
    return node;
  }

  Diagnostics problems;

 private:
  static constexpr int kDeepest = 64;

  void Report(const Space& space, std::string message, std::string hint = {}) {
    problems.push_back(SpaceError(space.place, std::move(message), std::move(hint)));
  }

  bool KeepSize(const Space& space, double size) {
    approximate_.push_back(size);
    if (size <= static_cast<double>(kMostPoints)) return true;
    Report(space, "there are more than 2^53 points", "larger steps, or fewer axes");
    return false;
  }

  // Leaves the size of what it compiled, as a double that cannot overflow, at the end of `approximate_`.
  std::unique_ptr<Node> CompileKind(const Space& space) {
    switch (space.kind) {
      case Space::Kind::kAxis: {
        if (auto sound = CheckAxis(in_zip_ ? WithoutRepeats(space.axis) : space.axis, space.place); !sound) {
          problems.insert(problems.end(), sound.error().begin(), sound.error().end());
          return nullptr;
        }
        auto node = std::make_unique<AxisNode>(space.axis);
        approximate_.push_back(static_cast<double>(node->size()));
        return node;
      }
      case Space::Kind::kFixed:
        approximate_.push_back(1);
        return std::make_unique<FixedNode>(space.fixed);
      case Space::Kind::kProduct:
        return CompileProduct(space);
      case Space::Kind::kZip:
        return CompileZip(space);
      case Space::Kind::kUnion:
        return CompileUnion(space);
      case Space::Kind::kWhen:
        Report(space, "when stands outside a product",
               "product { optimizer = choice { \"adam\", \"sgd\" }, when({ optimizer = \"adam\" }, …) }");
        return nullptr;
    }
    return nullptr;
  }

  // All parts, or nothing if one is wrong; their sizes as doubles.
  std::optional<Parts> CompileParts(const std::vector<const Space*>& spaces, std::vector<double>& sizes) {
    Parts parts;
    bool sound = true;
    for (const Space* space : spaces) {
      auto part = Compile(*space);
      sound = sound && part != nullptr;
      if (!part) continue;
      sizes.push_back(approximate_.back());
      approximate_.pop_back();
      parts.push_back(std::move(part));
    }
    return sound ? std::optional(std::move(parts)) : std::nullopt;
  }

  static std::vector<const Space*> AllOf(const Space& space) {
    std::vector<const Space*> parts;
    for (const Space& part : space.parts) parts.push_back(&part);
    return parts;
  }

  // Names that several parts have.
  bool AreDistinct(const Space& space, const std::vector<const Node*>& parts) {
    std::set<std::string> names;
    bool distinct = true;
    for (const Node* part : parts) {
      for (const std::string& name : part->names) {
        if (names.insert(name).second) continue;
        Report(space, name + " is given twice", "choices between spaces are a union { … }");
        distinct = false;
      }
    }
    return distinct;
  }

  std::unique_ptr<Node> CompileProduct(const Space& space) {
    std::vector<const Space*> always;
    std::vector<const Space*> inside;
    std::vector<const Space*> whens;
    bool sound = true;
    for (const Space& part : space.parts) {
      if (part.kind != Space::Kind::kWhen) {
        always.push_back(&part);
      } else if (part.parts.size() != 1 || part.condition.empty()) {
        Report(part, "when wants a condition and a space");
        sound = false;
      } else {
        whens.push_back(&part);
        inside.push_back(&part.parts.front());
      }
    }
    std::vector<double> sizes;
    auto parts = CompileParts(always, sizes);
    auto conditional = CompileParts(inside, sizes);
    if (!sound || !parts || !conditional) return nullptr;
    std::set<std::string> names;
    std::vector<const Node*> all;
    for (const auto& part : *parts) {
      all.push_back(part.get());
      names.insert(part->names.begin(), part->names.end());
    }
    for (const auto& part : *conditional) all.push_back(part.get());
    if (!AreDistinct(space, all)) return nullptr;
    std::vector<Conditional> conditionals;
    for (std::size_t i = 0; i < whens.size(); ++i) {
      for (const auto& [name, values] : whens[i]->condition) {
        if (!names.contains(name)) {
          Report(*whens[i], "when: " + name + " is no axis of the product in which it stands",
                 DidYouMean(name, std::vector<std::string>(names.begin(), names.end())));
          sound = false;
        }
      }
      conditionals.push_back({whens[i]->condition, std::move((*conditional)[i])});
    }
    if (!sound) return nullptr;
    double size = 1;
    for (const double each : sizes) size *= each;
    if (!KeepSize(space, size)) return nullptr;
    for (const Conditional& each : conditionals) {
      for (const auto& part : *parts) {
        const bool decides = std::any_of(each.condition.begin(), each.condition.end(),
                                         [&](const auto& wanted) { return part->names.contains(wanted.first); });
        if (!decides || IsCountable(*part)) continue;
        Report(space, "when depends on an axis that has no values to count: " + ListText(part->names),
               "choice { … } and range have them");
        return nullptr;
      }
    }
    auto node = std::make_unique<ProductNode>(*std::move(parts), std::move(conditionals));
    if (!node->CountCases()) {
      Report(space, "when depends on axes that have more than a million values together");
      return nullptr;
    }
    return node;
  }

  std::unique_ptr<Node> CompileZip(const Space& space) {
    if (space.parts.empty()) {
      Report(space, "zip has no parts", "zip { a = { 1, 2 }, b = { 8, 4 } }");
      return nullptr;
    }
    std::vector<double> sizes;
    const bool outer = std::exchange(in_zip_, true);
    auto parts = CompileParts(AllOf(space), sizes);
    in_zip_ = outer;
    if (!parts) return nullptr;
    std::vector<const Node*> all;
    for (const auto& part : *parts) all.push_back(part.get());
    if (!AreDistinct(space, all)) return nullptr;
    for (const auto& part : *parts) {
      if (!IsCountable(*part)) {
        Report(space, "zip: " + ListText(part->names) + " has no values to count", "choice { … } and range have them");
        return nullptr;
      }
      if (part->size() != parts->front()->size()) {
        Report(space, "zip: " + ListText(parts->front()->names) + " has " + std::to_string(parts->front()->size()) +
                          " values, and " + ListText(part->names) + " has " + std::to_string(part->size()));
        return nullptr;
      }
    }
    approximate_.push_back(sizes.front());
    return std::make_unique<ZipNode>(*std::move(parts));
  }

  std::unique_ptr<Node> CompileUnion(const Space& space) {
    if (space.parts.empty()) {
      Report(space, "union has no parts", "union { { hosts = 2 }, { hosts = 4 } }");
      return nullptr;
    }
    std::vector<double> sizes;
    auto parts = CompileParts(AllOf(space), sizes);
    if (!parts) return nullptr;
    double size = 0;
    for (const double each : sizes) size += each;
    if (!KeepSize(space, size)) return nullptr;
    return std::make_unique<UnionNode>(*std::move(parts));
  }

  // Of the values of a zip several may be alike: the others that belong to them differ.
  static Axis WithoutRepeats(Axis axis) {
    for (std::size_t i = 1; i < axis.values.size();) {
      const auto here = axis.values.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(axis.values.begin(), here, *here) != here) {
        axis.values.erase(here);
      } else {
        ++i;
      }
    }
    return axis;
  }

  std::vector<double> approximate_;
  int depth_ = 0;
  bool in_zip_ = false;
};

}  // namespace

CompiledSpace::CompiledSpace(std::unique_ptr<Node> root) : root_(std::move(root)) {
  root_->ListContinuous(continuous_);
  // Parts of a union may share a name: it is one coordinate.
  std::vector<std::string> dimensions;
  root_->ListDimensions(dimensions);
  std::set<std::string> known;
  for (std::string& dimension : dimensions) {
    if (known.insert(dimension).second) dimensions_.push_back(std::move(dimension));
  }
  names_.assign(root_->names.begin(), root_->names.end());
}
CompiledSpace::CompiledSpace(CompiledSpace&&) noexcept = default;
CompiledSpace& CompiledSpace::operator=(CompiledSpace&&) noexcept = default;
CompiledSpace::~CompiledSpace() = default;

Result<CompiledSpace> CompiledSpace::Of(const Space& space) {
  Compiler compiler;
  auto root = compiler.Compile(space);
  if (!compiler.problems.empty()) return Fail(std::move(compiler.problems));
  return CompiledSpace(std::move(root));
}

std::optional<std::uint64_t> CompiledSpace::size() const {
  return continuous_.empty() ? std::optional(root_->size()) : std::nullopt;
}
std::uint64_t CompiledSpace::discrete_size() const { return root_->size(); }
const std::vector<std::string>& CompiledSpace::dimensions() const { return dimensions_; }
const std::vector<std::string>& CompiledSpace::names() const { return names_; }
const std::vector<Axis>& CompiledSpace::continuous() const { return continuous_; }

Point CompiledSpace::At(std::uint64_t index) const { return DiscreteAt(index); }
Point CompiledSpace::DiscreteAt(std::uint64_t index) const {
  Point point;
  root_->AddAt(index, point);
  return point;
}
Point CompiledSpace::From(const Coordinate& coordinate) const {
  Point point;
  root_->AddFrom(coordinate, point);
  return point;
}

}  // namespace muster
