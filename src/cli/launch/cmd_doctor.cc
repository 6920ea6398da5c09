// muster doctor: checks hosts without starting a job: problems, and differences between them.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "base/system/host_name.h"
#include "base/values/columns.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/output_terminal.h"
#include "cli/command/print_diagnostics.h"
#include "cli/launch/first_site.h"
#include "cli/launch/launch_commands.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/host_memory.h"
#include "cli/options/host_transport.h"
#include "cli/options/named_hosts.h"
#include "cli/options/recipe_options.h"
#include "cli/options/resume.h"
#include "run/directory/environment_record.h"
#include "run/directory/hidden_values.h"
#include "run/hosts/host_differences.h"
#include "run/hosts/host_question.h"
#include "run/hosts/inspect_hosts.h"
#include "run/hosts/inspection_report.h"
#include "transport/transport.h"

namespace muster {
namespace {

// For slow file systems; usually an answer takes a tenth of a second.
constexpr std::uint32_t kWithinMs = 15'000;

struct DoctorOptions {
  RecipeOptions recipe;
  std::string agent;
  bool json = false;
  std::optional<std::string> site_file;  // --write-site
};

// The hosts of the plan, if there is a recipe: as many as it needs, with its names for them; and the spares.
Result<std::vector<SiteHost>> HostsFor(const DoctorOptions& options, const Plan& plan) {
  auto spares = SpareHosts(options.recipe, plan);
  if (!spares) return spares;
  if (options.recipe.recipe.empty()) {
    auto hosts = NamedHosts(options.recipe);
    if (hosts) hosts->insert(hosts->end(), spares->begin(), spares->end());
    return hosts;
  }
  std::vector<SiteHost> hosts;
  for (const PlanHost& host : plan.hosts) hosts.push_back({host.name, {}, {}});
  const bool named = std::all_of(hosts.begin(), hosts.end(), [](const SiteHost& host) { return !host.name.empty(); });
  if (!named && hosts.size() > 1) {
    return Fail(Error("hosts", {}, "the plan needs " + std::to_string(hosts.size()) + " hosts, and none is named",
                      "--host n[01-04]"));
  }
  hosts.insert(hosts.end(), spares->begin(), spares->end());
  return named ? hosts : std::vector<SiteHost>();
}

int RunDoctor(const DoctorOptions& options) {
  Plan plan;
  if (options.site_file && !options.recipe.recipe.empty()) {
    return Refuse({Error("usage", {}, "--write-site is about machines, and a recipe is given",
                         "muster doctor --host n[01-04] --write-site " + ShellQuoted(*options.site_file))},
                  options.json);
  }
  if (options.recipe.recipe.empty()) {
    if (!options.recipe.devices.empty() || options.recipe.share_devices || HasRecipeChanges(options.recipe)) {
      return Refuse(
          {Error("usage", {},
                 "--devices, --share-devices, --unset, --profile and --pin are for a recipe, and none is given",
                 "muster doctor --host n[01-04] recipes/data_parallel.lua")},
          options.json);
    }
  } else {
    auto evaluation = EvaluateFrom(options.recipe);
    if (!evaluation) return Refuse(evaluation.error(), options.json);
    plan = std::move(evaluation->plan);
  }
  auto hosts = HostsFor(options, plan);
  if (!hosts) return Refuse(hosts.error(), options.json);
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error);
  if (error) return Refuse({SystemError("cwd", "cannot determine the current folder", error.value())}, options.json);

  const bool here = IsHereAlone(*hosts);
  if (here && !options.agent.empty()) {
    return Refuse({Error("usage", {}, "--agent is given, and this machine alone is looked at",
                         "name other hosts: --host n[01-04]")},
                  options.json);
  }
  if (hosts->empty()) hosts->push_back({OwnHostName(), {}, {}});

  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  const std::vector<HostNeeds> needs = plan.hosts.empty() ? std::vector<HostNeeds>() : NeedsOf(plan, hosts->size());
  HostQuestion wanted;
  wanted.environment = environment;
  wanted.cwd = cwd;
  auto runs_folder = DefaultRunsFolder();
  if (!runs_folder) return Refuse(runs_folder.error(), options.json);
  wanted.run_dir = *std::move(runs_folder);
  wanted.any_python = wanted.trials = true;
  wanted.within_ms = kWithinMs;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) wanted.search_dirs.push_back(program.parent_path());
  const Inspect question = QuestionFor(plan, needs, wanted);
  AgentSettings agents;
  agents.program = options.agent;
  agents.environment = environment;
  const auto transport = TransportTo(options.recipe, *hosts, std::move(agents));
  if (!transport) return Refuse(transport.error(), options.json);
  const std::vector<InspectedHost> inspected = InspectHosts(**transport, *hosts, question, HiddenValues(plan, {}));
  const HostComparison comparison = CompareHosts(inspected, needs, MUSTER_VERSION);
  std::vector<std::string> names;
  for (const SiteHost& host : *hosts) names.push_back(host.name);
  const std::vector<std::string> remembered = here ? std::vector<std::string>() : RememberedHosts(names, environment);
  std::fputs(
      PrintableLines(options.json ? InspectionJson(inspected, comparison, remembered)
                                  : FittedLines(InspectionText(inspected, comparison, remembered), OutputColumns(0)))
          .c_str(),
      stdout);
  if (options.site_file) {
    const auto written = WriteNewSite(*options.site_file, FirstSite(inspected, here));
    if (!written) return Refuse(written.error());
    std::fprintf(stderr, "%s is written\n", Printable(*options.site_file).c_str());
  }
  return comparison.faults.empty() ? kExitOk : kExitMachine;
}

}  // namespace

std::function<int()> SetupDoctor(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<DoctorOptions>();
  AddRecipeOptions(app, options->recipe, invocation, false);
  AddAgentOption(app, options->agent);
  app.add_flag("--json", options->json, "print JSON for programs: everything that was found");
  app.add_option_function<std::string>(
         "--write-site",
         [options](const std::string& file) { options->site_file = file.empty() ? kSiteFileName : file; },
         "write what was found to a new site file (default: muster.site.lua)")
      ->type_name("[FILE]")
      ->expected(0, 1);
  return [options] {
    SettleResumed(options->recipe);
    return RunDoctor(*options);
  };
}

}  // namespace muster
