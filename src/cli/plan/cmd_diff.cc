// muster diff: the differences of two recipes, plans or runs, or of two ranks, grouped by cause.
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/system/clock.h"
#include "base/values/quoting.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_facts.h"
#include "cli/options/recipe_options.h"
#include "cli/plan/plan_causes.h"
#include "plan/text/folded_texts.h"
#include "plan/text/plan_diff.h"
#include "plan/text/plan_text.h"
#include "run/journal/run_summary.h"
#include "run/logs/log_choice.h"

namespace muster {
namespace {

struct DiffOptions {
  RecipeOptions recipe;
  std::vector<std::string> words;  // A [name=value …] [B [name=value …]]
  std::vector<std::string> ranks;
  bool json = false;
};

struct Named {
  std::string word;
  std::vector<std::string> overrides;
};

// Overrides belong to the argument before them.
Result<std::vector<Named>> ReadWords(const std::vector<std::string>& words) {
  std::vector<Named> things;
  for (const std::string& word : words) {
    if (!IsOverride(word)) {
      things.push_back({word, {}});
    } else if (things.empty()) {
      return Fail(Error("usage", {},
                        Quoted(word) + " belongs to no recipe: overrides follow the recipe or RUN that they change",
                        "muster diff recipes/pipeline.lua layers=64"));
    } else {
      things.back().overrides.push_back(word);
    }
  }
  return things;
}

// The process that a word names: "5", a rank, or "server:0".
Result<std::uint32_t> OneProcess(const Plan& plan, const std::string& word) {
  const bool number = !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
  for (std::uint32_t i = 0; number && i < plan.processes.size(); ++i) {
    if (plan.processes[i].rank && std::to_string(*plan.processes[i].rank) == word) return i;
  }
  if (number) {
    return Fail(Error("ranks", {}, "--ranks " + word + ": the plan has no process of that rank",
                      "a process without a rank is ROLE:N"));
  }
  return OneProcessNamed(plan, "ranks", word);
}

int Show(const DiffOptions& options, const PlanDifference& diff, bool same) {
  std::fputs(PrintableLines(options.json ? DiffJson(diff) : DiffText(diff)).c_str(), stdout);
  return same ? kExitOk : kExitDiffer;
}

int DiffRanks(const DiffOptions& options, const Named& named) {
  auto thing = ResolvePlanArgument(named.word, named.overrides, options.recipe);
  if (!thing) return Refuse(thing.error(), options.json);
  std::vector<std::uint32_t> processes;
  for (const std::string& word : options.ranks) {
    const auto process = OneProcess(thing->plan, word);
    if (!process) return Refuse(process.error(), options.json);
    processes.push_back(*process);
  }
  PrintDiagnostics(thing->warnings);
  const Plan& plan = thing->plan;
  PlanDifference diff;
  const std::string id = PlanId(plan);
  const auto side = [&](std::uint32_t process) {
    return DiffedSide{thing->name + " " + ProcessName(plan, plan.processes[process]), id};
  };
  diff.a = side(processes[0]);
  diff.b = side(processes[1]);
  diff.of_processes = true;
  diff.changes = DiffProcesses(plan, processes[0], processes[1]);
  return Show(options, diff, diff.changes.empty());
}

// If both are runs that reported metrics.
std::vector<DiffedMetric> DiffMetrics(const Named& a, const Named& b) {
  std::map<std::string, DiffedMetric> metrics;
  const auto add = [&](const Named& named, std::optional<std::string> DiffedMetric::*side) {
    const auto run_dir = named.overrides.empty() ? RunMeant(named.word, DirectoryUse::kRead) : std::nullopt;
    if (!run_dir) return;
    const auto summary = SummarizeRun(*run_dir, false);
    if (!summary) return;
    RunFacts facts(*summary);
    for (const auto& [name, value] : facts.Metrics()) {
      metrics[name].name = name;
      metrics[name].*side = ToText(value);
    }
  };
  add(a, &DiffedMetric::before);
  add(b, &DiffedMetric::after);
  std::vector<DiffedMetric> reported;
  for (auto& [name, metric] : metrics) reported.push_back(std::move(metric));
  return reported;
}

int RunDiff(const DiffOptions& options) {
  auto named = ReadWords(options.words);
  if (!named) return Refuse(named.error(), options.json);
  if (!options.ranks.empty()) {
    if (named->size() == 1) return DiffRanks(options, named->front());
    return Refuse(
        {Error("usage", {},
               "--ranks compares two processes of one plan, and " + std::to_string(named->size()) + " are named",
               "muster diff recipes/pipeline.lua --ranks 0 5")},
        options.json);
  }
  if (named->size() == 1 && !named->front().overrides.empty()) named->insert(named->begin(), {named->front().word, {}});
  if (named->size() != 2) {
    return Refuse({Error("usage", {},
                         "two things are compared, and " + std::to_string(named->size()) +
                             (named->size() == 1 ? " is named" : " are named"),
                         "muster diff A B, or muster diff RECIPE name=value for what that changes")},
                  options.json);
  }
  std::vector<PlanArgument> things;
  Diagnostics warnings;
  for (const Named& one : *named) {
    auto thing = ResolvePlanArgument(one.word, one.overrides, options.recipe);
    if (!thing) return Refuse(thing.error(), options.json);
    warnings.insert(warnings.end(), thing->warnings.begin(), thing->warnings.end());
    things.push_back(*std::move(thing));
  }
  PrintDiagnostics(Folded(warnings));
  PlanDifference diff;
  diff.a = {things[0].name, PlanId(things[0].plan)};
  diff.b = {things[1].name, PlanId(things[1].plan)};
  diff.changes = DiffPlans(things[0].plan, things[1].plan);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t began = MonotonicNowNs();
  WaitLine waiting("comparing");
  std::size_t plans = 0;
  Causes causes = FindCauses(things[0], things[1], [&] {
    ++plans;
    const auto seconds = static_cast<unsigned>((MonotonicNowNs() - began) / kSecond);
    if (seconds > 0) waiting.Show(seconds, std::to_string(plans) + " plans made");
  });
  waiting.Clear();
  diff.causes = std::move(causes.causes);
  diff.notes = std::move(causes.notes);
  diff.metrics = DiffMetrics((*named)[0], (*named)[1]);
  return Show(options, diff, IsSamePlan(diff));
}

}  // namespace

std::function<int()> SetupDiff(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<DiffOptions>();
  app.add_option(
         "RECIPE", options->words,
         "what to compare: A and B, each a recipe, a RUN or a file of muster plan --json, followed by its parameters; "
         "A alone is compared with A without parameters")
      ->type_name("A [name=value …] B [name=value …]")
      ->required();
  app.add_option("--ranks", options->ranks, "compare two processes of one plan: ranks, or ROLE:N")
      ->type_name("N N")
      ->expected(2);
  app.add_flag("--json", options->json, "print JSON for programs");
  AddPlanningOptions(app, options->recipe, invocation);
  return [options] { return RunDiff(*options); };
}

}  // namespace muster
