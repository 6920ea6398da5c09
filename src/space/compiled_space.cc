#include "space/compiled_space.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/values/suggest.h"
#include "space/space_nodes.h"

namespace muster {
namespace {

constexpr std::uint64_t kMostPoints = std::uint64_t{1} << 53U;
constexpr double kMostWeight = 1e9;

Diagnostic SpaceError(const Place& place, std::string message, std::string hint = {}) {
  return Error("space", place, std::move(message), std::move(hint));
}

std::string ListText(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Compiler {
 public:
  std::unique_ptr<SpaceNode> Compile(const Space& space) {
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
    return UnionNodeOf(*std::move(parts), space.weights);
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
      if (weight > 0 && weight <= kMostWeight && weight >= 1 / kMostWeight) continue;
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

CompiledSpace::CompiledSpace(std::unique_ptr<SpaceNode> root) : root_(std::move(root)) {
  root_->ListContinuous(continuous_);
  // Parts of a union may share a name: it has one coordinate then.
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

}  // namespace muster
