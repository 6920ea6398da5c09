#include "space/space.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

#include "base/values/diagnostics.h"
#include "base/values/fingerprint.h"
#include "base/values/number_text.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::size_t kIdDigits = 16;

Value Canonical(const Value& value) {
  if (const double* number = value.AsDouble(); number != nullptr && *number == 0) return Value(0.0);
  if (const Value::List* list = value.AsList()) {
    Value::List canonical;
    for (const Value& element : *list) canonical.push_back(Canonical(element));
    return Value(std::move(canonical));
  }
  if (const Value::Map* map = value.AsMap()) {
    Value::Map canonical;
    for (const auto& [name, element] : *map) canonical.emplace(name, Canonical(element));
    return Value(std::move(canonical));
  }
  return value;
}

}  // namespace

std::string PointId(const Point& point) { return Sha256Hex(ToText(Canonical(Value(point)))).substr(0, kIdDigits); }

std::optional<std::uint64_t> PointNumber(const std::string& id) { return ParseNumber<std::uint64_t>(id, 16); }

std::string PointText(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point) {
    text += (text.empty() ? "" : ", ") + name + "=" + (value.AsString() != nullptr ? *value.AsString() : ToText(value));
  }
  return text;
}

namespace {

constexpr double kMaxWhole = 9007199254740992;  // 2^53: all whole numbers up to this are exact as double

std::uint64_t Steps(const Axis& axis) {
  return static_cast<std::uint64_t>(std::llround((axis.high - axis.low) / axis.step));
}

double Rounded(double number, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, number);
  return std::strtod(text, nullptr);
}

// 0.1 + 2 × 0.1 becomes 0.3: rounds to the few digits that the step's author meant.
double Tidy(double number) { return Rounded(number, 15); }

// Drawn values have six significant digits, so that people can type them; more if the axis is so narrow that rounding
// would leave it.
double Typeable(double number, double low, double high) {
  for (int digits = 6; digits <= 17; ++digits) {
    const double rounded = Rounded(number, digits);
    if (rounded >= low && rounded < high) return rounded;
  }
  return std::clamp(number, low, std::nextafter(high, low));
}

}  // namespace

Result<void> CheckAxis(const Axis& axis, const Place& place, bool repeats) {
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    return Fail(Error("space", place, "axis " + axis.name + ": " + why, hint));
  };
  if (axis.kind == Axis::Kind::kChoice) {
    if (axis.values.empty()) return refuse("there is no value to choose", "choice { 1, 2, 4 }");
    for (std::size_t i = 0; !repeats && i < axis.values.size(); ++i) {
      for (std::size_t k = i + 1; k < axis.values.size() && axis.values.size() <= 1000; ++k) {
        if (axis.values[i] == axis.values[k]) {
          return refuse("the value " + ToText(axis.values[i]) + " is given twice", "each point is tried once");
        }
      }
    }
    return {};
  }
  const std::string ends = NumberText(axis.low) + " to " + NumberText(axis.high);
  if (!std::isfinite(axis.low) || !std::isfinite(axis.high)) return refuse("its ends are no numbers: " + ends, "");
  const bool one_value_is_fine = axis.kind == Axis::Kind::kRange || axis.kind == Axis::Kind::kIntLogUniform;
  if (axis.low > axis.high || (!one_value_is_fine && axis.low == axis.high)) {
    return refuse("from " + ends + " there is nothing", "the lower end comes first");
  }
  if (axis.kind == Axis::Kind::kRange) {
    if (!(axis.step > 0) || !std::isfinite(axis.step))
      return refuse("the step must be above 0, got " + NumberText(axis.step), "");
    const double steps = (axis.high - axis.low) / axis.step;
    if (steps > 1e15) return refuse("there are too many values", "a larger step");
    if (std::abs(steps - std::round(steps)) > 1e-9 * std::max(1.0, steps)) {
      const double last = Tidy(axis.low + std::floor(steps) * axis.step);
      return refuse("steps of " + NumberText(axis.step) + " from " + ends + " do not land on the upper end",
                    "the last would be " + NumberText(last));
    }
  }
  if (axis.kind == Axis::Kind::kLogUniform && !(axis.low > 0)) {
    return refuse("a logarithmic axis needs numbers above 0, got " + ends, "");
  }
  if (axis.kind == Axis::Kind::kIntLogUniform &&
      (axis.low < 1 || axis.high >= kMaxWhole || std::floor(axis.low) != axis.low ||
       std::floor(axis.high) != axis.high)) {
    return refuse("expected integers from 1, got " + ends, "");
  }
  return {};
}

std::optional<std::uint64_t> CountOf(const Axis& axis) {
  if (axis.kind == Axis::Kind::kChoice) return axis.values.size();
  if (axis.kind == Axis::Kind::kRange) return Steps(axis) + 1;
  return std::nullopt;
}

Value ValueAt(const Axis& axis, std::uint64_t index) {
  if (axis.kind == Axis::Kind::kChoice) return axis.values[index];
  const double number = Tidy(axis.low + static_cast<double>(index) * axis.step);
  if (axis.whole) return Value(static_cast<std::int64_t>(std::llround(number)));
  return Value(number);
}

Value ValueFrom(const Axis& axis, double u) {
  if (const auto count = CountOf(axis)) {
    const auto index = static_cast<std::uint64_t>(u * static_cast<double>(*count));
    return ValueAt(axis, std::min(index, *count - 1));
  }
  if (axis.kind == Axis::Kind::kUniform)
    return Value(Typeable(axis.low + u * (axis.high - axis.low), axis.low, axis.high));
  const double low = std::log(axis.low);
  if (axis.kind == Axis::Kind::kLogUniform) {
    return Value(Typeable(std::exp(low + u * (std::log(axis.high) - low)), axis.low, axis.high));
  }
  const double number = std::floor(std::exp(low + u * (std::log(axis.high + 1) - low)));
  return Value(static_cast<std::int64_t>(std::clamp(number, axis.low, axis.high)));
}

std::string AxisText(const Axis& axis) {
  if (axis.kind == Axis::Kind::kChoice) return ToText(Value(Value::List(axis.values.begin(), axis.values.end())));
  std::string text = std::string(AxisKindName(axis.kind)) + "(" + NumberText(axis.low) + ", " + NumberText(axis.high);
  if (axis.kind == Axis::Kind::kRange) text += ", " + NumberText(axis.step);
  return text + ")";
}

namespace {

bool IsSame(const Value& one, const Value& other) {
  return one == other || (one.IsNumber() && other.IsNumber() && one.Number() == other.Number());
}

// Whether they are numbers that rise or fall.
bool AreOrdered(const std::vector<Value>& values) {
  if (!std::all_of(values.begin(), values.end(), [](const Value& value) { return value.IsNumber(); })) return false;
  const auto falls = [](const Value& one, const Value& other) { return one.Number() >= other.Number(); };
  const auto rises = [](const Value& one, const Value& other) { return one.Number() <= other.Number(); };
  return std::adjacent_find(values.begin(), values.end(), falls) == values.end() ||
         std::adjacent_find(values.begin(), values.end(), rises) == values.end();
}

Span SpanOf(std::uint64_t index, std::uint64_t count, bool ordered) {
  const auto at = [&](std::uint64_t end) { return static_cast<double>(end) / static_cast<double>(count); };
  return {at(index), at(index + 1), ordered};
}

// The inverse of ValueFrom.
std::optional<Span> LocateOn(const Axis& axis, const Value& value) {
  if (axis.kind == Axis::Kind::kChoice) {
    const auto found =
        std::find_if(axis.values.begin(), axis.values.end(), [&](const Value& one) { return IsSame(one, value); });
    if (found == axis.values.end()) return std::nullopt;
    return SpanOf(static_cast<std::uint64_t>(found - axis.values.begin()), axis.values.size(), AreOrdered(axis.values));
  }
  const double number = value.Number();
  if (!value.IsNumber() || number < axis.low || number > axis.high) return std::nullopt;
  switch (axis.kind) {
    case Axis::Kind::kRange: {
      const auto index = static_cast<std::uint64_t>(std::llround((number - axis.low) / axis.step));
      // 0.1 + 0.2 is the 0.3 of the axis.
      const double off = std::abs(ValueAt(axis, std::min(index, Steps(axis))).Number() - number);
      if (off > 1e-9 * axis.step) return std::nullopt;
      return SpanOf(index, Steps(axis) + 1, true);
    }
    case Axis::Kind::kIntLogUniform: {
      if (std::floor(number) != number) return std::nullopt;
      const double low = std::log(axis.low);
      const double range = std::log(axis.high + 1) - low;
      return Span{(std::log(number) - low) / range, (std::log(number + 1) - low) / range, true};
    }
    default: {
      const bool log = axis.kind == Axis::Kind::kLogUniform;
      const double u = log ? (std::log(number) - std::log(axis.low)) / (std::log(axis.high) - std::log(axis.low))
                           : (number - axis.low) / (axis.high - axis.low);
      return Span{u, u, true};
    }
  }
}

}  // namespace

// The nodes of a compiled space: the number of points of each, and its n-th point. CompiledSpace checks which
// combinations are valid.

using Spans = std::map<std::string, Span>;

// A node of a compiled space: its number of discrete points, and each of them.
class CompiledSpace::Node {
 public:
  virtual ~Node() = default;
  virtual std::uint64_t size() const = 0;  // number of discrete points
  virtual void AddAt(std::uint64_t index, Point& point) const = 0;
  virtual void AddFrom(const Coordinate& coordinate, Point& point) const = 0;
  // The inverse of AddFrom: adds the dimensions that it asks for this point. The number of the point's names that are
  // from here; nothing if it does not have such a point.
  virtual std::optional<std::size_t> Locate(const Point& point, Spans& spans) const = 0;
  virtual void ListDimensions(std::vector<std::string>& dimensions) const = 0;
  // Of the dimensions that have other names than users know.
  virtual void ListLabels(std::map<std::string, std::string>& labels) const = 0;
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
// At least one part. `weights` as in Space; `label`: see CompiledSpace::LabelOf.
std::unique_ptr<SpaceNode> UnionNodeOf(SpaceParts parts, const std::vector<double>& weights, std::string label);

// Whether all its axes are countable.
bool IsCountable(const SpaceNode& node);

namespace {

using Node = SpaceNode;
using Parts = SpaceParts;

constexpr std::uint64_t kMaxCases = 1'000'000;  // combinations of axes that conditions depend on

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
  std::optional<std::size_t> Locate(const Point& point, Spans& spans) const override {
    const auto value = point.find(axis_.name);
    const auto span = value == point.end() ? std::nullopt : LocateOn(axis_, value->second);
    if (!span) return std::nullopt;
    spans[axis_.name] = *span;
    return 1;
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override { dimensions.push_back(axis_.name); }
  void ListLabels(std::map<std::string, std::string>&) const override {}
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
  std::optional<std::size_t> Locate(const Point& point, Spans&) const override {
    const bool same = std::all_of(fixed_.begin(), fixed_.end(), [&](const auto& value) {
      const auto found = point.find(value.first);
      return found != point.end() && IsSame(found->second, value.second);
    });
    return same ? std::optional(fixed_.size()) : std::nullopt;
  }
  void ListDimensions(std::vector<std::string>&) const override {}
  void ListLabels(std::map<std::string, std::string>&) const override {}
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
  void ListLabels(std::map<std::string, std::string>& labels) const override {
    for (const auto& part : parts) part->ListLabels(labels);
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
    if (cases > kMaxCases) return false;
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
  std::optional<std::size_t> Locate(const Point& point, Spans& spans) const override {
    std::vector<const Node*> all;
    for (const auto& part : parts) all.push_back(part.get());
    for (const Node* part : Active(point)) all.push_back(part);
    std::size_t names_here = 0;
    for (const Node* part : all) {
      const auto located = part->Locate(point, spans);
      if (!located) return std::nullopt;
      names_here += *located;
    }
    return names_here;
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override {
    NodeOfParts::ListDimensions(dimensions);
    for (const ConditionalPart& each : conditionals_) each.part->ListDimensions(dimensions);
  }
  void ListLabels(std::map<std::string, std::string>& labels) const override {
    NodeOfParts::ListLabels(labels);
    for (const ConditionalPart& each : conditionals_) each.part->ListLabels(labels);
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
  explicit ZipNode(Parts given) : NodeOfParts(std::move(given)), dimension_(Joined(names, "+")) {}
  std::uint64_t size() const override { return parts.front()->size(); }
  void AddAt(std::uint64_t index, Point& point) const override {
    for (const auto& part : parts) part->AddAt(index, point);
  }
  void AddFrom(const Coordinate& coordinate, Point& point) const override {
    const auto index = static_cast<std::uint64_t>(coordinate(dimension_) * static_cast<double>(size()));
    AddAt(std::min(index, size() - 1), point);
  }
  std::optional<std::size_t> Locate(const Point& point, Spans& spans) const override {
    for (std::uint64_t index = 0; index < size(); ++index) {
      Point own;
      AddAt(index, own);
      if (!FixedNode(own).Locate(point, spans)) continue;
      spans[dimension_] = SpanOf(index, size(), false);
      return own.size();
    }
    return std::nullopt;
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override { dimensions.push_back(dimension_); }

 private:
  std::string dimension_;
};

class UnionNode : public NodeOfParts {
 public:
  UnionNode(Parts given, const std::vector<double>& weights, std::string label)
      : NodeOfParts(std::move(given)), dimension_(Joined(names, "|")), label_(std::move(label)) {
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
  // In the first part that has the point as a whole.
  std::optional<std::size_t> Locate(const Point& point, Spans& spans) const override {
    const auto here = static_cast<std::size_t>(
        std::count_if(names.begin(), names.end(), [&](const std::string& name) { return point.contains(name); }));
    for (std::size_t part = 0; part < parts.size(); ++part) {
      Spans within;
      if (parts[part]->Locate(point, within) != here) continue;
      spans.merge(within);
      spans[dimension_] = SpanOfPart(part);
      return here;
    }
    return std::nullopt;
  }
  void ListDimensions(std::vector<std::string>& dimensions) const override {
    dimensions.push_back(dimension_);
    NodeOfParts::ListDimensions(dimensions);
  }
  void ListLabels(std::map<std::string, std::string>& labels) const override {
    labels.emplace(dimension_, label_);
    NodeOfParts::ListLabels(labels);
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

  Span SpanOfPart(std::size_t part) const {
    const auto share = [&](const auto& ends) {
      const auto all = static_cast<double>(ends.back());
      return Span{part == 0 ? 0 : static_cast<double>(ends[part - 1]) / all, static_cast<double>(ends[part]) / all,
                  false};
    };
    return weight_ends_.empty() ? share(ends_) : share(weight_ends_);
  }

  std::string dimension_;
  std::string label_;
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

std::unique_ptr<SpaceNode> UnionNodeOf(SpaceParts parts, const std::vector<double>& weights, std::string label) {
  return std::make_unique<UnionNode>(std::move(parts), weights, std::move(label));
}

bool IsCountable(const Node& node) {
  std::vector<Axis> continuous;
  node.ListContinuous(continuous);
  return continuous.empty();
}

bool Holds(const std::map<std::string, std::vector<Value>>& condition, const Point& point) {
  return std::all_of(condition.begin(), condition.end(), [&](const auto& wanted) {
    const auto found = point.find(wanted.first);
    return found != point.end() && std::any_of(wanted.second.begin(), wanted.second.end(),
                                               [&](const Value& value) { return IsSame(value, found->second); });
  });
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

namespace {

constexpr std::uint64_t kMaxPoints = std::uint64_t{1} << 53U;
constexpr double kMaxWeight = 1e9;

Diagnostic SpaceError(const Place& place, std::string message, std::string hint = {}) {
  return Error("space", place, std::move(message), std::move(hint));
}

std::string ListText(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// All values of the name in points of the space; empty if it has none, or cannot be listed.
std::vector<Value> ValuesOf(const Space& space, const std::string& name) {
  if (space.kind == Space::Kind::kFixed) {
    const auto found = space.fixed.find(name);
    return found == space.fixed.end() ? std::vector<Value>() : std::vector{found->second};
  }
  if (space.kind == Space::Kind::kAxis) return space.axis.name == name ? space.axis.values : std::vector<Value>();
  if (space.kind == Space::Kind::kWhen) return {};
  std::vector<Value> values;
  for (const Space& part : space.parts) {
    const std::vector<Value> more = ValuesOf(part, name);
    if (space.kind == Space::Kind::kUnion && more.empty()) return {};
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

// Whether the value of the name says of which part of the union a point is.
bool Decides(const Space& space, const std::string& name) {
  std::vector<Value> before;
  for (const Space& part : space.parts) {
    const std::vector<Value> values = ValuesOf(part, name);
    const bool apart = std::none_of(values.begin(), values.end(), [&](const Value& value) {
      return std::any_of(before.begin(), before.end(), [&](const Value& other) { return IsSame(value, other); });
    });
    if (values.empty() || !apart) return false;
    before.insert(before.end(), values.begin(), values.end());
  }
  return true;
}

// See CompiledSpace::LabelOf. `parts`: those of the union, compiled.
std::string LabelOfUnion(const Space& space, const SpaceParts& parts) {
  std::vector<std::string> within;
  for (const auto& part : parts) part->ListDimensions(within);
  std::vector<std::string> deciding;
  for (const std::string& name : parts.front()->names) {
    if (Decides(space, name)) deciding.push_back(name);
  }
  if (!deciding.empty()) {
    const std::string names = Joined(deciding, "+");
    const bool is_axis = std::find(within.begin(), within.end(), names) != within.end();
    return is_axis ? "part of the union by " + names : names;
  }
  std::vector<std::string> texts;
  for (const auto& part : parts) {
    std::string text = part->names.empty() ? "nothing" : Joined(part->names, "+");
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts.size() == 1 ? "part of the union of " + texts.front() : Joined(texts, " or ");
}

class Compiler {
 public:
  std::unique_ptr<SpaceNode> Compile(const Space& space) {
    if (++depth_ > kMaxDepth) {
      Report(space, "spaces are nested too deeply");
      return nullptr;
    }
    auto node = CompileKind(space);
    --depth_;
    return node;
  }

  Diagnostics problems;

 private:
  static constexpr int kMaxDepth = 64;

  void Report(const Space& space, std::string message, std::string hint = {}) {
    problems.push_back(SpaceError(space.place, std::move(message), std::move(hint)));
  }

  bool KeepSize(const Space& space, double size) {
    approximate_.push_back(size);
    if (size <= static_cast<double>(kMaxPoints)) return true;
    Report(space, "there are more than 2^53 points", "larger steps, or fewer axes");
    return false;
  }

  // Appends the size of the compiled part to `approximate_`, as a double, which cannot overflow.
  std::unique_ptr<SpaceNode> CompileKind(const Space& space) {
    switch (space.kind) {
      case Space::Kind::kAxis: {
        // In a zip each value belongs to other values, so repeated values are distinct points.
        if (auto sound = CheckAxis(space.axis, space.place, in_zip_); !sound) {
          problems.insert(problems.end(), sound.error().begin(), sound.error().end());
          return nullptr;
        }
        auto node = AxisNodeOf(space.axis);
        approximate_.push_back(static_cast<double>(node->size()));
        return node;
      }
      case Space::Kind::kFixed:
        approximate_.push_back(1);
        return FixedNodeOf(space.fixed);
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

  // Compiles all parts and their sizes as doubles; nothing if one is invalid.
  std::optional<SpaceParts> CompileParts(const std::vector<const Space*>& spaces, std::vector<double>& sizes) {
    SpaceParts parts;
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

  // Checks that no name is in several parts.
  bool AreDistinct(const Space& space, const std::vector<const SpaceNode*>& parts) {
    std::set<std::string> names;
    bool distinct = true;
    for (const SpaceNode* part : parts) {
      for (const std::string& name : part->names) {
        if (names.insert(name).second) continue;
        Report(space, name + " is given twice", "choices between spaces are a union { … }");
        distinct = false;
      }
    }
    return distinct;
  }

  std::unique_ptr<SpaceNode> CompileProduct(const Space& space) {
    std::vector<const Space*> always;
    std::vector<const Space*> inside;
    std::vector<const Space*> whens;
    bool sound = true;
    for (const Space& part : space.parts) {
      if (part.kind != Space::Kind::kWhen) {
        always.push_back(&part);
      } else if (part.parts.size() != 1 || part.condition.empty()) {
        Report(part, "when expects a condition and a space");
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
    std::vector<const SpaceNode*> all;
    for (const auto& part : *parts) {
      all.push_back(part.get());
      names.insert(part->names.begin(), part->names.end());
    }
    for (const auto& part : *conditional) all.push_back(part.get());
    if (!AreDistinct(space, all)) return nullptr;
    std::vector<ConditionalPart> conditionals;
    for (std::size_t i = 0; i < whens.size(); ++i) {
      for (const auto& [name, values] : whens[i]->condition) {
        if (!names.contains(name)) {
          Report(*whens[i], "when: " + name + " is not an axis of the product in which it stands",
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
    for (const ConditionalPart& each : conditionals) {
      for (const auto& part : *parts) {
        const bool decides = std::any_of(each.condition.begin(), each.condition.end(),
                                         [&](const auto& wanted) { return part->names.contains(wanted.first); });
        if (!decides || IsCountable(*part)) continue;
        Report(space, "when depends on an axis that has no values to count: " + ListText(part->names),
               "choice { … } and range have them");
        return nullptr;
      }
    }
    auto node = ProductNodeOf(*std::move(parts), std::move(conditionals));
    if (!node) Report(space, "when depends on axes that have more than a million values together");
    return node;
  }

  std::unique_ptr<SpaceNode> CompileZip(const Space& space) {
    if (space.parts.empty()) {
      Report(space, "zip has no parts", "zip { a = { 1, 2 }, b = { 8, 4 } }");
      return nullptr;
    }
    std::vector<double> sizes;
    const bool outer = std::exchange(in_zip_, true);
    auto parts = CompileParts(AllOf(space), sizes);
    in_zip_ = outer;
    if (!parts) return nullptr;
    std::vector<const SpaceNode*> all;
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
    return ZipNodeOf(*std::move(parts));
  }

  std::unique_ptr<SpaceNode> CompileUnion(const Space& space) {
    if (space.parts.empty()) {
      Report(space, "union has no parts", "union { { hosts = 2 }, { hosts = 4 } }");
      return nullptr;
    }
    if (!AreWeights(space)) return nullptr;
    std::vector<double> sizes;
    auto parts = CompileParts(AllOf(space), sizes);
    if (!parts) return nullptr;
    double size = 0;
    for (const double each : sizes) size += each;
    if (!KeepSize(space, size)) return nullptr;
    std::string label = LabelOfUnion(space, *parts);
    return UnionNodeOf(*std::move(parts), space.weights, std::move(label));
  }

  // One positive number for each part, or none at all.
  bool AreWeights(const Space& space) {
    if (space.weights.empty()) return true;
    constexpr const char* kExample = "weights = { 3, 1 }";
    if (space.weights.size() != space.parts.size()) {
      Report(space,
             "union: there are " + std::to_string(space.weights.size()) + " weights for " +
                 std::to_string(space.parts.size()) + " spaces",
             std::string("one weight for each space: ") + kExample);
      return false;
    }
    for (const double weight : space.weights) {
      if (weight > 0 && weight <= kMaxWeight && weight >= 1 / kMaxWeight) continue;
      const bool extreme = weight > 0;
      Report(space,
             std::string("union: a weight must be a number ") + (extreme ? "from 1e-9 to 1e9" : "above 0") + ", got " +
                 NumberText(weight),
             std::string("a share of the draws: ") + kExample + "; leave out a space that is not to be drawn");
      return false;
    }
    return true;
  }

  std::vector<double> approximate_;
  int depth_ = 0;
  bool in_zip_ = false;
};

}  // namespace

namespace {

// The axes and fixed values of the name in the space.
void ListValuesOf(const Space& space, const std::string& name, std::vector<Axis>& axes) {
  if (space.kind == Space::Kind::kAxis && space.axis.name == name) axes.push_back(space.axis);
  if (space.kind == Space::Kind::kFixed && space.fixed.contains(name)) {
    axes.push_back({.name = name, .values = {space.fixed.at(name)}});
  }
  for (const Space& part : space.parts) ListValuesOf(part, name, axes);
}

// Of the conditions of a product, by names of its parts.
void WarnOfConditionsOf(const Space& product, Diagnostics& warnings) {
  for (const Space& when : product.parts) {
    if (when.kind != Space::Kind::kWhen) continue;
    for (const auto& [name, wanted] : when.condition) {
      std::vector<Axis> axes;
      for (const Space& part : product.parts) {
        if (part.kind != Space::Kind::kWhen) ListValuesOf(part, name, axes);
      }
      std::string has;
      std::vector<std::string> words;
      for (const Axis& axis : axes) {
        has += (has.empty() ? "" : " or ") + AxisText(axis);
        for (const Value& value : axis.values) {
          if (value.AsString() != nullptr) words.push_back(*value.AsString());
        }
      }
      for (const Value& value : wanted) {
        const bool can_be =
            std::any_of(axes.begin(), axes.end(), [&](const Axis& axis) { return LocateOn(axis, value).has_value(); });
        if (can_be || axes.empty()) continue;
        const std::string* const word = value.AsString();
        warnings.push_back(Warning("space", when.place,
                                   "when: " + name + " is never " + ToText(value) + ": its values are " + has,
                                   word == nullptr ? "" : DidYouMean(*word, words)));
      }
    }
  }
}

}  // namespace

Diagnostics WarnOfConditions(const Space& space) {
  Diagnostics warnings;
  if (space.kind == Space::Kind::kProduct) WarnOfConditionsOf(space, warnings);
  for (const Space& part : space.parts) {
    const Diagnostics more = WarnOfConditions(part);
    warnings.insert(warnings.end(), more.begin(), more.end());
  }
  return warnings;
}

CompiledSpace::CompiledSpace(std::unique_ptr<SpaceNode> root, Space description)
    : root_(std::move(root)), description_(std::move(description)) {
  root_->ListContinuous(continuous_);
  // Parts of a union may share a name: it has one coordinate then.
  std::vector<std::string> dimensions;
  root_->ListDimensions(dimensions);
  std::set<std::string> known;
  for (std::string& dimension : dimensions) {
    if (known.insert(dimension).second) dimensions_.push_back(std::move(dimension));
  }
  root_->ListLabels(labels_);
  names_.assign(root_->names.begin(), root_->names.end());
}
CompiledSpace::CompiledSpace(CompiledSpace&&) noexcept = default;
CompiledSpace& CompiledSpace::operator=(CompiledSpace&&) noexcept = default;
CompiledSpace::~CompiledSpace() = default;

Result<CompiledSpace> CompiledSpace::Of(const Space& space) {
  Compiler compiler;
  auto root = compiler.Compile(space);
  if (!compiler.problems.empty()) return Fail(std::move(compiler.problems));
  return CompiledSpace(std::move(root), space);
}

std::optional<std::uint64_t> CompiledSpace::size() const {
  return continuous_.empty() ? std::optional(root_->size()) : std::nullopt;
}
std::uint64_t CompiledSpace::discrete_size() const { return root_->size(); }
const std::vector<std::string>& CompiledSpace::dimensions() const { return dimensions_; }
std::string CompiledSpace::LabelOf(const std::string& dimension) const {
  const auto label = labels_.find(dimension);
  return label == labels_.end() ? dimension : label->second;
}
bool CompiledSpace::draws_evenly() const { return root_->DrawsEvenly(); }
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
std::optional<std::map<std::string, Span>> CompiledSpace::Locate(const Point& point) const {
  Spans spans;
  if (root_->Locate(point, spans) != point.size()) return std::nullopt;
  return spans;
}

}  // namespace muster
