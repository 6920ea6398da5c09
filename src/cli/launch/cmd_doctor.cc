// muster doctor: checks hosts without starting a job, for problems and differences between them; --write-site
// generates a site file from the facts found.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/host_name.h"
#include "base/system/own_environment.h"
#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/named_hosts.h"
#include "cli/options/recipe_options.h"
#include "muster/result.h"
#include "plan/hosts/host_list.h"
#include "run/directory/run_files.h"
#include "run/hosts/host_differences.h"
#include "run/hosts/inspect_hosts.h"
#include "run/hosts/inspection_report.h"
#include "transport/local_transport.h"
#include "transport/transport.h"

namespace muster {
namespace {

// muster doctor --write-site: generates a site file from the facts found, with the other fields as comments.

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

constexpr const char* kRest = R"lua(
  -- How the hosts are reached: "ssh", or "local" for jobs on this machine alone.
  -- transport = "ssh",

  -- What processes inherit, before activation and recipe have their say.
  -- environment = {
  --   set   = { NCCL_SOCKET_IFNAME = "ib0" },
  --   unset = { "LD_PRELOAD" },
  --   pass  = { "HOME", "USER", "LANG", "LC_*" },  -- nothing else, but PATH
  -- },

  -- Where runs/ is kept; relative to this file, as all paths here. "group": its group may read them.
  -- run_root = "/scratch/me",
  -- access   = "group",

  -- Recipes of others: muster run @acme/gpt.
  -- libraries = { acme = "libraries/acme" },

  -- What every plan has to fulfil.
  -- rules = "policy.lua",
}
)lua";

// The line, commented out if the value is unknown.
std::string Fact(const std::string& name, const std::string& value, const std::string& otherwise) {
  return value.empty() ? fmt::format("  -- {} = {},\n", name, otherwise) : fmt::format("  {} = {},\n", name, value);
}

// `here`: only this machine was inspected, so no hosts are named. Unreachable hosts are listed in a comment.
std::string FirstSite(std::span<const InspectedHost> hosts, bool here) {
  std::vector<SiteHost> reached;
  std::vector<SiteHost> others;
  std::uint64_t memory = 0;
  std::uint32_t devices = 0;
  for (const InspectedHost& host : hosts) {
    if (!host.why.empty()) {
      others.push_back({host.name, {}, {}});
      continue;
    }
    reached.push_back({host.name, {}, host.facts.devices > 0 ? std::optional(host.facts.devices) : std::nullopt});
    if (host.facts.memory_bytes > 0) {
      memory = memory == 0 ? host.facts.memory_bytes : std::min(memory, host.facts.memory_bytes);
    }
    devices = host.facts.devices;
  }
  std::string text =
      "-- Facts about the machines of this site, as muster doctor --write-site found them. Parameters are the "
      "recipes'.\n"
      "-- muster docs site lists the fields. Nearer files win: this one if it lies above the folder that muster "
      "is\n"
      "-- called in, then ~/.config/muster/site.lua, then /etc/muster/site.lua.\n"
      "local muster = require \"muster\"\n\nreturn muster.site {\n"
      "  -- Available hosts with their numbers of devices. Recipes set how many they use.\n";
  text += Fact("hosts", here || reached.empty() ? "" : fmt::format("\"{}\"", HostListText(reached)), "\"n[01-04]:8\"");
  if (!others.empty()) text += fmt::format("  -- not reached: {}\n", HostListText(others));
  text += "\n  -- Devices of a host without a number of its own.\n";
  text += Fact("devices", here && devices > 0 ? std::to_string(devices) : "", "8");
  text += here ? "\n  -- Memory of a host.\n" : "\n  -- Memory of a host: the least that any has.\n";
  const std::string most = memory >= kGiB ? fmt::format("\"{}GiB\"", memory / kGiB)
                           : memory > 0   ? std::to_string(memory)
                                          : "";
  text += Fact("memory", most, "\"512GiB\"");
  return text + kRest;
}

// Writes a new file. Kind "site" if it exists already.
Result<void> WriteNewSite(const std::string& file, const std::string& text) {
  const UniqueFd made(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (!made && errno == EEXIST) {
    return Fail(
        Error("site", {}, Quoted(file) + " already exists, and is not overwritten", "name another: --write-site FILE"));
  }
  if (!made) return Fail(SystemError("site", "cannot write " + Quoted(file), errno));
  if (const int error = WriteAll(made.get(), text); error != 0) {
    return Fail(SystemError("site", "cannot write " + Quoted(file), error));
  }
  return {};
}

}  // namespace

// muster doctor: checks hosts without starting a job: problems, and differences between them.

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
    return Refuse({Error("usage", {}, "--agent has no effect: only this machine is examined",
                         "name other hosts: --host n[01-04]")},
                  options.json);
  }
  if (hosts->empty()) hosts->push_back({OwnHostName(), {}, {}});

  const std::vector<std::string> environment = OwnVariables();
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
  const std::vector<std::string> agents_here = ForeignAgents();
  std::fputs(PrintableLines(options.json ? InspectionJson(inspected, comparison, remembered, agents_here)
                                         : FittedLines(InspectionText(inspected, comparison, remembered, agents_here),
                                                       OutputColumns(0)))
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
