#include "settings/parameters/nudge.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace muster {
namespace {

constexpr double kMostExact = 9007199254740992.0;  // largest number up to which doubles, Lua's numbers, are exact

std::vector<Value> IntNudges(const Parameter& parameter, std::int64_t value) {
  std::vector<Value> values;
  const auto add = [&](double number) {
    if (std::abs(number) <= kMostExact && number == std::floor(number)) {
      values.emplace_back(static_cast<std::int64_t>(number));
    }
  };
  const auto number = static_cast<double>(value);
  // Layouts depend on divisors, so doubles and halves come first.
  for (const double other : {number * 2, number / 2, number + 1, number - 1, number * 4, number / 4, number * 3,
                             number / 3, number + 2, number - 2, 1.0, 2.0}) {
    add(other);
  }
  for (const auto& limit : {parameter.min, parameter.max}) {
    if (limit) add(*limit);
  }
  return values;
}

std::vector<Value> FloatNudges(const Parameter& parameter, double value) {
  std::vector<Value> values;
  for (const double other : {value * 2, value / 2, value + 1, value - 1, value * 1.001, 0.0, 1.0}) {
    if (std::isfinite(other)) values.emplace_back(other);
  }
  for (const auto& limit : {parameter.min, parameter.max}) {
    if (!limit) continue;
    values.emplace_back(*limit);
    values.emplace_back((*limit + value) / 2);
  }
  for (const auto& limit : {parameter.above, parameter.below}) {
    if (limit) values.emplace_back((*limit + value) / 2);
  }
  return values;
}

Value::List ListNudges(const Value::List& value) {
  Value::List nudges;
  if (!value.empty()) {
    Value::List longer = value;
    longer.push_back(value.back());
    Value::List shorter = value;
    shorter.pop_back();
    Value::List turned(value.rbegin(), value.rend());
    nudges.insert(nudges.end(), {Value(std::move(longer)), Value(std::move(shorter)), Value(std::move(turned))});
  } else {
    nudges.insert(nudges.end(), {Value(Value::List{Value(1)}), Value(Value::List{Value("nudged")})});
  }
  return nudges;
}

Value::List MapNudges(const Value::Map& value) {
  Value::List nudges;
  Value::Map more = value;
  more["nudged"] = value.empty() ? Value(1) : value.begin()->second;
  nudges.emplace_back(std::move(more));
  if (!value.empty()) {
    Value::Map less = value;
    less.erase(std::prev(less.end()));
    nudges.emplace_back(std::move(less));
  }
  return nudges;
}

std::vector<Value> Candidates(const Parameter& parameter, const Value& value) {
  if (!parameter.one_of.empty()) return parameter.one_of;
  switch (parameter.type) {
    case ParameterType::kInt:
    case ParameterType::kBytes:
      if (value.AsInt() != nullptr) return IntNudges(parameter, *value.AsInt());
      return {};
    case ParameterType::kFloat:
    case ParameterType::kDuration:
      if (value.IsNumber()) return FloatNudges(parameter, value.Number());
      return {};
    case ParameterType::kBool:
      return {Value(true), Value(false)};
    case ParameterType::kString:
    case ParameterType::kPath:
      if (value.AsString() != nullptr) return {Value(*value.AsString() + "2"), Value("nudged"), Value("")};
      return {};
    case ParameterType::kList:
      if (value.AsList() != nullptr) return ListNudges(*value.AsList());
      return {};
    case ParameterType::kMap:
      if (value.AsMap() != nullptr) return MapNudges(*value.AsMap());
      return {};
    case ParameterType::kEnum:
    case ParameterType::kSecret:
      return {};
  }
  return {};
}

bool Allows(const Parameter& parameter, const Value& value) {
  return CheckParameter(parameter, value, {}, "").has_value();
}

}  // namespace

std::vector<Value> Nudges(const Parameter& parameter, const Value& value) {
  std::vector<Value> nudges;
  for (Value& candidate : Candidates(parameter, value)) {
    // Normalised by the parameter's type: 2.0 and 2 are one value.
    auto settled = CheckParameter(parameter, candidate, {}, "");
    if (!settled || *settled == value || std::find(nudges.begin(), nudges.end(), *settled) != nudges.end()) continue;
    nudges.push_back(*std::move(settled));
  }
  return nudges;
}

WholeNumbers PossibleNumbers(const Parameter& parameter, std::int64_t value, std::span<const std::int64_t> related) {
  constexpr std::int64_t kMost = 128;
  constexpr std::int64_t kSmall = 32;
  const auto bound = [](const std::optional<double>& limit, double otherwise) {
    return static_cast<std::int64_t>(std::clamp(limit.value_or(otherwise), -kMostExact, kMostExact));
  };
  std::int64_t least = parameter.min ? bound(parameter.min, 0) : value < 1 ? value : 1;
  if (parameter.above) least = std::max(least, bound(parameter.above, 0) + 1);
  std::int64_t most = bound(parameter.max, kMostExact);
  if (parameter.below) most = std::min(most, bound(parameter.below, 0) - 1);

  WholeNumbers possible;
  std::set<std::int64_t> numbers;
  const auto add = [&](std::int64_t number) {
    if (number >= least && number <= most && Allows(parameter, Value(number))) numbers.insert(number);
  };
  const auto range = [](std::int64_t from, std::int64_t to) {
    return from == to ? std::to_string(from) : std::to_string(from) + "-" + std::to_string(to);
  };
  if (!parameter.one_of.empty()) {
    for (const Value& one : parameter.one_of) {
      if (one.AsInt() != nullptr) add(*one.AsInt());
    }
    possible.numbers.assign(numbers.begin(), numbers.end());
    possible.description = "those it may be";
    return possible;
  }
  constexpr std::int64_t kAtLeast = 64;  // consecutive numbers to try
  if (value - least < kMost / 2) {
    const std::int64_t wanted = std::max(least + kAtLeast - 1, 2 * value);
    const std::int64_t last = std::min({most, wanted, least + kMost - 1});
    for (std::int64_t number = least; number <= last; ++number) add(number);
    possible.description = range(least, last);
  } else {
    add(value);
    for (const std::int64_t near : {value - 1, value + 1, value * 2, value / 2}) add(near);
    // Few of each kind, so that all kinds fit.
    const auto room = [&] { return static_cast<std::int64_t>(numbers.size()) < kMost; };
    for (std::int64_t power = 1; power <= 1 << 20 && room(); power *= 2) add(power);
    for (std::int64_t small = least; small < least + kSmall && room(); ++small) add(small);
    constexpr std::int64_t kMostDivided = 1'000'000;
    for (std::int64_t number : related) {
      number = std::abs(number);
      for (std::int64_t divisor = 1; divisor <= number / divisor && divisor <= kMostDivided && room(); ++divisor) {
        if (number % divisor != 0) continue;
        add(divisor);
        add(number / divisor);
      }
      for (std::int64_t times = 1; times <= 4 && room() && number <= kMostDivided; ++times) add(number * times);
    }
    possible.description = std::to_string(numbers.size()) + " numbers, divisors and powers of 2 among them,";
  }
  possible.numbers.assign(numbers.begin(), numbers.end());
  return possible;
}

}  // namespace muster
