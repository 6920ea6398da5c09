#include "page/collect/sweep_analysis.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "page/compute/distinction.h"
#include "page/compute/importance.h"
#include "settings/values/value_json.h"
#include "space/sweep_description.h"
#include "sweep/record/trial_columns.h"

namespace muster {
namespace {

constexpr std::size_t kMostChoices = 12;  // distinct numbers that count as choices if the space does not say

const PageColumn* Find(const PageContent& page, const std::string& name) {
  const auto found = std::find_if(page.columns.begin(), page.columns.end(),
                                  [&](const PageColumn& column) { return column.name == name; });
  return found == page.columns.end() ? nullptr : &*found;
}

// The parameters of the rows with a result, and their losses.
struct Sample {
  std::vector<ImportanceAxis> axes;
  std::vector<std::vector<std::string>> texts;  // by axis, of its choices
  std::vector<double> losses;
};

// Adds the parameter if it varies.
void AddParameter(const PageColumn& column, const std::vector<std::size_t>& rows, const SpaceAxis* in_space,
                  Sample& sample) {
  std::set<double> numbers;
  std::set<std::string> texts;
  bool numeric = true;
  for (const std::size_t row : rows) {
    const Value& value = column.values[row];
    if (value.IsNull()) continue;
    numeric = numeric && value.IsNumber();
    if (value.IsNumber()) numbers.insert(value.Number());
    texts.insert(PlainText(value));
  }
  if (texts.size() < 2) return;
  ImportanceAxis axis{.name = column.label};
  const bool has_domain = in_space != nullptr && in_space->domain.has_value();
  axis.choice = !numeric || (!has_domain && (in_space != nullptr || numbers.size() <= kMostChoices));
  std::vector<std::string> choices;
  if (axis.choice) {
    if (in_space != nullptr) {
      for (const Value& value : in_space->choices) choices.push_back(PlainText(value));
    }
    for (const std::string& text : texts) {
      if (std::find(choices.begin(), choices.end(), text) == choices.end()) choices.push_back(text);
    }
    axis.choices = choices.size();
  } else {
    axis.low = *numbers.begin();
    axis.high = *numbers.rbegin();
    if (has_domain) {
      axis.low = std::min(axis.low, in_space->domain->first);
      axis.high = std::max(axis.high, in_space->domain->second);
    }
    axis.log = in_space != nullptr && in_space->log && axis.low > 0;
    axis.whole = in_space != nullptr && in_space->whole;
  }
  for (const std::size_t row : rows) {
    const Value& value = column.values[row];
    double number = std::numeric_limits<double>::quiet_NaN();
    if (!value.IsNull()) {
      number = axis.choice
                   ? static_cast<double>(std::find(choices.begin(), choices.end(), PlainText(value)) - choices.begin())
                   : value.Number();
    }
    axis.values.push_back(number);
  }
  sample.axes.push_back(std::move(axis));
  sample.texts.push_back(std::move(choices));
}

Value ImportanceOf(const Sample& sample) {
  if (sample.losses.size() < kLeastTrials || sample.axes.empty() || !Vary(sample.losses)) return {};
  const auto effects = GridMeans(sample.axes, sample.losses);
  std::vector<double> shares = effects ? effects->shares : PedAnova(sample.axes, sample.losses);
  double sum = 0;
  for (const double share : shares) sum += share;
  if (sum <= 0) return {};
  std::vector<std::pair<double, std::string>> order;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    order.emplace_back(effects ? shares[i] : shares[i] / sum, sample.axes[i].name);
  }
  if (effects) order.emplace_back(effects->interaction, "interactions");
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  Value::List parameters;
  for (const auto& [share, name] : order) {
    parameters.emplace_back(Value::Map{{"name", TextValue(name)}, {"share", Value(share)}});
  }
  return Value(Value::Map{{"method", Value(effects ? "means" : "ped-anova")},
                          {"gamma", Value(kTopShare)},
                          {"trials", CountValue(sample.losses.size())},
                          {"parameters", Value(std::move(parameters))}});
}

Value DistinctionOf(const Sample& sample) {
  Value::List list;
  for (const Distinction& one : Distinctions(sample.axes, sample.texts, sample.losses)) {
    list.emplace_back(
        Value::Map{{"name", TextValue(one.name)}, {"best", TextValue(one.best)}, {"all", TextValue(one.all)}});
  }
  if (list.empty()) return {};
  const std::size_t top = BestTrials(sample.losses).size();
  return Value(Value::Map{
      {"top", CountValue(top)}, {"of", CountValue(sample.losses.size())}, {"parameters", Value(std::move(list))}});
}

// Failures with the same class, and the same text except for numbers; the most frequent first.
Value CausesOf(const PageContent& page, std::size_t first) {
  struct Cause {
    std::string state, why;
    std::uint64_t trials = 0;
    Value first;
  };
  const PageColumn* state = Find(page, "state");
  const PageColumn* why = Find(page, "why");
  const PageColumn* trial = Find(page, "trial");
  std::vector<Cause> causes;
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (std::size_t row = first; state != nullptr && row < page.keys.size(); ++row) {
    const auto failure = ParseTrialClass(PlainText(state->values[row]));
    if (!failure || !IsFailure(*failure)) continue;
    const std::string text = why == nullptr || why->values[row].IsNull() ? "" : PlainText(why->values[row]);
    std::string key = text;
    std::erase_if(key, [](unsigned char c) { return std::isdigit(c) != 0; });
    const auto [place, is_new] = places.try_emplace({PlainText(state->values[row]), key}, causes.size());
    if (is_new) causes.push_back({place->first.first, text, 0, trial->values[row]});
    ++causes[place->second].trials;
  }
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.trials > b.trials; });
  Value::List list;
  for (Cause& cause : causes) {
    list.emplace_back(Value::Map{{"class", Value(cause.state)},
                                 {"why", TextValue(cause.why)},
                                 {"trials", CountValue(cause.trials)},
                                 {"first", std::move(cause.first)}});
  }
  return Value(std::move(list));
}

}  // namespace

std::string OwnName(const PageContent& page, const std::string& name, const std::string& role) {
  const PageColumn* known = Find(page, name);
  const bool taken = known != nullptr && known->role != role;
  return taken || IsTrialColumn(name) ? role + "." + name : name;
}

void ScaleColumns(const std::map<std::string, SpaceAxis>& axes, PageContent& page) {
  for (PageColumn& column : page.columns) {
    const auto found = axes.find(column.label);
    if (column.role != "param" || found == axes.end()) continue;
    const SpaceAxis& axis = found->second;
    column.log = column.log || axis.log;
    if (axis.domain) {
      column.domain = !column.domain ? *axis.domain
                                     : std::pair(std::min(column.domain->first, axis.domain->first),
                                                 std::max(column.domain->second, axis.domain->second));
    }
    for (const Value& value : axis.choices) {
      if (value.IsNumber()) continue;  // numbers have a place of their own
      const std::string text = PlainText(value);
      if (std::find(column.choices.begin(), column.choices.end(), text) == column.choices.end()) {
        column.choices.push_back(text);
      }
    }
  }
}

void AddAnalysis(const PageContent& page, std::size_t first, const std::map<std::string, SpaceAxis>& axes,
                 bool maximize, Value::Map& source) {
  source["causes"] = CausesOf(page, first);
  source["importance"] = Value();
  source["distinction"] = Value();
  const PageColumn* value = Find(page, "value");
  const PageColumn* state = Find(page, "state");
  if (value == nullptr || state == nullptr) return;
  Sample sample;
  std::vector<std::size_t> rows;
  for (std::size_t row = first; row < page.keys.size(); ++row) {
    const Value& result = value->values[row];
    // The results of stopped trials are those of other steps, and a running one has none yet.
    if (state->values[row] != Value(std::string(TrialClassName(TrialClass::kOk)))) continue;
    if (!result.IsNumber() || !std::isfinite(result.Number())) continue;
    rows.push_back(row);
    sample.losses.push_back(maximize ? -result.Number() : result.Number());
  }
  for (const PageColumn& column : page.columns) {
    const auto in_space = axes.find(column.label);
    if (column.role == "param") {
      AddParameter(column, rows, in_space == axes.end() ? nullptr : &in_space->second, sample);
    }
  }
  source["importance"] = ImportanceOf(sample);
  source["distinction"] = DistinctionOf(sample);
}

void AddDifference(PageContent& page, std::size_t source, const std::string& name, Value value) {
  auto found = std::find_if(page.differences.begin(), page.differences.end(),
                            [&](const Value& one) { return TextField(one, "name") == name; });
  if (found == page.differences.end()) {
    page.differences.emplace_back(Value::Map{{"name", TextValue(name)}, {"values", Value(Value::List{})}});
    found = page.differences.end() - 1;
  }
  Value::Map map = *found->AsMap();
  Value::List values = *map.at("values").AsList();
  values.resize(source);
  values.push_back(std::move(value));
  map["values"] = Value(std::move(values));
  *found = Value(std::move(map));
}

void FinishDifferences(PageContent& page) {
  for (Value& one : page.differences) {
    Value::Map map = *one.AsMap();
    Value::List values = *map.at("values").AsList();
    values.resize(page.sources.size());
    map["differ"] =
        Value(std::any_of(values.begin(), values.end(), [&](const Value& value) { return value != values[0]; }));
    map["values"] = Value(std::move(values));
    one = Value(std::move(map));
  }
  std::stable_partition(page.differences.begin(), page.differences.end(),
                        [](const Value& one) { return TruthField(one, "differ"); });
}

}  // namespace muster
