// muster sweep: many runs of one recipe, over the points of a space.
#include <cstdio>
#include <memory>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_sweep.h"
#include "cli/sweep_options.h"
#include "cli/sweep_preview.h"

namespace muster {
namespace {

struct Options {
  SweepOptions sweep;
  bool preview = false;
  bool json = false;
};

int Refuse(const Options& options, const Diagnostics& problems) {
  if (options.json) std::fputs(DiagnosticsJson(problems).c_str(), stdout);
  PrintDiagnostics(problems);
  return ExitCodeFor(problems);
}

int Run(const Options& options) {
  Evaluator evaluator;
  auto described = DescribeSweep(options.sweep, evaluator);
  if (!described) return Refuse(options, described.error());
  if (!options.preview) {
    SweepCall call{options.sweep, *std::move(described), evaluator};
    return RunSweep(call);
  }
  const auto preview = PreviewSweep(*described, evaluator);
  if (!preview) return Refuse(options, preview.error());
  std::fputs((options.json ? SweepPreviewJson(*described, *preview) : SweepPreviewText(*described, *preview)).c_str(),
             stdout);
  return kExitOk;
}

}  // namespace

std::function<int()> SetupSweep(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<Options>();
  AddSweepOptions(app, options->sweep, invocation);
  auto* preview = app.add_flag("--preview", options->preview,
                               "show what the sweep comes to instead: points, those that are impossible and why, cost");
  app.add_flag("--json", options->json, "print JSON for programs")->needs(preview);
  return [options] { return Run(*options); };
}

}  // namespace muster
