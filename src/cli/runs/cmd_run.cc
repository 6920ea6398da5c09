// muster run: evaluates a recipe (or takes a plan) and runs it, on this machine or on named hosts. muster replay: the
// same with the plan of an earlier run.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/system/host_name.h"
#include "base/system/isolation.h"
#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/options/blank_variable.h"
#include "cli/options/caller_environment.h"
#include "cli/options/current_site.h"
#include "cli/options/host_transport.h"
#include "cli/options/log_limit_option.h"
#include "cli/options/recipe_options.h"
#include "cli/options/resume.h"
#include "cli/options/run_argument.h"
#include "cli/options/stored_recipe.h"
#include "cli/options/wait_option.h"
#include "cli/options/wrap_option.h"
#include "cli/runs/background_run.h"
#include "cli/runs/rehearse.h"
#include "cli/runs/run_commands.h"
#include "cli/runs/run_elsewhere.h"
#include "plan/hosts/host_list.h"
#include "plan/text/plan_json.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_tags.h"
#include "run/journal/run_summary.h"
#include "run/logs/process_choice.h"
#include "run/session/run_request.h"
#include "run/start/rehearsal_plan.h"
#include "transport/local_transport.h"
#include "transport/ssh_transport.h"
#include "wire/lease/lease.h"

namespace muster {
namespace {

struct RunOptions {
  RecipeOptions recipe;
  std::string plan_file;
  bool replay = false;
  std::string replayed;  // RUN; empty: the newest
  std::string run_dir;
  bool quiet = false;
  bool verbose = false;
  bool no_progress = false;
  bool pass_exit_code = false;
  std::vector<std::string> tee;
  std::optional<std::string> pty;
  bool detach = false;
  std::vector<std::string> wraps;
  std::string log_max;
  std::vector<std::string> tags;
  std::string isolate;
  std::string wait;
  std::string agent;
  std::string lease;
  ElsewhereOptions elsewhere;
  std::string without;
  std::vector<std::string> faults;
  std::optional<RehearseOptions> rehearse;  // muster rehearse
};

Result<Plan> ReadPlan(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code error;
  if (!stream || !std::filesystem::is_regular_file(file, error)) {
    return Fail(
        Error("plan_file", {file, 0}, "the plan cannot be read", "make one with: muster plan RECIPE --json > FILE"));
  }
  return PlanFromJson(std::string(std::istreambuf_iterator<char>(stream), {}));
}

// Assigns the names of the command line to the plan's hosts, if it has any.
Result<void> NameHosts(const RecipeOptions& options, Plan& plan) {
  if (!NamesHosts(options)) return CheckListIsNamed(options, "the plan");
  auto named = NamedHosts(options);
  if (!named) return Fail(named.error());
  if (named->empty()) return {};
  if (named->size() < plan.hosts.size()) {
    return Fail(Error("hosts", {},
                      "the plan has " + std::to_string(plan.hosts.size()) + " hosts, and the command line " + "names " +
                          std::to_string(named->size())));
  }
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) plan.hosts[i].name = (*named)[i].name;
  return {};
}

// Sets the checkpoint to resume from, if any.
Result<void> TakeResumption(Result<std::optional<Resumption>> found, RunRequest& request) {
  if (!found) return Fail(found.error());
  if (!*found) return {};
  request.checkpoint = (*found)->checkpoint;
  request.resumed = (*found)->run;
  return {};
}

// The plan of an earlier run with its origin; only its binding is new.
Result<void> TakePlanOfRun(const RunOptions& options, RunRequest& request) {
  const auto run_dir = FindRun(options.replayed, DirectoryUse::kExecute);
  if (!run_dir) return Fail(run_dir.error());
  auto id = IdOfRun(*run_dir);
  if (!id) return Fail(id.error());
  if (const auto run = SummarizeRun(*run_dir, false); run && run->rehearsal) {
    return Fail(Error("run", {}, "run " + *id + " is a rehearsal: its plan starts stubs",
                      "muster run " + *id + " runs its recipe, muster rehearse " + *id + " rehearses it again"));
  }
  auto stored = PlanOfRun(*run_dir);
  if (!stored) return Fail(stored.error());
  request.plan = std::move(stored->plan);
  request.inputs = std::move(stored->inputs);
  request.evaluation = std::move(stored->evaluation);
  request.sources = std::move(stored->sources);
  request.parent = *std::move(id);
  if (auto taken = TakeResumption(ResumptionOfRun(*run_dir), request); !taken) return taken;
  return NameHosts(options.recipe, request.plan);
}

// The recipe's plan with its origin, or the plan of the file.
Result<void> FillPlan(const RunOptions& options, RunRequest& request) {
  if (options.replay) return TakePlanOfRun(options, request);
  if (!options.plan_file.empty()) {
    if (!options.recipe.recipe.empty()) {
      return Fail(
          Error("usage", {}, "--plan and a recipe are given", "give one of them: a plan already has its parameters"));
    }
    if (!options.recipe.devices.empty() || options.recipe.share_devices) {
      return Fail(Error("usage", {}, "--plan and --devices or --share-devices are given",
                        "the plan already selects its devices: use --devices with muster plan"));
    }
    if (HasRecipeChanges(options.recipe)) {
      return Fail(Error("usage", {}, "--plan and --profile, --unset or --pin are given",
                        "a plan already has its values: give them to muster plan"));
    }
    auto plan = ReadPlan(options.plan_file);
    if (!plan) return Fail(plan.error());
    if (IsRehearsalPlan(*plan)) {
      return Fail(Error("plan_file", {options.plan_file, 0}, "this is the plan of a rehearsal: it starts stubs",
                        "name the rehearsal itself instead of a recipe, or make a plan with: muster plan RECIPE "
                        "--json > FILE"));
    }
    request.plan = *std::move(plan);
    if (!options.recipe.resume.empty()) {
      if (auto used = CheckUsesCheckpoint(request.plan); !used) return used;
      auto found = FindResumption(options.recipe);
      if (!found) return Fail(found.error());
      request.checkpoint = found->checkpoint;
      request.resumed = request.parent = found->run;
    }
    return NameHosts(options.recipe, request.plan);
  }
  if (options.recipe.recipe.empty()) {
    return Fail(Error("usage", {}, "no recipe is given", "muster run recipes/hello.lua"));
  }
  auto evaluation = EvaluateFrom(options.recipe);
  if (!evaluation) return Fail(evaluation.error());
  if (auto refused = RefusedByRun(evaluation->warnings); !refused.empty()) return Fail(std::move(refused));
  PrintDiagnostics(evaluation->warnings);
  PrintDiagnostics(WarnOfRemoved(*evaluation));
  if (const auto parent = RunMeant(options.recipe.recipe)) {
    auto id = IdOfRun(*parent);
    if (!id) return Fail(id.error());
    request.parent = *std::move(id);
  }
  auto made_by = PrepareEvaluation(options.recipe);
  if (!made_by) return Fail(made_by.error());
  request.evaluation = EvaluationRecord(*made_by);
  for (const Input& input : evaluation->inputs) {
    if (input.kind != "checkpoint") continue;
    request.checkpoint = input.name;
    request.resumed = made_by->resumed;
    if (!options.recipe.resume.empty()) request.parent = made_by->resumed;
  }
  request.inputs = InputsValue(evaluation->inputs);
  request.sources = std::move(evaluation->sources);
  request.lockdown = std::move(evaluation->lockdown);
  request.plan = std::move(evaluation->plan);
  request.evaluate_ns = evaluation->evaluate_ns;
  return {};
}

// The hosts by their names in the plan; none if it has none.
std::vector<SiteHost> HostsOf(const Plan& plan) {
  std::vector<SiteHost> hosts;
  for (const PlanHost& host : plan.hosts) {
    if (host.name.empty()) return {};
    hosts.push_back({host.name, IsAddress(host.name) ? host.name : "", host.devices});
  }
  return hosts;
}

// Arms the faults of the head; returns those of the agents.
Result<std::vector<std::string>> ArmFaults(const std::vector<std::string>& faults) {
  std::vector<std::string> of_agents;
  for (const std::string& text : faults) {
    const auto order = ParseFault(text);
    if (!order) return Fail(Error("usage", {}, order.error(), "muster docs faults lists the sites"));
    if (kFaultSites[static_cast<std::size_t>(order->site)].name.starts_with("agent.")) {
      of_agents.push_back(text);
    } else {
      ArmFault(*order);
    }
  }
  return of_agents;
}

// Checks that there is a terminal to pass to a process.
Result<void> CheckTerminal(const RunOptions& options) {
  if (options.detach) {
    return Fail(Error("usage", {}, "--pty and --detach are given: a run in the background has no terminal",
                      "leave --detach away"));
  }
  for (const auto& [descriptor, name] : {std::pair{STDIN_FILENO, "stdin"}, std::pair{STDOUT_FILENO, "stdout"}}) {
    if (::isatty(descriptor) == 1) continue;
    return Fail(Error("usage", {}, fmt::format("--pty {}: {} is not a terminal", Quoted(*options.pty), name),
                      "call it at a terminal, without a pipe or file at stdin and stdout; over ssh, with ssh -t"));
  }
  return {};
}

constexpr std::uint64_t kLeastLeaseMs = 1'000;
constexpr std::uint64_t kMostLeaseMs = 3'600'000;

Result<std::uint64_t> LeaseMs(const std::string& text) {
  if (text.empty()) return kDefaultLeaseMs;
  const std::optional<double> seconds = ParseDuration(text);
  if (seconds && *seconds * 1000 >= static_cast<double>(kLeastLeaseMs) &&
      *seconds * 1000 <= static_cast<double>(kMostLeaseMs)) {
    return static_cast<std::uint64_t>(*seconds * 1000);
  }
  return Fail(Error("usage", {}, "--host-lease " + Quoted(text) + ": this is not a time from 1s to 1h",
                    "for example --host-lease 10s"));
}

Result<std::unique_ptr<Transport>> TransportFor(const RunOptions& options, const RunRequest& request,
                                                Isolation isolation, std::vector<std::string> faults) {
  if (IsHereAlone(request.hosts) && request.spares.empty()) {
    const auto site = GetSite();
    if (!options.replay && site && site->facts.transport == SiteTransport::kSsh && request.hosts.empty()) {
      return Fail(Error("hosts", site->facts.places.at("transport"),
                        "the site's transport is ssh, but no hosts are named",
                        "--host n[01-04], or hosts = \"n[01-04]\" in the site file"));
    }
    for (const auto& [name, given] : {std::pair{"--agent", options.agent}, std::pair{"--host-lease", options.lease}}) {
      if (given.empty()) continue;
      return Fail(Error("usage", {}, fmt::format("{} is given, and the run is on this machine alone", name),
                        "name other hosts: --host n[01-04]"));
    }
    return std::make_unique<LocalTransport>(std::string(), options.recipe.without, std::move(faults), isolation);
  }
  const Result<std::uint64_t> lease_ms = LeaseMs(options.lease);
  if (!lease_ms) return Fail(lease_ms.error());
  SshSettings settings = SshSettingsForAgents(options.agent, request.environment);
  if (isolation != Isolation::kNone) settings.agent_words = {"--isolate", std::string(IsolationName(isolation))};
  const std::string without = WithoutText(options.recipe.without);
  if (!without.empty()) settings.agent_words.insert(settings.agent_words.end(), {"--without", without});
  for (std::string& fault : faults)
    settings.agent_words.insert(settings.agent_words.end(), {"--fault", std::move(fault)});
  return std::make_unique<SshTransport>(std::move(settings), *lease_ms, options.recipe.without);
}

// For muster's own recipes, the folder that the command was called from; empty without a recipe.
std::string FolderOfRecipe(const std::string& recipe, const std::string& cwd) {
  if (recipe.empty()) return {};
  std::error_code error;
  const std::filesystem::path path = std::filesystem::path(cwd) / recipe;
  if (std::filesystem::is_directory(path, error)) return path;
  return std::filesystem::exists(path, error) ? path.parent_path().string() : cwd;
}

// The site's access applies to folders that are created from now on: existing ones may be closed on purpose.
void WarnIfClosed(const RunRequest& request, bool rehearsal, const SiteFacts& site) {
  if (!request.for_group || !request.run_dir.empty()) return;
  std::string name = request.plan.name;
  if (rehearsal) name += ".rehearsal";
  const std::vector<std::string> closed = ClosedToGroup(request.runs_folder, name);
  if (closed.empty()) return;
  std::string command = "chmod 3770";
  for (const std::string& folder : closed) command += " " + ShellQuoted(folder);
  const auto place = site.places.find("access");
  PrintDiagnostics({Warning(
      "site", place == site.places.end() ? Place{} : place->second,
      "access is \"group\", and " + Quoted(closed.front()) + " was made before and keeps the group out", command)});
}

int RunRecipe(RunOptions& options) {
  const bool json = options.rehearse && options.rehearse->json;
  const auto without = ParseWithout(options.without);
  if (!without) {
    return Refuse(
        {Error("usage", {}, "--without " + Quoted(options.without) + ": there is no " + Quoted(without.error()),
               "muster docs mechanisms lists them")},
        json);
  }
  options.recipe.without.Add(*without);
  const auto isolation = options.isolate.empty() ? Isolation::kNone : ParseIsolation(options.isolate);
  if (!isolation) {
    return Refuse({Error("usage", {}, "--isolate " + Quoted(options.isolate) + ": there is no such isolation",
                         "--isolate pid, or none")},
                  json);
  }
  if (options.pty) {
    if (const auto terminal = CheckTerminal(options); !terminal) return Refuse(terminal.error(), json);
  }
  auto faults = ArmFaults(options.faults);
  if (!faults) return Refuse(faults.error(), json);
  const std::uint64_t began = MonotonicNowNs();
  RunRequest request;
  auto filled = FillPlan(options, request);
  if (filled) filled = ApplyWraps(request.plan, options.wraps);
  if (filled) filled = ApplyLogLimit(request.plan, options.log_max);
  if (!filled) return Refuse(filled.error(), json);
  request.plan_ns = MonotonicNowNs() - began;
  request.hosts = HostsOf(request.plan);
  auto spares = SpareHosts(options.recipe, request.plan);
  if (!spares) return Refuse(spares.error(), json);
  request.spares = *std::move(spares);
  if (auto surrounded = SetCallerEnvironment(request); !surrounded) return Refuse(surrounded.error(), json);
  for (const auto& [name, secret] : request.plan.secrets) BlankVariable(secret.from_env);
  request.run_dir = options.run_dir;
  for (const std::string& tag : options.tags) {
    if (auto sound = CheckTag(tag); !sound) return Refuse(sound.error(), json);
  }
  auto tags = ChangedTags({}, options.tags);
  if (!tags) return Refuse(tags.error(), json);
  request.tags = *std::move(tags);
  auto runs_folder = DefaultRunsFolder();
  if (!runs_folder) return Refuse(runs_folder.error(), json);
  request.runs_folder = *std::move(runs_folder);
  const auto site = GetSite();
  if (!site) return Refuse(site.error(), json);
  request.for_group = site->facts.access == SiteAccess::kGroup;
  WarnIfClosed(request, options.rehearse.has_value(), site->facts);
  const auto wait_ms = ReadWait(options.wait);
  if (!wait_ms) return Refuse(wait_ms.error(), json);
  request.devices.wait_ms = *wait_ms;
  request.pass_exit_code = options.pass_exit_code;
  request.console.quiet = options.quiet;
  request.console.verbose = options.verbose;
  const char* terminal = std::getenv("TERM");
  request.console.progress =
      !options.no_progress && !options.quiet && terminal != nullptr && std::string_view(terminal) != "dumb";
  auto tee = TeedProcesses(request.plan, options.tee);
  if (!tee) {
    PrintDiagnostics(tee.error());
    return ExitCodeFor(tee.error());
  }
  request.console.tee = *std::move(tee);
  if (options.pty) {
    const auto process = ProcessAtTerminal(request.plan, *options.pty);
    if (!process) return Refuse(process.error(), json);
    request.pty = request.console.at_terminal = *process;
  }

  request.code_folder = FolderOfRecipe(options.recipe.recipe, request.cwd);
  auto transport = TransportFor(options, request, *isolation, *std::move(faults));
  if (!transport) return Refuse(transport.error(), json);
  const auto applied = IsHereAlone(request.hosts) ? RefuseElsewhereOptions(options.elsewhere)
                                                  : ApplyElsewhereOptions(options.elsewhere, request);
  if (!applied) return Refuse(applied.error(), json);
  if (options.rehearse) return Rehearse(*options.rehearse, std::move(request), **transport);
  if (options.detach) return RunInBackground(std::move(request), **transport);
  const auto outcome = RunPlan(request, **transport);
  if (!outcome) {
    PrintDiagnostics(outcome.error());
    return ExitCodeFor(outcome.error());
  }
  return outcome->exit_code;
}

}  // namespace

namespace {

// Options for executing a plan.
void AddStartOptions(CLI::App& app, const std::shared_ptr<RunOptions>& options) {
  app.add_option("--run-dir", options->run_dir, "the folder for this run instead of runs/NAME/TIME-ID")
      ->type_name("DIR");
  AddWaitOption(app, options->wait);
  AddWrapOption(app, options->wraps);
  AddLogLimitOption(app, options->log_max);
  app.add_option("--tag", options->tags, "a word, or NAME=VALUE, by which muster ls finds the run")
      ->type_name("TAG")
      ->allow_extra_args(false);
  app.add_flag("--detach,-d", options->detach,
               "run in the background once processes have started; prints the run's id and folder");
  auto* quiet = app.add_flag("--quiet,-q", options->quiet, "show only failures");
  app.add_flag("--verbose,-v", options->verbose,
               "print the whole report of a successful run too: receipt, times, start-up")
      ->excludes(quiet);
  app.add_flag("--no-progress", options->no_progress, "no progress rows on a terminal");
  app.add_option("--tee", options->tee, "show the output of this role or ranks, however many processes run")
      ->type_name("ROLE[:RANK]")
      ->allow_extra_args(false);
  app.add_option("--pty", options->pty, "connect your terminal to this process; time limits pause")
      ->type_name("ROLE[:RANK]");
  app.add_option("--isolate", options->isolate, "pid: run in a PID namespace, which the kernel kills as a whole")
      ->type_name("KIND");
  AddAgentOption(app, options->agent);
  app.add_option("--host-lease", options->lease, "heartbeat timeout of other hosts (default: 10s)")->type_name("TIME");
  AddElsewhereOptions(app, options->elsewhere);
  app.add_flag("--pass-exit-code", options->pass_exit_code, "exit with the first failing process's own code");
  // For tests and special kernels: documented by muster docs faults and mechanisms, not in --help.
  app.add_option("--without", options->without, "disable these kernel mechanisms")->type_name("NAME,…")->group("");
  app.add_option("--fault", options->faults, "inject a fault")
      ->type_name("SITE:ACTION:N")
      ->allow_extra_args(false)
      ->group("");
}

}  // namespace

std::function<int()> SetupRun(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<RunOptions>();
  AddRecipeOptions(app, options->recipe, invocation, false);
  app.add_option("--plan", options->plan_file, "run exactly this plan (output of muster plan --json)")
      ->type_name("FILE");
  AddStartOptions(app, options);
  return [options] {
    if (options->plan_file.empty()) SettleResumed(options->recipe);
    return RunRecipe(*options);
  };
}

std::function<int()> SetupRehearse(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<RunOptions>();
  AddRecipeOptions(app, options->recipe, invocation, false);
  app.add_option("--plan", options->plan_file, "rehearse exactly this plan (output of muster plan --json)")
      ->type_name("FILE");
  AddRehearseOptions(app, options->rehearse.emplace());
  app.add_option("--run-dir", options->run_dir, "the folder for this rehearsal instead of runs/NAME.rehearsal/TIME-ID")
      ->type_name("DIR");
  AddWrapOption(app, options->wraps);
  app.add_flag("--no-progress", options->no_progress, "no progress rows on a terminal");
  app.add_option("--isolate", options->isolate, "as for muster run")->type_name("KIND");
  AddAgentOption(app, options->agent);
  AddElsewhereOptions(app, options->elsewhere);
  return [options] {
    if (options->plan_file.empty()) SettleResumed(options->recipe);
    return RunRecipe(*options);
  };
}

std::function<int()> SetupReplay(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<RunOptions>();
  options->replay = true;
  AddRunArgument(app, options->replayed);
  AddHostOptions(app, options->recipe);
  AddStartOptions(app, options);
  return [options] { return RunRecipe(*options); };
}

}  // namespace muster
