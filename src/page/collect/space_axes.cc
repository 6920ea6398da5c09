#include "page/collect/space_axes.h"

#include <algorithm>
#include <cmath>

#include "settings/values/value_json.h"

namespace muster {
namespace {

constexpr std::size_t kDeepest = 32;

// Numbers that were listed: several of them a constant factor apart, such as 1e-4, 1e-3, 1e-2 or 64, 128, 256.
bool IsGeometric(const std::vector<Value>& values) {
  std::vector<double> numbers;
  for (const Value& value : values) {
    if (!value.IsNumber() || value.Number() <= 0) return false;
    numbers.push_back(value.Number());
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers.size() > 2 && numbers.back() / numbers.front() >= 8 &&
         (numbers[1] - numbers[0]) * 3 < numbers.back() - numbers[numbers.size() - 2];
}

void AddAxis(const Value& axis, std::map<std::string, SpaceAxis>& axes) {
  const Value* name = FieldOf(axis, "name");
  const Value* kind = FieldOf(axis, "axis");
  if (name == nullptr || name->AsString() == nullptr || kind == nullptr || kind->AsString() == nullptr) return;
  SpaceAxis& added = axes[*name->AsString()];
  const std::string& of = *kind->AsString();
  if (const Value* values = FieldOf(axis, "values"); values != nullptr && values->AsList() != nullptr) {
    for (const Value& value : *values->AsList()) {
      if (std::find(added.choices.begin(), added.choices.end(), value) == added.choices.end()) {
        added.choices.push_back(value);
      }
    }
    added.log = added.log || IsGeometric(added.choices);
    return;
  }
  const Value* low = FieldOf(axis, "low");
  const Value* high = FieldOf(axis, "high");
  if (low == nullptr || high == nullptr || !low->IsNumber() || !high->IsNumber()) return;
  added.log = of == "log_uniform" || of == "int_log_uniform";
  added.whole = of == "int_log_uniform";
  if (const Value* step = FieldOf(axis, "step"); step != nullptr && of == "range") {
    added.whole =
        step->IsNumber() && step->Number() == std::floor(step->Number()) && low->Number() == std::floor(low->Number());
  }
  std::pair<double, double> domain(low->Number(), high->Number());
  if (added.domain) {  // of another part of a union
    domain.first = std::min(domain.first, added.domain->first);
    domain.second = std::max(domain.second, added.domain->second);
  }
  if (domain.first <= domain.second) added.domain = domain;
}

void Walk(const Value& space, std::size_t depth, std::map<std::string, SpaceAxis>& axes) {
  const Value* kind = FieldOf(space, "kind");
  if (depth > kDeepest || kind == nullptr) return;
  if (*kind == Value("axis")) AddAxis(space, axes);
  if (const Value* parts = FieldOf(space, "parts"); parts != nullptr && parts->AsList() != nullptr) {
    for (const Value& part : *parts->AsList()) Walk(part, depth + 1, axes);
  }
}

}  // namespace

std::map<std::string, SpaceAxis> SpaceAxes(const Value& space) {
  std::map<std::string, SpaceAxis> axes;
  Walk(space, 0, axes);
  return axes;
}

}  // namespace muster
