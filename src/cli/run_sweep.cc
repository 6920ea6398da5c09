#include "cli/run_sweep.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fingerprint.h"
#include "base/shell_quote.h"
#include "cli/blank_variable.h"
#include "cli/exit_code.h"
#include "cli/print_diagnostics.h"
#include "cli/run_argument.h"
#include "cli/run_surroundings.h"
#include "cli/site_of_call.h"
#include "cli/stored_recipe.h"
#include "cli/sweep_changes.h"
#include "cli/way_to_hosts.h"
#include "run/json_text.h"
#include "run/run_files.h"
#include "sweep/host_pool.h"
#include "sweep/sweep_directory.h"
#include "sweep/sweep_head.h"
#include "transport/local.h"
#include "transport/ssh.h"

namespace muster {
namespace {

constexpr std::size_t kSweepIdBytes = 6;

int Refuse(const Diagnostics& problems) {
  PrintDiagnostics(problems);
  return ExitCodeFor(problems);
}

// What the recipe's trials are made of: everything that was read for one that is possible.
Result<Evaluation> FirstEvaluation(const DescribedSweep& described, Evaluator& evaluator) {
  constexpr std::uint64_t kLookedAt = 512;
  EvaluationOptions options = described.evaluation;
  const auto judgement = evaluator.Judge(options, described.sweep, {JudgeRequest::What::kTrials, 0, kLookedAt, true});
  if (!judgement) return Fail(judgement.error());
  auto space = CompiledSpace::Of(described.sweep.space);
  if (!space) return Fail(space.error());
  auto sampler = Sampler::Of(*space, described.sweep.sampler);
  if (!sampler) return Fail(sampler.error());
  for (const PossiblePoints& possible : judgement->footprints) {
    if (possible.ranges.empty()) continue;
    AddPoint(sampler->At(possible.ranges.front().first), options.overrides);
    return evaluator.Evaluate(options);
  }
  options.depth = EvaluationDepth::kParameters;
  return evaluator.Evaluate(options);
}

// By which a change of what trials are made of is seen.
std::string RecipeHash(const Evaluation& evaluation, const EvaluationOptions& options) {
  Sha256 hash;
  for (const auto& [path, bytes] : evaluation.sources) {
    hash.Add(path + '\0' + Sha256Hex(bytes) + '\n');
  }
  for (const Input& input : evaluation.inputs) {
    if (input.kind == "variable") hash.Add(input.name + '=' + input.sha256 + '\n');
  }
  hash.Add(JsonText(EvaluationRecord(options)));
  return hash.Hex().substr(0, 16);
}

// Where the sweep's trials run: hosts that are named, or this machine.
Result<std::vector<SiteHost>> HostsOfSweep(const RecipeOptions& options) {
  auto hosts = NamedHosts(options);
  if (hosts && IsHereAlone(*hosts)) return std::vector<SiteHost>{};
  return hosts;
}

struct Start {
  const RunDirectory& directory;
  SweepFile file;
  DescribedSweep described;
  std::string recipe_hash;
  bool accepted = false;
  std::vector<SiteHost> hosts;
  std::vector<std::string> secrets;  // variables that hold some
  std::function<std::vector<TrialRange>(const SweepAccount&)> reopen;
};

std::vector<std::string> SecretsOf(const Plan& plan) {
  std::vector<std::string> variables;
  for (const auto& [name, secret] : plan.secrets) variables.push_back(secret.from_env);
  return variables;
}

int Run(Start start, const SweepStartOptions& options, const Without& without) {
  SweepRequest request;
  request.description = std::move(start.described.sweep);
  request.folder = start.directory.path();
  request.folder_fd = start.directory.folder();
  request.began.sweep_id = start.file.sweep_id;
  request.began.name = start.file.name;
  request.began.muster = MUSTER_VERSION;
  request.began.recipe = start.recipe_hash;
  request.began.accepted = start.accepted;
  request.reopen = std::move(start.reopen);
  auto stored = EvaluationOfRun(start.directory.path());
  if (!stored) return Refuse(stored.error());
  request.evaluation = *std::move(stored);
  request.evaluation.without = without;
  request.evaluation_record = EvaluationRecord;
  auto surroundings = SurroundRun(request.run);
  if (!surroundings) return Refuse(surroundings.error());
  for (const std::string& secret : start.secrets) BlankVariable(secret);
  const auto site = GetSite();
  if (!site) return Refuse(site.error());
  request.run.for_group = site->facts.access == SiteAccess::kGroup;
  request.hosts = std::move(start.hosts);
  request.devices = request.evaluation.site.devices_per_host.value_or(request.evaluation.site.host_devices);
  if (request.devices == 0) request.devices = start.described.devices_per_host;
  request.quiet = options.quiet;
  const char* terminal = std::getenv("TERM");
  request.progress = !options.no_progress && terminal != nullptr && std::string_view(terminal) != "dumb";
  request.err = STDERR_FILENO;

  std::unique_ptr<Transport> transport;
  if (request.hosts.empty()) {
    transport = std::make_unique<LocalTransport>(std::string(), without);
  } else {
    transport =
        std::make_unique<SshTransport>(WayToAgents(options.agent, request.run.environment), kDefaultLeaseMs, without);
  }
  const auto outcome = RunSweep(request, *transport);
  if (!outcome) return Refuse(outcome.error());
  if (!outcome->complete && !options.quiet) {
    std::fprintf(stderr, "muster: to go on: muster resume %s\n", ShellQuoted(start.file.sweep_id).c_str());
  }
  return outcome->exit_code;
}

}  // namespace

void AddSweepStartOptions(CLI::App& app, SweepStartOptions& options) {
  app.add_flag("--quiet,-q", options.quiet, "show only failures");
  app.add_flag("--no-progress", options.no_progress, "on a terminal: no rows that tell how far it is");
  AddAgentOption(app, options.agent);
}

int RunSweep(SweepCall call) {
  DescribedSweep& described = call.described;
  auto hosts = HostsOfSweep(call.options.recipe);
  if (!hosts) return Refuse(hosts.error());
  auto first = FirstEvaluation(described, call.evaluator);
  if (!first) return Refuse(first.error());
  if (const Diagnostics refused = RefusedByRun(first->warnings); !refused.empty()) return Refuse(refused);
  PrintDiagnostics(first->warnings);
  const TrialNeeds needs = NeedsOf(first->plan);
  // Trials beside each other share a host's devices.
  described.evaluation.devices.any =
      std::any_of(needs.begin(), needs.end(), [](const HostShare& share) { return share.devices > 0; });
  described.devices_per_host = first->devices_per_host;
  std::error_code error;
  SweepFile file;
  file.sweep_id = RandomHex(kSweepIdBytes);
  file.name = described.sweep.name;
  file.doc = described.sweep.doc;
  file.objective = described.sweep.objective;
  file.words = call.start.words;
  file.cwd = std::filesystem::current_path(error);
  if (error) return Refuse({SystemError("cwd", "the current folder cannot be told", error.value())});
  auto space = CompiledSpace::Of(described.sweep.space);
  if (!space) return Refuse(space.error());
  file.names = space->names();
  if (const auto sampler = Sampler::Of(*space, described.sweep.sampler)) file.trials = sampler->size();

  const auto site = GetSite();
  if (!site) return Refuse(site.error());
  auto sweeps_folder = DefaultSweepsFolder();
  if (!sweeps_folder) return Refuse(sweeps_folder.error());
  auto directory = MakeSweepDirectory(*sweeps_folder, file.name, StampText(WallNowNs()), file.sweep_id,
                                      site->facts.access == SiteAccess::kGroup);
  if (!directory) return Refuse(directory.error());
  const Value inputs = InputsValue(first->inputs);
  // The last of them: without it the directory is none.
  auto written = WriteRecipe(directory->folder(), inputs, EvaluationRecord(described.evaluation), {}, first->sources);
  if (written) {
    written =
        WriteNewFile(directory->folder(), "sweep.json", SweepFileText(file, SweepDescriptionValue(described.sweep)));
  }
  if (!written) return Refuse(written.error());
  if (!call.start.quiet) {
    std::fprintf(stderr, "muster: sweep %s of %s: %llu trials, in %s\n", file.sweep_id.c_str(),
                 Printable(file.name).c_str(), static_cast<unsigned long long>(file.trials),
                 Printable(directory->path()).c_str());
  }
  std::string hash = RecipeHash(*first, described.evaluation);
  const Without without = call.options.recipe.without;
  return Run({*directory,
              std::move(file),
              std::move(described),
              std::move(hash),
              false,
              *std::move(hosts),
              SecretsOf(first->plan),
              {}},
             call.start, without);
}

int ContinueSweep(const SweepContinuation& continuation) {
  auto found = FindSweep(continuation.sweep);
  if (!found) return Refuse(found.error());
  auto directory = HoldSweepDirectory(*found);
  if (!directory) return Refuse(directory.error());
  auto file = ReadSweepFile(*found);
  if (!file) return Refuse(file.error());
  auto read = ReadSweepWords(file->words);
  if (!read) return Refuse(read.error());
  const SweepOptions options = *std::move(read);
  auto hosts = HostsOfSweep(NamesHosts(continuation.hosts) ? continuation.hosts : options.recipe);
  if (!hosts) return Refuse(hosts.error());

  auto changes = ChangesOfSweep(*found);
  if (!changes) return Refuse(changes.error());
  if (!changes->empty()) {
    if (!continuation.accept) {
      std::fputs(changes->text.c_str(), stderr);
      return Refuse({Error("recipe_changed", {}, "what the sweep's trials are made of has changed since it began",
                           "muster resume --accept goes on with what is there now and keeps all results; else put it "
                           "back as it was")});
    }
    if (auto taken = TakeChanges(directory->folder(), *found, *changes); !taken) return Refuse(taken.error());
  }
  auto stored = EvaluationOfRun(*found);
  if (!stored) return Refuse(stored.error());
  stored->without = options.recipe.without;
  Evaluator evaluator;
  auto described = DescribeSweep(options, *stored, evaluator);
  if (!described) return Refuse(described.error());
  if (auto same = CheckSamePoints(*found, described->sweep); !same) return Refuse(same.error());
  auto first = FirstEvaluation(*described, evaluator);
  if (!first) return Refuse(first.error());
  described->devices_per_host = first->devices_per_host;
  std::string hash = RecipeHash(*first, described->evaluation);
  return Run({*directory, *std::move(file), *std::move(described), std::move(hash), !changes->empty(),
              *std::move(hosts), SecretsOf(first->plan), continuation.reopen},
             continuation.start, options.recipe.without);
}

}  // namespace muster
