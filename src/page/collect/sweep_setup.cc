#include "page/collect/sweep_setup.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "muster/plan.h"
#include "page/collect/page_content.h"
#include "page/collect/space_axes.h"
#include "run/directory/run_tags.h"
#include "run/journal/journal.h"
#include "run/report/code_report.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

bool SaysNothing(const Value& value) {
  const std::string* text = value.AsString();
  return value.IsNull() || (text != nullptr && text->empty()) ||
         (value.AsList() != nullptr && value.AsList()->empty()) || (value.AsMap() != nullptr && value.AsMap()->empty());
}

// "asha, resource=step, min=1000": the kind first, then what else is given.
std::string ChoiceText(const Value& choice) {
  if (choice.AsMap() == nullptr) return PlainText(choice);
  std::string text = TextField(choice, "kind");
  for (const auto& [name, value] : *choice.AsMap()) {
    if (name == "kind" || SaysNothing(value)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, PlainText(value));
  }
  return text;
}

std::string AxisText(const SpaceAxis& axis) {
  if (axis.domain) {
    return fmt::format("{:g} to {:g}{}{}", axis.domain->first, axis.domain->second, axis.whole ? ", whole numbers" : "",
                       axis.log ? ", logarithmic" : "");
  }
  std::string text;
  for (const Value& value : axis.choices) text += (text.empty() ? "" : ", ") + PlainText(value);
  return text;
}

// Of unions whose weights differ: "3, 1".
void ListWeights(const Value& space, std::size_t depth, std::vector<std::string>& texts) {
  constexpr std::size_t kDeepestUnion = 32;
  const Value* weights = FieldOf(space, "weights");
  if (weights != nullptr && weights->AsList() != nullptr && !weights->AsList()->empty()) {
    const Value::List& list = *weights->AsList();
    std::string text;
    for (const Value& weight : list) text += (text.empty() ? "" : ", ") + PlainText(weight);
    if (std::any_of(list.begin(), list.end(), [&](const Value& weight) { return weight != list.front(); })) {
      texts.push_back(std::move(text));
    }
  }
  const Value* parts = FieldOf(space, "parts");
  if (depth == kDeepestUnion || parts == nullptr || parts->AsList() == nullptr) return;
  for (const Value& part : *parts->AsList()) ListWeights(part, depth + 1, texts);
}

}  // namespace

Value SetupOf(const std::string& dir, const SweepFile& file, const Value& description, const std::string& trial_dir) {
  Value::List setup;
  const auto add = [&](const std::string& name, const std::string& text) {
    if (text.empty()) return;
    setup.emplace_back(Value::Map{{"name", TextValue(name)}, {"value", TextValue(text)}});
  };
  std::string command = "muster sweep";
  for (const std::string& word : file.words) command += " " + ShellQuoted(word);
  add("command", command);
  add("in", file.cwd);
  if (file.objective) {
    add("objective", fmt::format("{} {}", file.objective->maximize ? "largest" : "smallest", file.objective->metric));
  }
  const Value* space = FieldOf(description, "space");
  for (const auto& [name, axis] : SpaceAxes(space == nullptr ? Value() : *space)) add("space: " + name, AxisText(axis));
  std::vector<std::string> weights;
  if (space != nullptr) ListWeights(*space, 0, weights);
  for (const std::string& text : weights) add("weights of a union", text);
  for (const auto& [member, name] :
       {std::pair("sampler", "sampler"), std::pair("where", "conditions"), std::pair("early_stop", "early stopping"),
        std::pair("retry", "retries"), std::pair("budget", "budget")}) {
    const Value* choice = FieldOf(description, member);
    if (choice != nullptr && !SaysNothing(*choice)) add(name, ChoiceText(*choice));
  }
  if (!trial_dir.empty()) {
    if (const auto run = ReadRun(trial_dir)) {
      std::string fixed;
      for (const auto& [name, value] : run->plan->params) {
        const bool swept = std::find(file.names.begin(), file.names.end(), name) != file.names.end();
        if (!swept) fixed += fmt::format("{}{}={}", fixed.empty() ? "" : ", ", name, PlainText(value));
      }
      add("fixed parameters", fixed);
      add("git", GitText(MakeCodeReport(run->journal)));
    }
  }
  add("tags", TagsText(TagValues(TagsOfRun(dir))));
  add("note", NoteOfRun(dir));
  return Value(std::move(setup));
}

}  // namespace muster
