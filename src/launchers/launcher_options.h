// The options of other projects' launchers, as data: how each is written, whether it takes values, and what becomes of
// it in a recipe. Taken from the documentation and sources of torch.distributed.run (PyTorch 1.13 to 2.10), msrun
// (MindSpore 2.3 to 2.7), mpirun (Open MPI 4.1 and 5.0), Hydra (MPICH 4, Intel MPI 2021), DeepSpeed 0.18,
// Accelerate 1.10 and Horovod 0.28.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

enum class KnownLauncher : std::uint8_t {
  kTorchrun,
  kTorchLaunch,  // python -m torch.distributed.launch
  kMsrun,
  kMpirun,  // Open MPI
  kHydra,   // MPICH and Intel MPI
  kDeepspeed,
  kAccelerate,
  kHorovodrun,
};
inline constexpr std::size_t kLauncherCount = 8;

enum class OptionEffect : std::uint8_t {
  kHosts,             // number of hosts, or torchrun's LOWEST:HIGHEST
  kPerHost,           // processes of each host, or torchrun's auto, gpu, xpu, cpu
  kTotal,             // processes of all hosts
  kHostList,          // "a:4,b:4"
  kHostFile,          // a file of hosts
  kSlots,             // DeepSpeed's "NAME:SLOT,SLOT@NAME"
  kDevices,           // numbers of devices
  kRestarts,          // restarts of all workers
  kModule,            // the program is a Python module
  kNoPython,          // the program is started as it is
  kNoLocalRank,       // the program is not given its local rank
  kFolder,            // working folder
  kVariable,          // NAME or NAME=VALUE
  kVariableAndValue,  // NAME VALUE
  kUnset,             // NAMES, separated by commas, which processes do not inherit
  kSets,              // the variable `text` to the value
  kSetsLower,         // the same, in small letters
  kSetsMebibytes,     // the same, times 2^20
  kAssigns,           // `text` is NAME=VALUE
  kMapping,           // a word for MPI's own launcher; "ppr:N:node" also says how many processes a host has
  kKept,              // a word for MPI's own launcher
  kKeptWords,         // one value that holds several such words
  kConfigFile,        // Accelerate's YAML file
  kSimulation,        // MindSpore's simulation level
  kSimulatedRank,     // its only rank
  kLeftOut,           // no counterpart: `text` says what it did
  kRefused,           // leaving it out would start something else: `text` says what
};

struct LauncherOption {
  std::string_view names;  // as its documentation writes them, separated by blanks
  OptionEffect effect = OptionEffect::kLeftOut;
  int values = 1;
  // A variable's name, what the option did, or for an option without values the value that it stands for.
  std::string_view text = {};
};

struct LauncherFacts {
  KnownLauncher launcher = KnownLauncher::kTorchrun;
  std::string_view name;      // for --from
  std::string_view programs;  // what the first word of a command line may be
  std::string_view modules;   // what may follow `python -m`
  std::string_view title;     // for people
  std::string_view framework;
  std::span<const LauncherOption> options;
  std::string_view subcommand = {};  // which follows the program's name
  std::string_view local_rank = {};  // option by which the program is told its local rank
  bool calls_python = false;         // for a program that ends in .py
  bool any_dashes = false;           // -name and --name are the same
  bool underscores = false;          // - and _ are the same in names
  bool beginnings = false;           // a unique beginning of a long option is that option
};

const LauncherFacts& FactsOf(KnownLauncher launcher);

// By a name for --from; nothing if there is none of that name.
std::optional<KnownLauncher> LauncherByName(std::string_view name);
// All names for --from, "torchrun, msrun or mpirun": the last one behind `last`.
std::string LauncherNames(std::string_view last);

// The option that is written so: `name` with its dashes and without a value. Nothing if it is not known, or a beginning
// of several options.
const LauncherOption* FindOption(const LauncherFacts& facts, std::string_view name);

// All names of all options, for a "did you mean".
std::vector<std::string> OptionNames(const LauncherFacts& facts);

// Tables for docs/coming-from.md, one for each launcher: options and what becomes of them.
std::string OptionTables();

}  // namespace muster
