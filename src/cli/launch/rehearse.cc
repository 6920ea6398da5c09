#include "cli/launch/rehearse.h"

#include <cstdio>
#include <utility>

#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "cli/command/print_diagnostics.h"
#include "run/report/rehearsal.h"
#include "run/start/rehearsal_plan.h"

namespace muster {
namespace {

constexpr double kLeastSeconds = 1;
constexpr double kMostSeconds = 600;

}  // namespace

void AddRehearseOptions(CLI::App& app, RehearseOptions& options) {
  app.add_option("--within", options.within, "how long stubs wait for each other (default: 5s)")->type_name("TIME");
  app.add_flag("--json", options.json, "print JSON for programs: every check, and every failure with ranks and hosts");
}

int Rehearse(const RehearseOptions& options, RunRequest request, Transport& transport) {
  RehearsalSettings wishes;
  if (!options.within.empty()) {
    const std::optional<double> seconds = ParseDuration(options.within);
    if (!seconds || *seconds < kLeastSeconds || *seconds > kMostSeconds) {
      return Refuse({Error("usage", {}, "--within " + Quoted(options.within) + ": this is not a time from 1s to 10m",
                           DurationHint(options.within, "for example --within 20s"))},
                    options.json);
    }
    wishes.within_ms = static_cast<std::uint32_t>(*seconds * 1000);
  }
  wishes.search_dirs = request.search_dirs;
  request.plan = RehearsalPlan(std::move(request.plan), wishes);
  request.rehearsal = true;
  request.on_bad_hosts = {};  // findings are reported, and not recorded as failures of hosts
  request.console.quiet = true;
  request.console.output = false;
  const auto outcome = RunPlan(request, transport);
  if (!outcome) return Refuse(outcome.error(), options.json);
  const auto rehearsal = ReadRehearsal(outcome->run_dir);
  if (!rehearsal) return Refuse(rehearsal.error(), options.json);
  std::fputs(PrintableLines(options.json ? RehearsalJson(*rehearsal) : RehearsalText(*rehearsal)).c_str(), stdout);
  return RehearsalExitCode(*rehearsal);
}

}  // namespace muster
