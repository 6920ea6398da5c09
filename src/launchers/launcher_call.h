// The command line of another launcher, read: what it starts, how often and where.
//
// Pure: files that the command line names (host files, Accelerate's configuration) are read by the caller; no script is
// opened and nothing is looked up.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launchers/launcher_options.h"
#include "muster/result.h"

namespace muster {

// What stands in the file; an error is a sentence.
using ReadText = std::function<tl::expected<std::string, std::string>(const std::string& path)>;

// A word of the command, or the value of a variable. Where `number` is set it differs from process to process:
// `text`, the number of the process with `added`, and `after`.
struct CallWord {
  enum class Number : std::uint8_t { kRank, kLocalRank, kWorldSize };
  std::string text;
  std::optional<Number> number = {};
  int added = 0;
  std::string after = {};
};

struct LauncherCall {
  std::string framework;  // a name of muster's
  int hosts = 1;
  std::optional<int> per_host;  // processes of a host; neither: one for each device
  std::optional<int> total;     // … or of all hosts, where that is what was said
  int servers = 0;              // parameter servers
  int restarts = 0;
  std::vector<CallWord> command;  // with the Python that the launcher would have called
  std::vector<std::pair<std::string, CallWord>> env;
  std::vector<std::string> unset;  // variables that are not inherited
  std::string cwd;
  std::string rank_table;                                     // file of a rank table
  std::vector<std::string> mpi_args;                          // words for MPI's own launcher
  std::vector<std::pair<std::string, std::string>> left_out;  // option as it was written; what it did
};

// The words with the launcher's name at the front, or without it; before it may stand NAME=VALUE. Kind "usage": an
// option that is not known, a value that is missing or no number, no program, several programs, and what cannot be left
// out without starting something else.
Result<LauncherCall> ReadLauncherCall(KnownLauncher launcher, const std::vector<std::string>& words,
                                      const ReadText& read_text);

}  // namespace muster
