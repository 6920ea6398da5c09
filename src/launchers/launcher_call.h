// Parses the command line of another launcher: its program, number of processes, and hosts.
//
// Pure: the caller reads files that the command line names (host files, Accelerate's configuration); no script is
// opened.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launchers/launcher_options.h"
#include "muster/result.h"

namespace muster {

// Returns the content of the file; an error is a sentence.
using ReadText = std::function<tl::expected<std::string, std::string>(const std::string& path)>;

// A word of the command, or the value of a variable. If `number` is set it differs between processes: `text`, the
// number of the process plus `added`, and `after`.
struct CallWord {
  enum class Number : std::uint8_t { kRank, kLocalRank, kWorldSize };
  std::string text;
  std::optional<Number> number = {};
  int added = 0;
  std::string after = {};
};

struct LauncherCall {
  std::string framework;  // in muster's naming
  int hosts = 1;
  std::optional<int> per_host;  // processes per host; if neither is set: one per device
  std::optional<int> total;     // … or in all
  int servers = 0;              // parameter servers
  int restarts = 0;
  std::vector<CallWord> command;  // including the Python interpreter that the launcher would have added
  std::vector<std::pair<std::string, CallWord>> env;
  std::vector<std::string> unset;  // variables that are not inherited
  std::string cwd;
  std::string cores;                                          // of each worker: "auto" or a number; empty: not bound
  std::string rank_table;                                     // file of a rank table
  std::vector<std::string> mpi_args;                          // words for MPI's own launcher
  std::vector<std::pair<std::string, std::string>> left_out;  // option as written; its effect
};

// The words with or without the launcher's name at the front, optionally after NAME=VALUE. Kind "usage": an unknown
// option, a missing or invalid value, no program, several programs, and options that cannot be ignored without starting
// something else.
Result<LauncherCall> ReadLauncherCall(KnownLauncher launcher, const std::vector<std::string>& words,
                                      const ReadText& read_text);

}  // namespace muster
