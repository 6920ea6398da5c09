// muster sweep: runs one recipe for the points of a search space.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "base/values/printable_lines.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/current_site.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/submit_sweep.h"
#include "cli/sweeps/sweep_commands.h"
#include "cli/sweeps/sweep_options.h"
#include "cli/sweeps/sweep_preview.h"

namespace muster {
namespace {

struct SweepCommandLine {
  SweepOptions sweep;
  SweepStartOptions start;
  bool preview = false;
  bool json = false;
};

int SweepRecipe(const SweepCommandLine& options) {
  auto evaluator = std::make_unique<Evaluator>();
  std::optional<RequestedSweep> requested;
  if (auto outside = CheckEachTrialIsOutside(options.sweep.recipe.engine); !outside) {
    return Refuse(outside.error(), options.json);
  }
  const auto asks = AsksForAllocation(options.sweep.recipe.engine);
  if (!asks) return Refuse(asks.error(), options.json);
  if (*asks) {
    auto made = RequestHostsFor(options.sweep);
    if (!made) return Refuse(made.error(), options.json);
    requested = *std::move(made);
  }
  const SweepOptions& sweep = requested ? requested->options : options.sweep;
  auto described = DescribeSweep(sweep, *evaluator);
  if (!described) return Refuse(described.error(), options.json);
  if (requested) PlanForAllocations(*requested, described->evaluation);
  if (!options.preview) {
    return RunSweep({options.sweep, *std::move(described), std::move(evaluator), options.start, std::move(requested)});
  }
  const auto preview = PreviewSweep(*described, *evaluator);
  if (!preview) return Refuse(preview.error(), options.json);
  std::fputs(
      PrintableLines(options.json ? SweepPreviewJson(*described, *preview) : SweepPreviewText(*described, *preview))
          .c_str(),
      stdout);
  return kExitOk;
}

void AddOptions(CLI::App& app, SweepCommandLine& options, const Invocation& invocation) {
  options.start.words = invocation.words;
  AddSweepOptions(app, options.sweep, invocation);
  AddEngineSettings(app, options.sweep.recipe.engine);
  AddSweepStartOptions(app, options.start);
  auto* preview =
      app.add_flag("--preview", options.preview,
                   "print the points of the sweep, impossible ones with reasons, and its cost; run nothing");
  app.add_flag("--json", options.json, "print JSON for programs")->needs(preview);
  app.add_option("--tag", options.start.tags, "a word, or NAME=VALUE, by which muster ls --sweeps shows the sweep")
      ->type_name("TAG")
      ->allow_extra_args(false);
  app.add_flag("--detach,-d", options.start.detach,
               "return once a trial has begun; the sweep continues in the background")
      ->excludes(preview);
}

}  // namespace

std::function<int()> SetupSweep(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<SweepCommandLine>();
  AddOptions(app, *options, invocation);
  return [options] { return SweepRecipe(*options); };
}

Result<SweepArguments> ParseSweepArguments(std::vector<std::string> words) {
  Invocation invocation;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end()) {
    invocation.words_after_dashes.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }
  CLI::App app;
  SweepCommandLine options;
  AddOptions(app, options, invocation);
  std::string site;
  const CLI::Option* given = app.add_option("--site", site);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // CLI11 takes words in reverse order
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return Fail(Error("sweep", {}, std::string("the sweep's own call cannot be read: ") + error.what()));
  }
  if (given->count() > 0) ChooseSite(site);
  return SweepArguments{options.sweep, options.start.agent, options.start.notify};
}

}  // namespace muster
