#include "evaluator/influence.h"

#include <cstdint>
#include <utility>

#include "base/system/clock.h"
#include "plan/text/plan_diff.h"
#include "settings/parameters/nudge.h"

namespace muster {
namespace {

constexpr std::size_t kMostEvaluations = 200;

std::vector<Value> Nudged(const ParameterState& state) {
  return state.active && state.value ? Nudges(state.parameter, *state.value) : std::vector<Value>();
}

// Changed values of hosts or devices_per_host.
std::vector<Value> NudgedCount(std::uint32_t count, double least) {
  Parameter parameter;
  parameter.type = ParameterType::kInt;
  parameter.min = least;
  return Nudges(parameter, Value(std::int64_t{count}));
}

}  // namespace

std::vector<std::string> ParametersWithoutEffect(Evaluator& evaluator, const EvaluationOptions& options,
                                                 const Evaluation& as_it_is) {
  constexpr int kMostPlans = 3;
  std::vector<std::string> names;
  for (const ParameterState& state : as_it_is.parameters) {
    int plans = 0;
    bool changes = false;
    for (Value& other : Nudged(state)) {
      if (plans == kMostPlans || changes) break;
      EvaluationOptions changed = options;
      changed.overrides.push_back(ValueOverride(state.parameter.name, std::move(other)));
      const auto evaluation = evaluator.Evaluate(changed);
      if (!evaluation) continue;
      ++plans;
      changes = !DiffPlans(as_it_is.plan, evaluation->plan).empty();
    }
    if (plans > 0 && !changes) names.push_back(state.parameter.name);
  }
  return names;
}

std::vector<std::string> ParametersLeadingTo(const EvaluationOptions& options, const std::string& derived) {
  EvaluationOptions again = options;
  again.depth = EvaluationDepth::kDerived;
  again.pins.clear();
  again.on_print = nullptr;
  again.on_wait = nullptr;
  // Without the override of the derived value itself.
  std::erase_if(again.overrides, [&](const Override& override) { return override.name == derived; });
  Evaluator evaluator;
  const auto as_it_is = evaluator.Evaluate(again);
  if (!as_it_is) return {};
  const auto value = as_it_is->derived.find(derived);
  if (value == as_it_is->derived.end()) return {};

  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t begin = MonotonicNowNs();
  std::uint64_t seconds = 0;  // reported so far
  std::size_t evaluations = 0;
  const auto leads = [&](const std::string& name, const std::vector<Value>& nudged) {
    for (const Value& other : nudged) {
      if (++evaluations > kMostEvaluations) return false;
      const std::uint64_t passed = (MonotonicNowNs() - begin) / kSecond;
      if (passed > seconds && options.on_wait) options.on_wait(static_cast<unsigned>(passed));
      seconds = passed;
      EvaluationOptions changed = again;
      changed.overrides.push_back(ValueOverride(name, other));
      const auto evaluation = evaluator.Evaluate(changed);
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
  if (leads("cluster.hosts", NudgedCount(as_it_is->hosts, 1))) names.emplace_back("hosts");
  if (leads("cluster.devices_per_host", NudgedCount(as_it_is->devices_per_host, 0))) {
    names.emplace_back("devices_per_host");
  }
  return names;
}

}  // namespace muster
