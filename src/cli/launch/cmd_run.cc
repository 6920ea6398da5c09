// muster run: evaluates a recipe (or takes a plan) and runs it, on this machine or on named hosts. muster replay: the
// same with the plan of an earlier run. muster rehearse and muster stub: the same with stubs instead of the
// processes, and one of these stubs by hand (src/stub/). muster drill: the same with faults (drill_run.h).
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/App.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "base/system/host_name.h"
#include "base/system/mechanism.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/launch/background_run.h"
#include "cli/launch/drill_run.h"
#include "cli/launch/run_preparation.h"
#include "cli/launch/submit_run.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/batch_call.h"
#include "cli/options/named_hosts.h"
#include "cli/options/recipe_options.h"
#include "cli/options/start_settings.h"
#include "lua/state/own_data.h"
#include "muster/result.h"
#include "plan/plan/contract_variables.h"
#include "run/directory/run_directory.h"
#include "run/journal/run_summary.h"
#include "run/logs/log_choice.h"
#include "run/report/rehearsal.h"
#include "run/session/run_request.h"
#include "run/start/rehearsal_plan.h"
#include "run/start/start_specs.h"
#include "stub/program/stub.h"
#include "transport/transport.h"
#include "wire/connection/lease.h"
#include "wire/protocol/protocol.h"

namespace muster {
namespace {

// --wait[=DURATION]: how long a run waits for devices that other jobs hold.

constexpr const char* kWithoutDuration = "true";  // the value of a flag without argument

// The text must live as long as the app. Empty: not given.
void AddWaitOption(CLI::App& app, std::string& text) {
  app.add_flag("--wait", text, "wait for devices that others hold; --wait=10m: at most ten minutes");
}

// As AllocateResources::wait_ms. Kind "usage".
Result<std::uint64_t> ReadWait(const std::string& text) {
  if (text.empty()) return std::uint64_t{0};
  if (text == kWithoutDuration) return kWaitForEver;
  constexpr double kMax = 1e9;
  const auto seconds = ParseDuration(text);
  if (seconds && *seconds > 0 && *seconds <= kMax) return static_cast<std::uint64_t>(std::ceil(*seconds * 1000));
  return Fail(Error("usage", {}, "--wait=" + Quoted(text) + " is not a duration",
                    DurationHint(text, "--wait=10m, or --wait without a limit")));
}

// Runs a rehearsal: the request of muster run with stubs instead of the processes, and a table at the end.

constexpr double kMinSeconds = 1;
constexpr double kMaxSeconds = 600;

void AddRehearseOptions(CLI::App& app, RehearseOptions& options) {
  app.add_option("--within", options.within, "how long stubs wait for each other (default: 5s)")->type_name("TIME");
  app.add_flag("--json", options.json, "print JSON for programs: every check, and every failure with ranks and hosts");
}

// Runs the rehearsal, prints its findings and returns muster's exit code. The request is complete except for the
// rehearsal's own settings.
int Rehearse(const RehearseOptions& options, RunRequest request, Transport& transport) {
  RehearsalSettings settings;
  if (!options.within.empty()) {
    const std::optional<double> seconds = ParseDuration(options.within);
    if (!seconds || *seconds < kMinSeconds || *seconds > kMaxSeconds) {
      return Refuse({Error("usage", {}, "--within " + Quoted(options.within) + ": this is not a time from 1s to 10m",
                           DurationHint(options.within, "for example --within 20s"))},
                    options.json);
    }
    settings.within_ms = static_cast<std::uint32_t>(*seconds * 1000);
  }
  settings.search_dirs = request.search_dirs;
  const auto frameworks = OwnFrameworks();
  if (!frameworks) return Refuse(frameworks.error(), options.json);
  auto contract = OwnContractNamed(*frameworks, request.plan.framework);
  if (!contract) return Refuse({Error("contract", {}, contract.error())}, options.json);
  settings.contract = *std::move(contract);
  request.plan = RehearsalPlan(std::move(request.plan), settings);
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

}  // namespace

// muster run: evaluates a recipe (or takes a plan) and runs it, on this machine or on named hosts. muster replay: the
// same with the plan of an earlier run.

namespace {

// The hosts by their names in the plan; none if it has none.
std::vector<SiteHost> HostsInPlan(const Plan& plan) {
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

constexpr std::uint64_t kMinLeaseMs = 1'000;
constexpr std::uint64_t kMaxLeaseMs = 3'600'000;

Result<std::uint64_t> LeaseMs(const std::string& text) {
  if (text.empty()) return kDefaultLeaseMs;
  const std::optional<double> seconds = ParseDuration(text);
  if (seconds && *seconds * 1000 >= static_cast<double>(kMinLeaseMs) &&
      *seconds * 1000 <= static_cast<double>(kMaxLeaseMs)) {
    return static_cast<std::uint64_t>(*seconds * 1000);
  }
  return Fail(Error("usage", {}, "--host-lease " + Quoted(text) + ": this is not a time from 1s to 1h",
                    DurationHint(text, "for example --host-lease 10s")));
}

// Refuses what a run on this machine alone would ignore.
Result<void> CheckRunsHere(const RunOptions& options, const RunRequest& request) {
  const auto site = GetSite();
  const bool by_site = site && site->facts.transport == SiteTransport::kSsh && options.source.recipe.engine.on.empty();
  if (!options.source.replay && by_site && request.hosts.empty()) {
    return Fail(Error("hosts", site->facts.places.at("transport"),
                      "the site's transport is ssh, but no hosts are named",
                      "--host n[01-04], or hosts = \"n[01-04]\" in the site file"));
  }
  if (options.source.recipe.engine.on == "ssh") {
    return Fail(Error("usage", {}, "--on ssh, but no other hosts are named", "--host n[01-04]"));
  }
  for (const auto& [name, given] : {std::pair{"--agent", options.agent}, std::pair{"--host-lease", options.lease}}) {
    if (given.empty()) continue;
    return Fail(Error("usage", {}, fmt::format("{} is given, and the run is on this machine alone", name),
                      "name other hosts: --host n[01-04]"));
  }
  return {};
}

// The transport to the run's hosts. Of an engine, the processes do not get what describes the head's own task.
Result<std::unique_ptr<Transport>> TransportFor(const RunOptions& options, RunRequest& request, Isolation isolation,
                                                std::vector<std::string> faults) {
  std::vector<SiteHost> hosts = request.hosts;
  hosts.insert(hosts.end(), request.spares.begin(), request.spares.end());
  if (RunsHere(options.source.recipe, hosts)) {
    if (auto here = CheckRunsHere(options, request); !here) return Fail(here.error());
  }
  const Result<std::uint64_t> lease_ms = LeaseMs(options.lease);
  if (!lease_ms) return Fail(lease_ms.error());
  const RecipeOptions& recipe = options.source.recipe;
  auto transport =
      TransportTo(recipe, hosts, {options.agent, *lease_ms, isolation, std::move(faults), request.environment});
  request.engine = EngineJobOf(recipe, hosts, StopSeconds(request.plan));
  if (request.engine) PrintDiagnostics(LauncherWarnings(request.plan, *request.engine));
  request.environment = EnvironmentForHosts(recipe, hosts, std::move(request.environment));
  return transport;
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

// Where a call of muster run starts its processes.
enum class Whereabouts : std::uint8_t {
  kReachable,  // on this machine, on named hosts, or inside of the allocation that --on names
  kPods,       // in pods, which the run itself requests
  kSubmitted,  // in a job that is yet to be submitted
};

// A rehearsal and a replay are inside of the allocation that --on names; a run may ask for one, and is submitted then.
Result<Whereabouts> WhereaboutsOf(const RunOptions& options) {
  const EngineOptions& engine = options.source.recipe.engine;
  const auto pods = AsksForPods(engine);
  if (!pods) return Fail(pods.error());
  if (*pods) return Whereabouts::kPods;
  if (!options.as.empty()) return Fail(Error("usage", {}, "--as is for pods", "--on kubernetes"));
  const auto outside = AsksForAllocation(engine);
  if (!outside) return Fail(outside.error());
  const std::string name = engine.on.empty() ? "--engine " + engine.page : "--on " + engine.on;
  if (*outside && options.words.empty()) {
    return Fail(
        Error("usage", {}, name + ": this is not inside an allocation", "muster run … " + name + " submits a job"));
  }
  if (*outside && options.pty) {
    return Fail(Error("usage", {}, "--pty and " + name + " are given: a job has no terminal",
                      "in an interactive allocation: salloc muster run …"));
  }
  if (*outside) return Whereabouts::kSubmitted;
  if (engine.slurm.empty() && engine.settings.empty() && engine.kubernetes.empty()) return Whereabouts::kReachable;
  return Fail(
      Error("usage", {},
            "--slurm, --kubernetes and --engine-option ask for an allocation, and the run uses the one that it is in",
            "leave them out; they are for muster plan --on slurm, and for --on kubernetes"));
}

// The attempt that this job of an engine runs; nothing outside of submitted jobs.
Result<std::unique_ptr<SubmittedRun>> SubmittedAttempt(const RunOptions& options) {
  if (options.submitted.empty()) return nullptr;
  const auto engine = ChosenEngine(options.source.recipe.engine);
  if (!engine) return Fail(engine.error());
  if (!*engine || !(*engine)->allocation) {
    return Fail(Error("usage", {}, "--submitted is for the batch script of a submitted run"));
  }
  return SubmittedRun::Open(options.submitted, (*engine)->allocation->job);
}

// How the engine announces the end of the allocation.
Result<void> TakeNotice(const RecipeOptions& options, RunRequest& request) {
  const auto engine = EngineForHosts(options);
  if (!engine) return Fail(engine.error());
  if (*engine && (*engine)->page.warning) {
    const EngineWarning& warning = *(*engine)->page.warning;
    request.warning_signal = SignalNumber("SIG" + warning.signal).value_or(0);
    for (const std::string& signal : warning.ignored) {
      if (const auto number = SignalNumber("SIG" + signal)) request.ignored_signals.push_back(*number);
    }
  }
  if (!*engine || !(*engine)->page.notice || (*engine)->page.notice->signal == "TERM") return {};
  const auto signal = SignalNumber("SIG" + (*engine)->page.notice->signal);
  if (!signal) return {};
  request.notice_signal = *signal;
  request.notice = "the time limit of " + AllocationText(**engine) + " is near";
  return {};
}

// A call of muster run, rehearse or replay. It is prepared in steps, each of which refuses what it finds wrong; only
// when all have passed is anything started. The result is the exit code; a submission, a rehearsal and a run in the
// background print their own errors.
class RunCall {
 public:
  explicit RunCall(RunOptions options) : options_(std::move(options)) {}

  Result<int> Run();

 private:
  Result<void> CheckOptions();
  Result<void> AddPods();
  Result<void> ArmAllFaults();
  Result<void> OpenAttempt();
  Result<void> MakePlan();
  Result<void> ChooseSpares();
  Result<void> ReadSurroundings();
  Result<void> ChooseOutput();
  Result<void> ReachHosts();
  Result<int> Start();

  RecipeOptions& recipe() { return options_.source.recipe; }

  RunOptions options_;
  CheckedStart checked_;
  Isolation isolation_ = Isolation::kNone;
  std::vector<std::string> agent_faults_;
  std::unique_ptr<SubmittedRun> attempt_;  // of a submitted run
  RunRequest request_;
  std::unique_ptr<Transport> transport_;
};

Result<int> RunCall::Run() {
  if (auto checked = CheckOptions(); !checked) return Fail(checked.error());
  const auto where = WhereaboutsOf(options_);
  if (!where) return Fail(where.error());
  if (*where == Whereabouts::kSubmitted) return SubmitRun(options_, checked_);
  if (*where == Whereabouts::kPods) {
    if (auto added = AddPods(); !added) return Fail(added.error());
  }
  for (const auto step : {&RunCall::ArmAllFaults, &RunCall::OpenAttempt, &RunCall::MakePlan, &RunCall::ChooseSpares,
                          &RunCall::ReadSurroundings, &RunCall::ChooseOutput, &RunCall::ReachHosts}) {
    if (auto done = (this->*step)(); !done) return Fail(done.error());
  }
  return Start();
}

Result<void> RunCall::CheckOptions() {
  const auto without = ParseWithout(options_.without);
  if (!without) {
    return Fail(Error("usage", {}, "--without " + Quoted(options_.without) + ": there is no " + Quoted(without.error()),
                      "muster docs mechanisms lists them"));
  }
  recipe().without.Add(*without);
  if (!options_.isolate.empty()) {
    const auto isolation = ParseIsolation(options_.isolate);
    if (!isolation) {
      return Fail(Error("usage", {}, "--isolate " + Quoted(options_.isolate) + ": there is no such isolation",
                        "--isolate pid, or none"));
    }
    isolation_ = *isolation;
  }
  if (options_.pty) {
    if (auto terminal = CheckTerminal(options_); !terminal) return terminal;
  }
  const auto wait_ms = ReadWait(options_.wait);
  if (!wait_ms) return Fail(wait_ms.error());
  request_.devices.wait_ms = *wait_ms;
  request_.pass_exit_code = options_.pass_exit_code;
  request_.run_dir = options_.run_dir;
  request_.console = ConsoleFor(options_);
  auto checked = CheckStart(options_);
  if (!checked) return Fail(checked.error());
  checked_ = *std::move(checked);
  request_.tags = checked_.tags;
  return {};
}

Result<void> RunCall::AddPods() {
  if (options_.source.replay || !options_.source.plan_file.empty()) recipe().recipe.clear();
  return RequestPods(recipe(), options_.as);
}

Result<void> RunCall::ArmAllFaults() {
  auto faults = ArmFaults(options_.faults);
  if (!faults) return Fail(faults.error());
  agent_faults_ = *std::move(faults);
  return {};
}

Result<void> RunCall::OpenAttempt() {
  auto attempt = SubmittedAttempt(options_);
  if (!attempt) return Fail(attempt.error());
  attempt_ = *std::move(attempt);
  if (attempt_) options_.detach = false;  // it was for the command that submitted it
  return {};
}

Result<void> RunCall::MakePlan() {
  const std::uint64_t began = MonotonicNowNs();
  auto done = attempt_ ? attempt_->Fill(recipe(), request_) : FillPlan(options_.source, request_);
  if (!attempt_ || !attempt_->is_first()) {  // else the submitted plan has them
    if (done) done = ApplyPlanChanges(request_.plan, options_.changes);
    if (done) done = ApplyNotify(request_.plan, checked_.notify);
  }
  if (done) done = TakeNotice(recipe(), request_);
  request_.plan_ns = MonotonicNowNs() - began;
  return done;
}

Result<void> RunCall::ChooseSpares() {
  request_.hosts = HostsInPlan(request_.plan);
  recipe().job = request_.plan.name;
  request_.hosts_have_environment = recipe().pods.has_value();
  if (auto& pods = recipe().pods) pods->stop_seconds = StopSeconds(request_.plan);
  auto spares = SpareHosts(recipe(), request_.plan);
  if (!spares) return Fail(spares.error());
  request_.spares = *std::move(spares);
  return {};
}

// What this process and the site give the run; and hides the secrets in this process.
Result<void> RunCall::ReadSurroundings() {
  if (auto done = SetCallerEnvironment(request_); !done) return done;
  for (const auto& [name, secret] : request_.plan.secrets) BlankVariable(secret.from_env);
  BlankNotifySecrets(request_.plan.notifications);
  auto runs_folder = DefaultRunsFolder();
  if (!runs_folder) return Fail(runs_folder.error());
  request_.runs_folder = *std::move(runs_folder);
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  request_.for_group = site->facts.access == SiteAccess::kGroup;
  auto verdict_rules = ReadVerdictRules(site->facts);
  if (!verdict_rules) return Fail(std::move(verdict_rules.error()));
  request_.verdict_rules = *std::move(verdict_rules);
  if (attempt_) attempt_->Prepare(request_);
  WarnIfClosed(request_, options_.rehearse.has_value(), site->facts);
  request_.code_folder = FolderOfRecipe(recipe().recipe, request_.cwd);
  return {};
}

Result<void> RunCall::ChooseOutput() {
  auto tee = TeedProcesses(request_.plan, options_.tee);
  if (!tee) return Fail(tee.error());
  request_.console.tee = *std::move(tee);
  if (!options_.pty) return {};
  const auto process = ProcessAtTerminal(request_.plan, *options_.pty);
  if (!process) return Fail(process.error());
  request_.pty = request_.console.at_terminal = *process;
  return {};
}

Result<void> RunCall::ReachHosts() {
  auto transport = TransportFor(options_, request_, isolation_, std::move(agent_faults_));
  if (!transport) return Fail(transport.error());
  transport_ = *std::move(transport);
  auto applied = RunsHere(recipe(), request_.hosts) ? RefuseElsewhereOptions(options_.elsewhere)
                                                    : ApplyElsewhereOptions(options_.elsewhere, request_);
  request_.on_used_hosts = [environment = request_.environment](const auto& used) {
    RememberUsedHosts(used, environment);
  };
  if (recipe().pods) {  // the next run has other pods
    request_.on_bad_hosts = nullptr;
    request_.on_used_hosts = nullptr;
  }
  return applied;
}

Result<int> RunCall::Start() {
  if (options_.drill) {
    if (auto done = options_.drill->Run(std::move(request_), *transport_); !done) return Fail(done.error());
    return kExitOk;
  }
  if (options_.rehearse) return Rehearse(*options_.rehearse, std::move(request_), *transport_);
  if (options_.detach) return RunInBackground(std::move(request_), *transport_);
  const auto outcome = RunPlan(request_, *transport_);
  if (!outcome) return Fail(outcome.error());
  if (attempt_) attempt_->Ended(*outcome);
  return outcome->exit_code;
}

int RunRecipe(const RunOptions& options) {
  const auto exit_code = RunCall(options).Run();
  return exit_code ? *exit_code : Refuse(exit_code.error(), options.rehearse && options.rehearse->json);
}

// Options for executing a plan.
void AddStartOptions(CLI::App& app, const std::shared_ptr<RunOptions>& options) {
  app.add_option("--run-dir", options->run_dir, "the folder for this run instead of runs/NAME/TIME-ID")
      ->type_name("DIR");
  AddWaitOption(app, options->wait);
  AddPlanChanges(app, options->changes);
  AddNotifyOption(app, options->notify);
  app.add_option("--tag", options->tags, "a word, or NAME=VALUE, by which muster ls finds the run")
      ->type_name("TAG")
      ->allow_extra_args(false);
  app.add_flag("--detach,-d", options->detach,
               "run in the background once processes have started; prints the run's id and folder");
  auto* quiet = app.add_flag("--quiet,-q", options->quiet, "show only failures");
  app.add_flag("--verbose,-v", options->verbose, "print the whole report at the end: receipt, times, start-up")
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
  AddRecipeOptions(app, options->source.recipe, invocation, false);
  app.add_option("--plan", options->source.plan_file, "run exactly this plan (output of muster plan --json)")
      ->type_name("FILE");
  AddEngineSettings(app, options->source.recipe.engine);
  AddManifestForm(app, options->as);
  AddStartOptions(app, options);
  app.add_option("--submitted", options->submitted, "in a batch script: the directory of the submitted run")->group("");
  options->words = invocation.words;
  return [options] {
    if (options->source.plan_file.empty()) SettleResumed(options->source.recipe);
    return RunRecipe(*options);
  };
}

std::function<int()> SetupRehearse(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<RunOptions>();
  AddRecipeOptions(app, options->source.recipe, invocation, false);
  app.add_option("--plan", options->source.plan_file, "rehearse exactly this plan (output of muster plan --json)")
      ->type_name("FILE");
  AddRehearseOptions(app, options->rehearse.emplace());
  app.add_option("--run-dir", options->run_dir, "the folder for this rehearsal instead of runs/NAME.rehearsal/TIME-ID")
      ->type_name("DIR");
  AddWrapOption(app, options->changes);
  app.add_flag("--no-progress", options->no_progress, "no progress rows on a terminal");
  app.add_option("--isolate", options->isolate, "as for muster run")->type_name("KIND");
  AddAgentOption(app, options->agent);
  AddElsewhereOptions(app, options->elsewhere);
  return [options] {
    if (options->source.plan_file.empty()) SettleResumed(options->source.recipe);
    return RunRecipe(*options);
  };
}

std::function<int()> SetupDrill(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<RunOptions>();
  auto drill = std::make_shared<DrillOptions>();
  AddRecipeOptions(app, options->source.recipe, invocation, false);
  app.add_option("--plan", options->source.plan_file, "drill exactly this plan (output of muster plan --json)")
      ->type_name("FILE");
  AddDrillOptions(app, *drill);
  app.add_option("--isolate", options->isolate, "as for muster run")->type_name("KIND");
  AddAgentOption(app, options->agent);
  app.add_option("--host-lease", options->lease, "heartbeat timeout of other hosts (default: 10s)")->type_name("TIME");
  AddElsewhereOptions(app, options->elsewhere);
  return [options, drill] {
    if (options->source.plan_file.empty()) SettleResumed(options->source.recipe);
    options->drill = std::make_shared<Drill>(*drill);
    do {
      const auto ran = RunCall(*options).Run();
      if (!ran && options->drill->CannotResume(ran.error())) break;
      if (!ran) return Refuse(ran.error(), drill->json);
      options->source.recipe.checkpoint.clear();
      options->source.recipe.resume = options->drill->ToResume();
    } while (!options->source.recipe.resume.empty());
    return options->drill->Finish();
  };
}

std::function<int()> SetupReplay(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<RunOptions>();
  options->source.replay = true;
  AddRunArgument(app, options->source.replayed);
  AddHostOptions(app, options->source.recipe);
  AddStartOptions(app, options);
  return [options] { return RunRecipe(*options); };
}

// muster stub: runs the stub program of rehearsals (src/stub/) by hand.

std::function<int()> SetupStub(CLI::App& app, const Invocation& invocation) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one line of JSON, as stubs write it into their logs");
  return [json, command = invocation.words_after_dashes] {
    std::vector<std::string> words;
    if (*json) words.emplace_back("--json");
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return StubMain(pointers);
  };
}

}  // namespace muster
