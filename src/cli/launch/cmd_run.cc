// muster run: evaluates a recipe (or takes a plan) and runs it, on this machine or on named hosts. muster replay: the
// same with the plan of an earlier run. muster rehearse and muster stub: the same with stubs instead of the
// processes, and one of these stubs by hand (src/stub/).
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
#include "cli/launch/run_preparation.h"
#include "cli/launch/submit_run.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/run_argument.h"
#include "cli/options/batch_call.h"
#include "cli/options/named_hosts.h"
#include "cli/options/recipe_options.h"
#include "cli/options/start_settings.h"
#include "muster/result.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_tags.h"
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

struct RehearseOptions {
  std::string within;  // a duration; empty: not given
  bool json = false;
};

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

struct RunOptions {
  PlanSource source;
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
  std::vector<std::string> notify;
  std::vector<std::string> tags;
  std::string isolate;
  std::string wait;
  std::string agent;
  std::string as;  // --as
  std::string lease;
  ElsewhereOptions elsewhere;
  std::string without;
  std::vector<std::string> faults;
  std::optional<RehearseOptions> rehearse;  // muster rehearse
  std::string submitted;                    // the directory of the run, in the job that it was submitted as
  std::vector<std::string> words;           // of a call that may submit the run
};

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

// Pods are requested by the run itself.
Result<bool> TakesPods(RunOptions& options) {
  const EngineOptions& engine = options.source.recipe.engine;
  const auto pods = AsksForPods(engine);
  if (!pods) return Fail(pods.error());
  if (!*pods) {
    if (!options.as.empty()) return Fail(Error("usage", {}, "--as is for pods", "--on kubernetes"));
    return false;
  }
  if (options.source.replay || !options.source.plan_file.empty()) options.source.recipe.recipe.clear();
  if (auto requested = RequestPods(options.source.recipe, options.as); !requested) return Fail(requested.error());
  return true;
}

// A rehearsal and a replay are inside of the allocation that --on names; a run may ask for one, and is submitted then.
Result<bool> IsSubmission(RunOptions& options) {
  const auto pods = TakesPods(options);
  if (!pods) return Fail(pods.error());
  if (*pods) return false;
  const EngineOptions& engine = options.source.recipe.engine;
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
  if (*outside) return true;
  if (engine.slurm.empty() && engine.settings.empty() && engine.kubernetes.empty()) return false;
  return Fail(
      Error("usage", {},
            "--slurm, --kubernetes and --engine-option ask for an allocation, and the run uses the one that it is in",
            "leave them out; they are for muster plan --on slurm, and for --on kubernetes"));
}

ConsoleOptions ConsoleFor(const RunOptions& options) {
  ConsoleOptions console;
  console.quiet = options.quiet;
  console.verbose = options.verbose;
  const char* terminal = std::getenv("TERM");
  console.progress =
      !options.no_progress && !options.quiet && terminal != nullptr && std::string_view(terminal) != "dumb";
  return console;
}

int Submit(const RunOptions& options) {
  return SubmitRun({.source = options.source,
                    .words = options.words,
                    .run_dir = options.run_dir,
                    .wraps = options.wraps,
                    .log_max = options.log_max,
                    .notify = options.notify,
                    .tags = options.tags,
                    .detach = options.detach,
                    .console = ConsoleFor(options)});
}

// The attempt that this job of an engine runs; nothing outside of submitted jobs.
Result<std::unique_ptr<SubmittedRun>> SubmittedAttempt(RunOptions& options) {
  if (options.submitted.empty()) return nullptr;
  options.detach = false;  // for the command that submitted it
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

int RunRecipe(RunOptions& options) {
  const bool json = options.rehearse && options.rehearse->json;
  const auto without = ParseWithout(options.without);
  if (!without) {
    return Refuse(
        {Error("usage", {}, "--without " + Quoted(options.without) + ": there is no " + Quoted(without.error()),
               "muster docs mechanisms lists them")},
        json);
  }
  options.source.recipe.without.Add(*without);
  const auto isolation = options.isolate.empty() ? Isolation::kNone : ParseIsolation(options.isolate);
  if (!isolation) {
    return Refuse({Error("usage", {}, "--isolate " + Quoted(options.isolate) + ": there is no such isolation",
                         "--isolate pid, or none")},
                  json);
  }
  if (options.pty) {
    if (const auto terminal = CheckTerminal(options); !terminal) return Refuse(terminal.error(), json);
  }
  const auto outside = IsSubmission(options);
  if (!outside) return Refuse(outside.error(), json);
  if (*outside) return Submit(options);
  auto attempt = SubmittedAttempt(options);
  if (!attempt) return Refuse(attempt.error(), json);
  auto faults = ArmFaults(options.faults);
  if (!faults) return Refuse(faults.error(), json);
  const std::uint64_t began = MonotonicNowNs();
  RunRequest request;
  const auto notify = ParseNotify(options.notify);
  if (!notify) return Refuse(notify.error(), json);
  auto filled = *attempt ? (*attempt)->Fill(options.source.recipe, request) : FillPlan(options.source, request);
  if (!*attempt || !(*attempt)->is_first()) {  // else the submitted plan has them
    if (filled) filled = ApplyWraps(request.plan, options.wraps);
    if (filled) filled = ApplyLogLimit(request.plan, options.log_max);
    if (filled) filled = ApplyNotify(request.plan, *notify);
  }
  if (filled) filled = TakeNotice(options.source.recipe, request);
  if (!filled) return Refuse(filled.error(), json);
  request.plan_ns = MonotonicNowNs() - began;
  request.hosts = HostsInPlan(request.plan);
  options.source.recipe.job = request.plan.name;
  request.hosts_have_environment = options.source.recipe.pods.has_value();
  if (auto& pods = options.source.recipe.pods) pods->stop_seconds = StopSeconds(request.plan);
  auto spares = SpareHosts(options.source.recipe, request.plan);
  if (!spares) return Refuse(spares.error(), json);
  request.spares = *std::move(spares);
  if (auto surrounded = SetCallerEnvironment(request); !surrounded) return Refuse(surrounded.error(), json);
  for (const auto& [name, secret] : request.plan.secrets) BlankVariable(secret.from_env);
  BlankNotifySecrets(request.plan.notifications);
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
  if (*attempt) (*attempt)->Prepare(request);
  WarnIfClosed(request, options.rehearse.has_value(), site->facts);
  const auto wait_ms = ReadWait(options.wait);
  if (!wait_ms) return Refuse(wait_ms.error(), json);
  request.devices.wait_ms = *wait_ms;
  request.pass_exit_code = options.pass_exit_code;
  request.console = ConsoleFor(options);
  auto tee = TeedProcesses(request.plan, options.tee);
  if (!tee) return Refuse(tee.error());
  request.console.tee = *std::move(tee);
  if (options.pty) {
    const auto process = ProcessAtTerminal(request.plan, *options.pty);
    if (!process) return Refuse(process.error(), json);
    request.pty = request.console.at_terminal = *process;
  }

  request.code_folder = FolderOfRecipe(options.source.recipe.recipe, request.cwd);
  auto transport = TransportFor(options, request, *isolation, *std::move(faults));
  if (!transport) return Refuse(transport.error(), json);
  const auto applied = RunsHere(options.source.recipe, request.hosts)
                           ? RefuseElsewhereOptions(options.elsewhere)
                           : ApplyElsewhereOptions(options.elsewhere, request);
  if (!applied) return Refuse(applied.error(), json);
  if (options.source.recipe.pods) request.on_bad_hosts = nullptr;  // the next run has other pods
  if (options.rehearse) return Rehearse(*options.rehearse, std::move(request), **transport);
  if (options.detach) return RunInBackground(std::move(request), **transport);
  const auto outcome = RunPlan(request, **transport);
  if (!outcome) return Refuse(outcome.error());
  if (*attempt) (*attempt)->Ended(*outcome);
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
  AddWrapOption(app, options->wraps);
  app.add_flag("--no-progress", options->no_progress, "no progress rows on a terminal");
  app.add_option("--isolate", options->isolate, "as for muster run")->type_name("KIND");
  AddAgentOption(app, options->agent);
  AddElsewhereOptions(app, options->elsewhere);
  return [options] {
    if (options->source.plan_file.empty()) SettleResumed(options->source.recipe);
    return RunRecipe(*options);
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
