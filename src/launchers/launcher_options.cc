#include "launchers/launcher_options.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "launchers/option_tables.h"

namespace muster {
namespace {

const std::vector<LauncherFacts>& AllFacts() {
  static const std::vector<LauncherFacts> all = {
      {.launcher = KnownLauncher::kTorchrun,
       .name = "torchrun",
       .programs = "torchrun",
       .modules = "torch.distributed.run",
       .title = "torchrun",
       .framework = "torch",
       .options = OptionsOf(KnownLauncher::kTorchrun),
       .calls_python = true,
       .underscores = true,
       .beginnings = true},
      {.launcher = KnownLauncher::kTorchLaunch,
       .name = "torch.distributed.launch",
       .programs = "",
       .modules = "torch.distributed.launch",
       .title = "torchrun and python -m torch.distributed.launch",
       .framework = "torch",
       .options = OptionsOf(KnownLauncher::kTorchLaunch),
       .local_rank = "--local-rank=",
       .calls_python = true,
       .underscores = true,
       .beginnings = true},
      {.launcher = KnownLauncher::kMsrun,
       .name = "msrun",
       .programs = "msrun",
       .modules = "mindspore.parallel.cluster.run",
       .title = "msrun",
       .framework = "mindspore",
       .options = OptionsOf(KnownLauncher::kMsrun),
       .calls_python = true,
       .beginnings = true},
      {.launcher = KnownLauncher::kMpirun,
       .name = "mpirun",
       .programs = "mpirun mpiexec orterun prterun mpirun.openmpi mpiexec.openmpi",
       .modules = "",
       .title = "mpirun of Open MPI",
       .framework = "mpi",
       .options = OptionsOf(KnownLauncher::kMpirun),
       .any_dashes = true},
      {.launcher = KnownLauncher::kHydra,
       .name = "mpiexec.hydra",
       .programs = "mpiexec.hydra mpiexec mpirun mpirun.hydra mpiexec.mpich mpirun.mpich",
       .modules = "",
       .title = "mpiexec.hydra of MPICH and Intel MPI",
       .framework = "mpi",
       .options = OptionsOf(KnownLauncher::kHydra),
       .any_dashes = true},
      {.launcher = KnownLauncher::kDeepspeed,
       .name = "deepspeed",
       .programs = "deepspeed ds deepspeed.pt",
       .modules = "deepspeed.launcher.runner",
       .title = "deepspeed",
       .framework = "torch",
       .options = OptionsOf(KnownLauncher::kDeepspeed),
       .local_rank = "--local_rank=",
       .calls_python = true,
       .beginnings = true},
      {.launcher = KnownLauncher::kAccelerate,
       .name = "accelerate",
       .programs = "accelerate accelerate-launch",
       .modules = "accelerate.commands.launch accelerate.commands.accelerate_cli",
       .title = "accelerate launch",
       .framework = "torch",
       .options = OptionsOf(KnownLauncher::kAccelerate),
       .subcommand = "launch",
       .calls_python = true,
       .underscores = true},
      {.launcher = KnownLauncher::kHorovodrun,
       .name = "horovodrun",
       .programs = "horovodrun",
       .modules = "horovod.runner.launch horovod.runner horovod.run",
       .title = "horovodrun",
       .framework = "mpi",
       .options = OptionsOf(KnownLauncher::kHorovodrun),
       .beginnings = true},
  };
  return all;
}

constexpr std::string_view kOtherNames[][2] = {{"mpiexec", "mpirun"},
                                               {"orterun", "mpirun"},
                                               {"hydra", "mpiexec.hydra"},
                                               {"mpich", "mpiexec.hydra"},
                                               {"accelerate launch", "accelerate"}};

std::string_view WithoutDashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

// Calls `take` for each name of the option, until it returns true.
template <class Take>
bool AnyName(std::string_view names, const Take& take) {
  while (!names.empty()) {
    const std::size_t blank = std::min(names.find(' '), names.size());
    if (take(names.substr(0, blank))) return true;
    names.remove_prefix(std::min(blank + 1, names.size()));
  }
  return false;
}

// Normalises a name, so that two spellings of it are equal.
std::string Compared(const LauncherFacts& facts, std::string_view name) {
  std::string text(facts.any_dashes ? WithoutDashes(name) : name);
  if (facts.underscores) std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

// The counterpart of an option, for a table.
std::string Becomes(const LauncherOption& option) {
  switch (option.effect) {
    case OptionEffect::kHosts:
      return "`cluster.hosts`";
    case OptionEffect::kPerHost:
      return "`per_host`";
    case OptionEffect::kTotal:
      return "the number of workers";
    case OptionEffect::kHostList:
    case OptionEffect::kHostFile:
    case OptionEffect::kSlots:
    case OptionEffect::kExcludes:
      return "`cluster`; the head of the recipe has the words for `muster run --host`";
    case OptionEffect::kDevices:
      return "the head of the recipe has the words for `muster run --devices`";
    case OptionEffect::kRestarts:
      return "`restart = { max = N, scope = \"role\" }`";
    case OptionEffect::kModule:
      return "`command = { \"python3\", \"-m\", … }`";
    case OptionEffect::kNoPython:
      return "`command` without `python3`";
    case OptionEffect::kNoLocalRank:
      return "`command` without the local rank, which is otherwise its first argument";
    case OptionEffect::kFolder:
      return "`cwd`";
    case OptionEffect::kVariable:
      return "`env`; without a value given to mpirun";
    case OptionEffect::kVariableAndValue:
      return "`env`";
    case OptionEffect::kUnset:
      return "`env = { NAME = muster.unset }`";
    case OptionEffect::kSets:
    case OptionEffect::kSetsLower:
    case OptionEffect::kSetsMebibytes:
    case OptionEffect::kAssigns:
      return "`env`, the variable that the launcher sets";
    case OptionEffect::kKept:
    case OptionEffect::kMapping:
    case OptionEffect::kKeptWords:
      return "`args` of the framework `mpi`: given to mpirun";
    case OptionEffect::kConfigFile:
      return "read; its options are treated like those of the command line";
    case OptionEffect::kBinding:
      return "`cores = \"auto\"`, or `cores = N` where it lists N cores for each device; other lists are left out";
    case OptionEffect::kSimulation:
    case OptionEffect::kSimulatedRank:
      return "`framework = \"none\"` with `MS_SIMULATION_LEVEL`, `RANK_ID` and `RANK_SIZE`";
    case OptionEffect::kNodeRank:
      return "left out: it " + std::string(option.text) + "; with `--sim_level` the first rank";
    case OptionEffect::kTrueOrFalse:
    case OptionEffect::kLeftOut:
      return "left out: it " + std::string(option.text);
    case OptionEffect::kRefused:
      return "refused: it " + std::string(option.text);
  }
  return {};
}

std::string OptionTable(const LauncherFacts& facts) {
  std::string text = fmt::format("### {}\n\n| option | becomes |\n| --- | --- |\n", facts.title);
  std::vector<std::pair<std::string, std::string>> rows;  // counterpart, options
  for (const LauncherOption& option : facts.options) {
    // Only the older launcher passes the local rank to its program.
    if (option.effect == OptionEffect::kNoLocalRank && facts.local_rank.empty()) continue;
    const std::string becomes = Becomes(option);
    auto row = std::find_if(rows.begin(), rows.end(), [&](const auto& one) { return one.first == becomes; });
    if (row == rows.end()) row = rows.insert(rows.end(), {becomes, {}});
    AnyName(option.names, [&](std::string_view name) {
      row->second += fmt::format("{}`{}`", row->second.empty() ? "" : ", ", name);
      return false;
    });
  }
  for (const auto& [becomes, options] : rows) text += fmt::format("| {} | {} |\n", options, becomes);
  return text;
}

}  // namespace

const LauncherFacts& FactsOf(KnownLauncher launcher) { return AllFacts()[static_cast<std::size_t>(launcher)]; }

std::optional<KnownLauncher> LauncherByName(std::string_view name) {
  for (const auto& [other, its] : kOtherNames) {
    if (name == other) name = its;
  }
  for (const LauncherFacts& facts : AllFacts()) {
    if (facts.name == name || facts.title == name) return facts.launcher;
  }
  return std::nullopt;
}

std::string LauncherNames(std::string_view last) {
  std::string text;
  for (const LauncherFacts& facts : AllFacts()) {
    if (facts.programs.empty()) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", facts.name);
  }
  return fmt::format("{} or {}", text, last);
}

const LauncherOption* FindOption(const LauncherFacts& facts, std::string_view name) {
  const std::string wanted = Compared(facts, name);
  const LauncherOption* beginning = nullptr;
  bool several = false;
  for (const LauncherOption& option : facts.options) {
    const bool found = AnyName(option.names, [&](std::string_view one) {
      const std::string known = Compared(facts, one);
      if (known == wanted) return true;
      if (facts.beginnings && wanted.size() > 2 && wanted.starts_with("--") && known.starts_with(wanted)) {
        // Options with the same effect may share a prefix.
        several = several || (beginning != nullptr && beginning != &option);
        beginning = &option;
      }
      return false;
    });
    if (found) return &option;
  }
  return several ? nullptr : beginning;
}

std::vector<std::string> OptionNames(const LauncherFacts& facts) {
  std::vector<std::string> names;
  for (const LauncherOption& option : facts.options) {
    AnyName(option.names, [&names](std::string_view name) {
      names.emplace_back(name);
      return false;
    });
  }
  return names;
}

std::string OptionTables() {
  std::string text;
  for (const LauncherFacts& facts : AllFacts()) {
    if (facts.launcher == KnownLauncher::kTorchrun) continue;  // the older launcher has all of its options and one more
    text += (text.empty() ? "" : "\n") + OptionTable(facts);
  }
  return text;
}

}  // namespace muster
