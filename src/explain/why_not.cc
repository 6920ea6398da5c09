#include "explain/why_not.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace muster {
namespace {

constexpr std::size_t kMaxPairs = 20'000;
constexpr std::size_t kMaxValuesInPairs = 48;  // the nearest of a name

double DistanceOf(const Value& before, const Value& after) {
  if (!before.IsNumber() || !after.IsNumber()) return 1;
  const double one = before.Number();
  const double other = after.Number();
  if (one > 0 && other > 0) return std::abs(std::log2(other / one));
  return 1 + std::abs(other - one);
}

void SortByDistance(std::vector<PointChange>& changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const PointChange& one, const PointChange& other) { return one.distance < other.distance; });
}

// Of a kind of which near values are known: not texts and lists.
std::vector<Value> NearValues(const Parameter& parameter, const Value& before) {
  std::vector<Value> values;
  switch (parameter.type) {
    case ParameterType::kInt:
    case ParameterType::kBytes:
    case ParameterType::kBool:
      return Nudges(parameter, before);
    case ParameterType::kFloat:
    case ParameterType::kDuration:
      break;
    default:
      return values;
  }
  if (!before.IsNumber()) return values;
  const auto add = [&](double number) {
    number = std::strtod(fmt::format("{:.6g}", number).c_str(), nullptr);
    if (auto settled = CheckParameter(parameter, Value(number), {}, "")) values.push_back(*std::move(settled));
  };
  for (const double factor : {0.01, 0.1, 0.2, 0.25, 0.5, 0.75, 0.9, 1.1, 1.25, 1.5, 2.0, 4.0, 5.0, 10.0, 100.0}) {
    add(before.Number() * factor);
  }
  for (const auto& limit : {parameter.min, parameter.max}) {
    if (limit) add(*limit);
  }
  return values;
}

bool Names(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

class Search {
 public:
  Search(const std::vector<Settable>& settables, const std::vector<std::int64_t>& related,
         const std::vector<std::string>& refused, const JudgeChanges& judge)
      : refused_(refused), judge_(judge) {
    for (const Settable& settable : settables) values_[settable.parameter.name] = OtherValuesOf(settable, related);
  }

  Result<FoundChanges> Run() {
    if (refused_.size() > 2) return found_;
    std::vector<PointChange> single;
    for (const auto& [name, values] : values_) {
      if (refused_.empty() || (refused_.size() == 1 && Names(refused_, name))) {
        single.insert(single.end(), values.begin(), values.end());
      }
    }
    if (auto tried = Try(std::move(single)); !tried) return Fail(tried.error());
    if (!found_.changes.empty()) return found_;
    if (auto tried = Try(Pairs()); !tried) return Fail(tried.error());
    return found_;
  }

 private:
  // Of names that the results depended on; the nearest.
  std::vector<PointChange> Pairs() {
    std::vector<PointChange> pairs;
    for (auto one = values_.begin(); one != values_.end(); ++one) {
      for (auto other = std::next(one); other != values_.end(); ++other) {
        if (!MayMatter(one->first) || !MayMatter(other->first)) continue;
        std::size_t left = refused_.size();
        left -= Names(refused_, one->first) ? 1 : 0;
        left -= Names(refused_, other->first) ? 1 : 0;
        if (left > 0) continue;
        AddPairs(one->second, other->second, pairs);
      }
    }
    SortByDistance(pairs);
    if (pairs.size() > kMaxPairs) {
      pairs.resize(kMaxPairs);
      found_.all = false;
    }
    return pairs;
  }

  bool MayMatter(const std::string& name) const {
    return Names(refused_, name) || read_.empty() || read_.contains(name);
  }

  void AddPairs(const std::vector<PointChange>& some, const std::vector<PointChange>& others,
                std::vector<PointChange>& pairs) {
    if (some.size() > kMaxValuesInPairs || others.size() > kMaxValuesInPairs) found_.all = false;
    for (std::size_t i = 0; i < std::min(some.size(), kMaxValuesInPairs); ++i) {
      for (std::size_t k = 0; k < std::min(others.size(), kMaxValuesInPairs); ++k) {
        PointChange both = some[i];
        both.values.insert(others[k].values.begin(), others[k].values.end());
        both.distance += others[k].distance;
        pairs.push_back(std::move(both));
      }
    }
  }

  Result<void> Try(std::vector<PointChange> changes) {
    if (changes.empty()) return {};
    SortByDistance(changes);
    std::vector<Point> points;
    for (const PointChange& change : changes) points.push_back(change.values);
    const auto judged = judge_(points);
    if (!judged) return Fail(judged.error());
    found_.tried += judged->possible.size();
    read_.insert(judged->read.begin(), judged->read.end());
    for (std::size_t i = 0; i < judged->possible.size(); ++i) {
      if (judged->possible[i]) found_.changes.push_back(std::move(changes[i]));
    }
    return {};
  }

  std::vector<std::string> refused_;
  const JudgeChanges& judge_;
  std::map<std::string, std::vector<PointChange>> values_;
  std::set<std::string> read_;
  FoundChanges found_;
};

}  // namespace

std::vector<PointChange> OtherValuesOf(const Settable& settable, const std::vector<std::int64_t>& related) {
  const Parameter& parameter = settable.parameter;
  if (!settable.value || parameter.type == ParameterType::kSecret) return {};
  const Value& before = *settable.value;
  std::vector<Value> values = parameter.one_of;
  if (parameter.type == ParameterType::kInt && before.AsInt() != nullptr) {
    for (const std::int64_t number : PossibleNumbers(parameter, *before.AsInt(), related).numbers) {
      values.emplace_back(number);
    }
  }
  for (Value& near : NearValues(parameter, before)) values.push_back(std::move(near));
  std::vector<PointChange> changes;
  for (Value& value : values) {
    if (value == before) continue;
    PointChange change{{{parameter.name, value}}, DistanceOf(before, value)};
    if (std::find(changes.begin(), changes.end(), change) == changes.end()) changes.push_back(std::move(change));
  }
  SortByDistance(changes);
  return changes;
}

Space SpaceOfChanges(const std::vector<Settable>& settables, const std::vector<std::int64_t>& related) {
  Space space;
  for (const Settable& settable : settables) {
    Space axis{.kind = Space::Kind::kAxis, .axis = {.name = settable.parameter.name}};
    for (PointChange& change : OtherValuesOf(settable, related)) {
      axis.axis.values.push_back(std::move(change.values.begin()->second));
    }
    if (!axis.axis.values.empty()) space.parts.push_back(std::move(axis));
  }
  return space;
}

Result<FoundChanges> FindChanges(const std::vector<Settable>& settables, const std::vector<std::int64_t>& related,
                                 const std::vector<std::string>& refused, const JudgeChanges& judge) {
  return Search(settables, related, refused, judge).Run();
}

}  // namespace muster
