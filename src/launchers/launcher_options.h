// The other launchers as data: by which words a command line is recognised as theirs, and the spelling, number of
// values and counterpart in a recipe of each option. Taken from the documentation and sources of
// torch.distributed.run (PyTorch 1.13 to 2.10), msrun (MindSpore 2.3 to 2.7), mpirun (Open MPI 4.1 and 5.0), Hydra
// (MPICH 4, Intel MPI 2021), DeepSpeed 0.18, Accelerate 1.10 and Horovod 0.28.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The options of other launchers, as data: spelling, number of values, and counterpart in a recipe. Taken from
// the documentation and sources of torch.distributed.run (PyTorch 1.13 to 2.10), msrun (MindSpore 2.3 to 2.7),
// mpirun (Open MPI 4.1 and 5.0), Hydra (MPICH 4, Intel MPI 2021), DeepSpeed 0.18, Accelerate 1.10 and Horovod
// 0.28.

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
  kPerHost,           // processes per host, or torchrun's auto, gpu, xpu, cpu
  kTotal,             // processes in all
  kHostList,          // "a:4,b:4"
  kHostFile,          // a file of hosts
  kSlots,             // DeepSpeed's "NAME:SLOT,SLOT@NAME"
  kExcludes,          // the same: hosts and devices that are not used
  kDevices,           // numbers of devices
  kRestarts,          // restarts of all workers
  kModule,            // the program is a Python module
  kNoPython,          // the program is started without Python
  kNoLocalRank,       // the local rank is not passed to the program
  kFolder,            // working folder
  kVariable,          // NAME or NAME=VALUE
  kVariableAndValue,  // NAME VALUE
  kUnset,             // NAMES, separated by commas, of variables that processes do not inherit
  kSets,              // sets the variable `text` to the value
  kSetsLower,         // the same, in lower case
  kSetsMebibytes,     // the same, times 2^20
  kAssigns,           // `text` is NAME=VALUE
  kMapping,           // an argument for MPI's own launcher; "ppr:N:node" also sets the number of processes per host
  kKept,              // an argument for MPI's own launcher
  kKeptWords,         // one value with several such arguments
  kConfigFile,        // Accelerate's YAML file
  kBinding,           // msrun's True, False or core lists
  kSimulation,        // MindSpore's simulation level
  kSimulatedRank,     // its only rank
  kNodeRank,          // the number of this host; `text` as for kLeftOut
  kTrueOrFalse,       // as kLeftOut; only True and False are valid
  kLeftOut,           // no counterpart: `text` is its effect
  kRefused,           // cannot be ignored: `text` is what would change
};

struct LauncherOption {
  std::string_view names;  // as in its documentation, separated by blanks
  OptionEffect effect = OptionEffect::kLeftOut;
  int values = 1;
  // A variable's name, the option's effect, or for an option without values the value that it stands for.
  std::string_view text = {};
};

struct LauncherFacts {
  KnownLauncher launcher = KnownLauncher::kTorchrun;
  std::string_view name;      // for --from
  std::string_view programs;  // possible first words of a command line
  std::string_view modules;   // modules that may follow `python -m`
  std::string_view title;     // for people
  std::string_view framework;
  std::span<const LauncherOption> options;
  std::string_view subcommand = {};  // follows the program's name
  std::string_view local_rank = {};  // option that passes the local rank to the program
  bool calls_python = false;         // for programs that end in .py
  bool any_dashes = false;           // -name and --name are equivalent
  bool underscores = false;          // - and _ are equivalent in names
  bool beginnings = false;           // a unique prefix of a long option is accepted
};

const LauncherFacts& FactsOf(KnownLauncher launcher);

// By its name in --from; nothing for an unknown name.
std::optional<KnownLauncher> LauncherByName(std::string_view name);
// All names for --from, "torchrun, msrun or mpirun": `last` comes before the last one.
std::string LauncherNames(std::string_view last);

// Finds an option by `name`, with dashes and without a value. Null if it is unknown, or an ambiguous
// prefix.
const LauncherOption* FindOption(const LauncherFacts& facts, std::string_view name);

// All names of all options, for suggestions.
std::vector<std::string> OptionNames(const LauncherFacts& facts);

// Tables for docs/coming-from.md, one for each launcher: options and their counterparts.
std::string OptionTables();

// Recognises which launcher a command line belongs to. Pure.

// "NAME=VALUE" before a command, as in a shell.
bool IsAssignment(std::string_view word);

// The last part of a path.
inline std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "python", "python3", "/opt/conda/bin/python3.11"
bool IsPython(std::string_view word);

// The number of words, from `at` on, that name the launcher: its program, or `python -u -m MODULE`, `python PROGRAM`,
// and its subcommand. 0 if the launcher is not named there.
std::size_t WordsOfItsName(const LauncherFacts& facts, const std::vector<std::string>& words, std::size_t at);

// The launcher at the front of the words, after assignments. If several share a name, the first one.
std::optional<KnownLauncher> LauncherOfWords(const std::vector<std::string>& words);

}  // namespace muster
