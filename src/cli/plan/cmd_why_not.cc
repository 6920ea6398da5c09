// muster why-not: whether a recipe accepts values, which check refuses them, and the smallest changes that it accepts.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/options/recipe_options.h"
#include "explain/why_not.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

constexpr std::size_t kMaxShown = 5;
constexpr std::size_t kMaxShownOfName = 2;

struct WhyNotOptions {
  RecipeOptions recipe;
  std::vector<std::string> words;  // as typed
  bool json = false;
};

// What is printed as JSON, members in the order of their names.
struct PrintedChange {
  std::vector<std::string> command;
  Point values;
};
template <class V>
void Parts(V& v, const PrintedChange& change) {
  v("command", change.command), v("values", change.values);
}
struct PrintedWhyNot {
  std::vector<PrintedChange> changes;
  Diagnostics problems;
  bool possible = false;
  std::size_t tried = 0;
};
template <class V>
void Parts(V& v, const PrintedWhyNot& printed) {
  v("changes", printed.changes), v("format", 1), v("possible", printed.possible), v("problems", printed.problems);
  v("tried", printed.tried);
}

// The name that a word such as lr=0.1 or lr:=0.1 sets; empty for other words.
std::string NameSetBy(const std::string& word) {
  if (!IsOverride(word)) return {};
  std::string name = word.substr(0, word.find('='));
  if (!name.empty() && (name.back() == ':' || name.back() == '@')) name.pop_back();
  return name;
}

std::string TypedValue(const std::vector<Settable>& settables, const std::string& name, const Value& value) {
  const auto settable =
      std::find_if(settables.begin(), settables.end(), [&](const Settable& one) { return one.parameter.name == name; });
  const bool duration = settable != settables.end() && settable->parameter.type == ParameterType::kDuration;
  const std::string text = value.AsString() != nullptr ? *value.AsString() : ToText(value);
  return name + "=" + text + (duration && value.IsNumber() && value.Number() != 0 ? "s" : "");
}

// The words that were typed, with the changed values.
std::vector<std::string> CommandWith(const WhyNotOptions& options, const std::vector<Settable>& settables,
                                     const Point& values) {
  std::vector<std::string> command = {"muster", "run"};
  Point left = values;
  for (const std::string& word : options.words) {
    if (word == "--json") continue;
    const auto changed = left.find(NameSetBy(word));
    if (changed == left.end()) {
      command.push_back(word);
      continue;
    }
    command.push_back(TypedValue(settables, changed->first, changed->second));
    left.erase(changed);
  }
  const auto dashes = std::find(command.begin(), command.end(), "--");
  std::vector<std::string> further;
  for (const auto& [name, value] : left) further.push_back(TypedValue(settables, name, value));
  command.insert(dashes, further.begin(), further.end());
  return command;
}

// The numbers of the cluster, which plans have: if these values give none, of the recipe's own values.
std::vector<ClusterNumber> ClusterOf(Evaluator& evaluator, EvaluationOptions request) {
  request.task = PlanTask{EvaluationDepth::kDerived};
  request.rules.clear();
  for (const bool own : {false, true}) {
    if (own) {
      std::erase_if(request.overrides, [](const Override& override) {
        return override.name != "hosts" && override.name != "devices_per_host";
      });
    }
    if (auto made = evaluator.Evaluate(request)) return std::move(made->origins.cluster);
  }
  return {};
}

// The recipe's parameters with the values of this request, and which of those are refused by themselves: their
// overrides are taken out of the request.
struct SettledPoint {
  std::vector<Settable> settables;
  std::vector<std::string> refused;
};
Result<SettledPoint> SettlePoint(Evaluator& evaluator, EvaluationOptions& request) {
  EvaluationOptions parameters = request;
  parameters.task = PlanTask{EvaluationDepth::kParameters};
  parameters.rules.clear();
  auto settled = evaluator.Evaluate(parameters);
  if (settled) {
    settled->origins.cluster = ClusterOf(evaluator, request);
    return SettledPoint{Settables(*settled), {}};
  }
  SettledPoint point;
  for (std::size_t i = 0; i < parameters.overrides.size();) {
    EvaluationOptions without = parameters;
    const Override taken = without.overrides[i];
    without.overrides = {taken};
    if (evaluator.Evaluate(without)) {
      ++i;
      continue;
    }
    point.refused.push_back(taken.name);
    parameters.overrides.erase(parameters.overrides.begin() + static_cast<std::ptrdiff_t>(i));
  }
  settled = evaluator.Evaluate(parameters);
  if (!settled) return Fail(settled.error());
  request.overrides = parameters.overrides;
  settled->origins.cluster = ClusterOf(evaluator, request);
  point.settables = Settables(*settled);
  std::sort(point.refused.begin(), point.refused.end());
  point.refused.erase(std::unique(point.refused.begin(), point.refused.end()), point.refused.end());
  return point;
}

// Judges the changed points as a sweep judges its points, in as many batches as it takes.
JudgeChanges JudgeBy(Evaluator& evaluator, const EvaluationOptions& request, const SweepDescription& sweep) {
  return [&evaluator, &request, &sweep](const std::vector<Point>& changes) -> Result<JudgedChanges> {
    JudgedChanges all;
    all.possible.assign(changes.size(), false);
    for (std::size_t first = 0; first < changes.size();) {
      const std::vector<Point> rest(changes.begin() + static_cast<std::ptrdiff_t>(first), changes.end());
      const auto judged = evaluator.Judge(request, sweep, JudgeRequest::Of(first, rest));
      if (!judged) return Fail(judged.error());
      for (const PossiblePoints& possible : judged->footprints) {
        for (const PointNumbers& range : possible.ranges) {
          for (std::uint64_t i = range.first; i < range.first + range.count; ++i) all.possible.at(i) = true;
        }
      }
      all.read = judged->read;
      if (judged->points == 0) break;
      first += judged->points;
    }
    return all;
  };
}

// The nearest changes of which the whole plan can be made, of a name not more than the nearest few.
std::vector<PrintedChange> ConfirmedOf(const std::vector<PointChange>& changes, const WhyNotOptions& options,
                                       const std::vector<Settable>& settables, const EvaluationOptions& request,
                                       Evaluator& evaluator) {
  std::vector<PrintedChange> confirmed;
  std::map<std::vector<std::string>, std::size_t> shown;
  for (const PointChange& change : changes) {
    if (confirmed.size() == kMaxShown) break;
    std::vector<std::string> names;
    for (const auto& [name, value] : change.values) names.push_back(name);
    if (shown[names] == kMaxShownOfName) continue;
    EvaluationOptions changed = request;
    AddPoint(change.values, changed.overrides);
    if (!evaluator.Evaluate(changed)) continue;
    ++shown[names];
    confirmed.push_back({CommandWith(options, settables, change.values), change.values});
  }
  return confirmed;
}

void PrintWhyNot(const PrintedWhyNot& printed, bool all) {
  std::string text;
  if (printed.possible) {
    text = "possible\n";
  } else {
    text = "not possible\n";
    if (printed.changes.empty()) {
      text += "no change of one value, nor of two, makes it possible: " + std::to_string(printed.tried) +
              " points were tried" + (all ? "" : ", the nearest") + "\n";
    } else {
      const std::size_t names = printed.changes.front().values.size();
      text += names == 1 ? "possible with one other value:\n" : "possible with two other values:\n";
    }
    for (const PrintedChange& change : printed.changes) {
      std::string line;
      for (const std::string& word : change.command) line += (line.empty() ? "" : " ") + ShellQuoted(word);
      text += "  " + line + "\n";
    }
  }
  std::fputs(PrintableLines(text).c_str(), stdout);
}

int RunWhyNot(const WhyNotOptions& options) {
  auto request = PrepareEvaluation(options.recipe);
  if (!request) return Refuse(request.error(), options.json);
  Evaluator evaluator;
  PrintedWhyNot printed;
  const auto plan = evaluator.Evaluate(*request);
  printed.possible = plan.has_value();
  bool all = true;
  if (!plan) {
    printed.problems = plan.error();
    auto point = SettlePoint(evaluator, *request);
    if (!point) return Refuse(plan.error(), options.json);  // wrong whatever the values
    const auto is_known = [&](const std::string& name) {
      return std::any_of(point->settables.begin(), point->settables.end(),
                         [&](const Settable& one) { return one.parameter.name == name; });
    };
    if (!std::all_of(point->refused.begin(), point->refused.end(), is_known)) return Refuse(plan.error(), options.json);
    std::vector<std::int64_t> related;
    for (const Settable& settable : point->settables) {
      if (settable.value && settable.value->AsInt() != nullptr) related.push_back(*settable.value->AsInt());
    }
    SweepDescription sweep;
    sweep.space = SpaceOfChanges(point->settables, related);
    sweep.sampler = {.kind = SamplerChoice::Kind::kRandom, .trials = 1};
    const auto found = FindChanges(point->settables, related, point->refused, JudgeBy(evaluator, *request, sweep));
    if (!found) return Refuse(plan.error(), options.json);  // judging fails as planning does
    printed.tried = found->tried;
    printed.changes = ConfirmedOf(found->changes, options, point->settables, *request, evaluator);
    all = found->all;
  }
  if (options.json) {
    std::printf("%s\n", JsonOf<PartForms>(printed, 2).c_str());
  } else {
    if (plan) {
      PrintDiagnostics(plan->warnings);
    } else {
      PrintDiagnostics(printed.problems);
    }
    PrintWhyNot(printed, all);
  }
  return printed.possible ? kExitOk : kExitNotPossible;
}

}  // namespace

std::string WhyNotSchema() { return SchemaOf<PartForms>(PrintedWhyNot()); }

std::function<int()> SetupWhyNot(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<WhyNotOptions>();
  options->words = invocation.words;
  AddRecipeOptions(app, options->recipe, invocation);
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunWhyNot(*options); };
}

}  // namespace muster
