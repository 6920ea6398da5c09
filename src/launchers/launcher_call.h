// Parses the command line of another launcher: its program, number of processes, and hosts, with the arguments that
// have a grammar of their own: lists of hosts, core lists of msrun, and Accelerate's configuration file. Pure: the
// caller reads files that the command line names (host files, Accelerate's configuration); no script is opened.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/launcher_options.h"
#include "muster/result.h"

namespace muster {

// Converts Accelerate's configuration file (written by `accelerate config`) to options of `accelerate launch`. Pure:
// text in, words out.

// Pairs of an option's name ("--num_processes") and its value; an option without a value has "true" or "false". Null
// values are ignored. An option that is there twice counts as it is first. Kind "usage": invalid YAML, not a map, or
// unsupported (SageMaker, TPUs).
Result<std::vector<std::pair<std::string, std::string>>> WordsOfAccelerateFile(std::string_view text,
                                                                               const std::string& file);

// Parses the command line of another launcher: its program, number of processes, and hosts.
//
// Pure: the caller reads files that the command line names (host files, Accelerate's configuration); no script is
// opened.

// Returns the content of the file; an error is a sentence.
using ReadText = std::function<tl::expected<std::string, std::string>(const std::string& path)>;

// A word of the command, a folder, or the value of a variable. If `number` is set it differs between processes: `text`,
// the number of the process `times` this plus `added`, `after`, and the same of each of `rest`.
struct CallWord {
  enum class Number : std::uint8_t {
    kRank,
    kLocalRank,
    kWorldSize,
    kHost,    // the index of the host
    kIndex,   // within the role
    kListed,  // no number: `listed` has the text of each process of the role
  };
  std::string text;
  std::optional<Number> number = {};
  int added = 0;
  std::string after = {};
  int times = 1;
  std::vector<CallWord> rest = {};
  std::vector<std::string> listed = {};
  bool overrides = false;  // a variable that the framework sets otherwise
};

// A role beside the workers.
struct CallRole {
  std::vector<CallWord> command;
  std::vector<std::pair<std::string, CallWord>> env;
  CallWord folder;
};

// A step that prepares a host: a field of job:activate and its value.
struct CallActivation {
  std::string field;  // "source", "module", "conda"
  std::string value;
};

// The rule by which a word of the line was read. Words of the same `rule` belong together: an option and its values.
struct WordUse {
  enum class Kind : std::uint8_t { kNone, kVariable, kWrapper, kLauncher, kOption, kProgram };
  Kind kind = Kind::kNone;
  int rule = 0;
};

struct LauncherCall {
  std::string framework;  // in muster's naming
  int hosts = 1;
  // Processes of each host, and in all. Both: hosts get `per_host` in order until there are `total`. Neither: one per
  // device.
  std::optional<int> per_host;
  std::optional<int> total;
  int servers = 0;  // parameter servers
  int restarts = 0;
  std::vector<CallWord> command;  // including the Python interpreter that the launcher would have added
  std::vector<std::pair<std::string, CallWord>> env;
  std::vector<std::string> wrap;   // words in front of each process's command
  std::vector<std::string> unset;  // variables that are not inherited
  std::string cwd;
  std::optional<CallWord> folder;           // cwd of each process, if it differs
  std::optional<CallRole> scheduler;        // where it is not what the framework starts
  std::optional<CallRole> server;           // where it is not what workers run
  std::vector<CallActivation> activations;  // before the first process of a host
  std::vector<std::string> files;           // shell commands before the first process: for all hosts, or for each
  std::string cores;                        // of each worker: "auto" or a number; empty: not bound
  std::string rank_table;                   // file of a rank table
  std::vector<std::string> mpi_args;        // words for MPI's own launcher
  std::vector<std::pair<std::string, std::string>> left_out;  // option as written; its effect
  std::vector<WordUse> uses;                                  // of each word of the line; no word is without one
};

// The words with or without the launcher's name at the front, optionally after NAME=VALUE and programs that start
// another one (`nohup`, `env`, `numactl`, `srun`, …). Kind "usage": an unknown option or program in front, a missing or
// invalid value, no program, several programs, and options that cannot be ignored without starting something else.
Result<LauncherCall> ReadLauncherCall(KnownLauncher launcher, const std::vector<std::string>& words,
                                      const ReadText& read_text);

}  // namespace muster
