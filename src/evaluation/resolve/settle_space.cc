#include "evaluation/resolve/settle_space.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/values/quoting.h"

namespace muster {
namespace {

constexpr std::string_view kOrigin = "sweep";

bool IsWhole(ParameterType type) { return type == ParameterType::kInt || type == ParameterType::kBytes; }
bool IsNumber(ParameterType type) {
  return IsWhole(type) || type == ParameterType::kFloat || type == ParameterType::kDuration;
}

// Splits at commas; in JSON, at those outside of brackets and quotes.
std::vector<std::string> SplitAtCommas(std::string_view text, bool json) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (json) {
      if (quoted && c == '\\' && i + 1 < text.size()) {
        parts.back() += c;
        parts.back() += text[++i];
        continue;
      }
      if (c == '"') quoted = !quoted;
      if (!quoted && (c == '[' || c == '{')) ++depth;
      if (!quoted && (c == ']' || c == '}')) --depth;
    }
    if (c == ',' && depth <= 0 && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Parses a bound of a range, or a step, in the type of the parameter, without the parameter's limits, which apply to
// values only.
Result<double> ReadEnd(const Parameter& parameter, const std::string& text) {
  Parameter unlimited = parameter;
  unlimited.min = unlimited.max = unlimited.above = unlimited.below = std::nullopt;
  unlimited.one_of.clear();
  auto value = ReadParameterText(unlimited, text, kOrigin);
  if (value) value = CheckParameter(unlimited, *value, {}, kOrigin);
  if (!value) return Fail(value.error());
  return value->Number();
}

// "low..high" or "low..high:how".
std::optional<Result<Axis>> ReadRange(const Parameter& parameter, const std::string& text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos || dots == 0 || !IsNumber(parameter.type)) return std::nullopt;
  const std::size_t colon = text.find(':', dots);
  const std::string how = colon == std::string::npos ? "" : text.substr(colon + 1);
  Axis axis;
  axis.name = parameter.name;
  const auto low = ReadEnd(parameter, text.substr(0, dots));
  if (!low) return Fail(low.error());
  const auto high = ReadEnd(parameter, text.substr(dots + 2, colon == std::string::npos ? colon : colon - dots - 2));
  if (!high) return Fail(high.error());
  axis.low = *low;
  axis.high = *high;
  const bool whole = IsWhole(parameter.type);
  if (how == "log") {
    axis.kind = whole ? Axis::Kind::kIntLogUniform : Axis::Kind::kLogUniform;
    return axis;
  }
  axis.kind = whole || !how.empty() ? Axis::Kind::kRange : Axis::Kind::kUniform;
  axis.whole = whole;
  if (!how.empty()) {
    const auto step = ReadEnd(parameter, how);
    if (!step) return Fail(step.error());
    axis.step = *step;
  }
  return axis;
}

class Settler {
 public:
  Settler(bool words, const Declared& declared, const ParameterNames& names, Diagnostics& problems)
      : words_(words), declared_(declared), names_(names), problems_(problems) {}

  void Settle(Space& space) {
    switch (space.kind) {
      case Space::Kind::kAxis:
        SettleAxis(space);
        break;
      case Space::Kind::kFixed: {
        Point settled;
        for (const auto& [name, value] : space.fixed) {
          const Meant meant = Find(name, space.place);
          if (meant.parameters.empty()) continue;
          const std::string* text = words_ ? value.AsString() : nullptr;
          auto own = text == nullptr ? Check(meant, value, space.place) : CheckText(meant, *text, space.place);
          if (own) settled[meant.name] = *std::move(own);
        }
        space.fixed = std::move(settled);
        break;
      }
      case Space::Kind::kWhen:
        SettleCondition(space);
        break;
      default:
        break;
    }
    for (Space& part : space.parts) Settle(part);
  }

 private:
  // Parameters of different variants may share a name.
  struct Meant {
    std::string name;  // name in points
    std::vector<Parameter> parameters = {};
  };

  Meant Find(const std::string& name, const Place& place) {
    const ParameterNames::Found found = names_.Find(name, !words_);
    Meant meant;
    if (found.name.empty()) {
      Override override;
      override.name = name;
      override.origin = ParameterOrigin::kSweep;
      override.place = place;
      problems_.push_back(names_.Unknown(override, {}));
      return meant;
    }
    meant.name = NameInPoints(found.name, names_);
    for (const Parameter& parameter : declared_.parameters) {
      if (parameter.name == found.name) meant.parameters.push_back(parameter);
    }
    if (meant.parameters.empty()) {
      const std::string last = found.name.substr(found.name.rfind('.') + 1);
      meant.parameters.push_back(ClusterParameter(last, declared_.place));
    }
    if (meant.parameters.front().type == ParameterType::kSecret) {
      problems_.push_back(Error("secret", place,
                                found.name + " is a secret and cannot be swept: the values of trials are stored",
                                "a secret is the same in all trials: " + found.name + "@=FILE"));
      meant.parameters.clear();
    }
    return meant;
  }

  // Settled by the first of the parameters that accepts it; otherwise the first one's error is reported.
  std::optional<Value> Check(const Meant& meant, const Value& value, const Place& place) {
    Diagnostics refused;
    for (const Parameter& parameter : meant.parameters) {
      auto settled = CheckWrittenParameter(parameter, value, place, kOrigin);
      if (settled) return *std::move(settled);
      if (refused.empty()) refused = settled.error();
    }
    problems_.insert(problems_.end(), refused.begin(), refused.end());
    return std::nullopt;
  }

  // The same for a text of the command line.
  std::optional<Value> CheckText(const Meant& meant, const std::string& text, const Place& place) {
    Diagnostics refused;
    for (const Parameter& parameter : meant.parameters) {
      auto settled = ReadParameterText(parameter, text, kOrigin);
      if (settled) settled = CheckWrittenParameter(parameter, *settled, place, kOrigin);
      if (settled) return *std::move(settled);
      if (refused.empty()) refused = settled.error();
    }
    problems_.insert(problems_.end(), refused.begin(), refused.end());
    return std::nullopt;
  }

  void SettleCondition(Space& space) {
    std::map<std::string, std::vector<Value>> condition;
    for (const auto& [name, values] : space.condition) {
      const Meant meant = Find(name, space.place);
      if (meant.parameters.empty()) continue;
      for (const Value& value : values) {
        if (auto settled = Check(meant, value, space.place)) condition[meant.name].push_back(*std::move(settled));
      }
    }
    space.condition = std::move(condition);
  }

  void SettleAxis(Space& space) {
    Axis& axis = space.axis;
    const Meant meant = Find(axis.name, space.place);
    if (meant.parameters.empty()) return;
    axis.name = meant.name;
    if (words_) {
      const std::string* text = axis.values.size() == 1 ? axis.values.front().AsString() : nullptr;
      auto read = ReadAxisText(meant.parameters.front(), text == nullptr ? "" : *text);
      if (!read) {
        problems_.insert(problems_.end(), read.error().begin(), read.error().end());
        return;
      }
      axis = *std::move(read);
      axis.name = meant.name;
    } else if (axis.kind != Axis::Kind::kChoice && !ReadEnds(space, meant)) {
      return;
    }
    if (axis.kind == Axis::Kind::kChoice) {
      for (Value& value : axis.values) {
        if (auto settled = Check(meant, value, space.place)) value = *std::move(settled);
      }
      return;
    }
    CheckEnds(space, meant);
  }

  // low, high and step as written.
  bool ReadEnds(Space& space, const Meant& meant) {
    Axis& axis = space.axis;
    const Parameter& parameter = meant.parameters.front();
    const auto number = [&](std::size_t i) -> std::optional<double> {
      if (i >= axis.values.size()) return 1;
      if (axis.values[i].IsNumber()) {
        // The ends of a duration need a unit; numbers remain for other types, whose limits apply to points only.
        const auto given = parameter.type == ParameterType::kDuration && axis.values[i].Number() != 0;
        if (given) return std::nullopt;
        return axis.values[i].Number();
      }
      const std::string* text = axis.values[i].AsString();
      if (text == nullptr) return std::nullopt;
      const auto end = ReadEnd(parameter, *text);
      return end ? std::optional(*end) : std::nullopt;
    };
    const auto low = number(0);
    const auto high = number(1);
    const auto step = number(2);
    if (!low || !high || !step || axis.values.size() < 2) {
      problems_.push_back(Error(
          "space", space.place,
          "axis " + axis.name + ": the ends are no values of this " + std::string(ParameterTypeName(parameter.type)),
          parameter.type == ParameterType::kDuration ? "a time has its unit: \"30s\", \"12h\"" : ""));
      return false;
    }
    axis.low = *low;
    axis.high = *high;
    axis.step = *step;
    axis.values.clear();
    return true;
  }

  void CheckEnds(Space& space, const Meant& meant) {
    Axis& axis = space.axis;
    const Parameter& parameter = meant.parameters.front();
    const std::string type(ParameterTypeName(parameter.type));
    const auto refuse = [&](std::string why, std::string hint) {
      problems_.push_back(Error("space", space.place, "axis " + axis.name + ": " + std::move(why), std::move(hint)));
    };
    if (!IsNumber(parameter.type)) {
      return refuse(std::string(AxisKindName(axis.kind)) + " is of numbers, and the parameter is a " + type,
                    "choice { … } takes any values");
    }
    const bool continuous = axis.kind == Axis::Kind::kUniform || axis.kind == Axis::Kind::kLogUniform;
    if (continuous && IsWhole(parameter.type)) {
      return refuse(
          std::string(AxisKindName(axis.kind)) + " gives numbers with fractions, and the parameter is of type " + type,
          axis.kind == Axis::Kind::kUniform ? "int_uniform(low, high), or range(low, high, step)"
                                            : "int_log_uniform(low, high)");
    }
    if (axis.kind == Axis::Kind::kIntLogUniform && !IsWhole(parameter.type)) {
      return refuse("int_log_uniform gives whole numbers, and the parameter is of type " + type,
                    "log_uniform(low, high)");
    }
    if (axis.kind == Axis::Kind::kRange) axis.whole = IsWhole(parameter.type);
    if (axis.whole && (axis.low != std::floor(axis.low) || axis.step != std::floor(axis.step))) {
      return refuse("the parameter is of type " + type + ", and the range has fractions: " + AxisText(axis), "");
    }
    if (!CheckAxis(axis, space.place)) return;  // reported where the space is compiled
    const auto value = [&](double end) {
      return IsWhole(parameter.type) ? Value(static_cast<std::int64_t>(end)) : Value(end);
    };
    // The first of the parameters decides, as in Check().
    const auto inside = [&](const Value& end) {
      const auto accepts = [&](const Parameter& each) { return CheckParameter(each, end, space.place, kOrigin); };
      for (const Parameter& each : meant.parameters) {
        if (accepts(each)) return;
      }
      const auto refused = accepts(meant.parameters.front());
      problems_.insert(problems_.end(), refused.error().begin(), refused.error().end());
    };
    inside(value(axis.low));
    const double last = continuous ? std::nextafter(axis.high, axis.low) : axis.high;
    if (last != axis.low) inside(value(last));
  }

  bool words_;
  const Declared& declared_;
  const ParameterNames& names_;
  Diagnostics& problems_;
};

}  // namespace

std::string NameInPoints(const std::string& found, const ParameterNames& names) {
  if (found != kClusterHosts && found != kClusterDevices) return found;
  const std::string last = found.substr(found.rfind('.') + 1);
  return names.Find(last, true).name == found ? last : found;
}

Result<Axis> ReadAxisText(const Parameter& parameter, std::string_view text) {
  const bool json = parameter.type == ParameterType::kList || parameter.type == ParameterType::kMap;
  Axis axis;
  axis.name = parameter.name;
  const std::vector<std::string> parts = SplitAtCommas(text, json);
  if (parts.size() == 1) {
    if (auto range = ReadRange(parameter, parts.front())) return *std::move(range);
  }
  Diagnostics problems;
  for (const std::string& part : parts) {
    auto value = ReadParameterText(parameter, part, kOrigin);
    if (value) {
      axis.values.push_back(*std::move(value));
    } else {
      problems.insert(problems.end(), value.error().begin(), value.error().end());
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return axis;
}

void SettleSpace(Space& space, bool words, const Declared& declared, const ParameterNames& names,
                 Diagnostics& problems) {
  Settler(words, declared, names, problems).Settle(space);
}

}  // namespace muster
