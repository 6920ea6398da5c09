#include "evaluator/influence.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/clock.h"

namespace muster {
namespace {

constexpr std::size_t kMostEvaluations = 200;

std::vector<Value> Nudged(std::int64_t value) {
  std::vector<Value> nudged = {Value(value * 2), Value(value + 1)};
  if (value % 2 == 0 && value != 0) nudged.emplace_back(value / 2);
  nudged.emplace_back(value - 1);
  return nudged;
}

// Other values of the parameter, the likeliest to be possible first.
std::vector<Value> Nudged(const ParameterState& state) {
  const Parameter& parameter = state.parameter;
  if (!state.active || !state.value || parameter.type == ParameterType::kSecret) return {};
  if (!parameter.one_of.empty()) {
    std::vector<Value> others;
    for (const Value& other : parameter.one_of) {
      if (other != *state.value) others.push_back(other);
    }
    return others;
  }
  if (const bool* flag = state.value->AsBool()) return {Value(!*flag)};
  constexpr std::int64_t kLargest = std::int64_t{1} << 50;
  if (const std::int64_t* integer = state.value->AsInt();
      integer != nullptr && *integer < kLargest && -kLargest < *integer) {
    return Nudged(*integer);
  }
  if (state.value->IsNumber()) return {Value(state.value->Number() / 2), Value(state.value->Number() * 2)};
  if (const std::string* text = state.value->AsString()) return {Value(*text + "x")};
  return {};
}

}  // namespace

std::vector<std::string> ParametersLeadingTo(const EvaluationOptions& options, const std::string& derived) {
  EvaluationOptions again = options;
  again.describe_only = false;
  again.derive_only = true;
  again.pins.clear();
  again.on_print = nullptr;
  again.on_wait = nullptr;
  // What made somebody ask is not there.
  std::erase_if(again.overrides, [&](const Override& override) { return override.name == derived; });
  const auto as_it_is = EvaluateRecipe(again);
  if (!as_it_is) return {};
  const auto value = as_it_is->derived.find(derived);
  if (value == as_it_is->derived.end()) return {};

  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t begin = MonotonicNowNs();
  std::uint64_t seconds = 0;  // that were told
  std::size_t evaluations = 0;
  const auto leads = [&](const std::string& name, const std::vector<Value>& nudged) {
    for (const Value& other : nudged) {
      if (++evaluations > kMostEvaluations) return false;
      const std::uint64_t passed = (MonotonicNowNs() - begin) / kSecond;
      if (passed > seconds && options.on_wait) options.on_wait(static_cast<unsigned>(passed));
      seconds = passed;
      EvaluationOptions changed = again;
      Override& override = changed.overrides.emplace_back();
      override.kind = Override::Kind::kValue;
      override.name = name;
      override.value = other;
      const auto evaluation = EvaluateRecipe(changed);
      if (!evaluation) continue;
      const auto then = evaluation->derived.find(derived);
      if (then != evaluation->derived.end()) return then->second != value->second;
    }
    return false;
  };
  std::vector<std::string> names;
  for (const ParameterState& state : as_it_is->parameters) {
    if (leads(state.parameter.name, Nudged(state))) names.push_back(state.parameter.name);
  }
  if (leads("cluster.hosts", Nudged(std::int64_t{as_it_is->hosts}))) names.emplace_back("hosts");
  if (leads("cluster.devices_per_host", Nudged(std::int64_t{as_it_is->devices_per_host}))) {
    names.emplace_back("devices_per_host");
  }
  return names;
}

}  // namespace muster
