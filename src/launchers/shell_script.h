// Interprets shell scripts that start processes, without running anything: computes the folder, words and variables of
// each process, and what the script does besides.
//
// Values that do not follow from the script and its arguments are unknown, and so is what is computed from them: both
// branches of a condition that is unknown are followed, and what they leave different is unknown afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "launchers/launcher_call.h"
#include "muster/result.h"

namespace muster {

// What a script sees of the machine.
struct ScriptWorld {
  ReadText read;                                                  // of scripts that are sourced or called
  std::string folder;                                             // where the script is started, absolute
  std::function<std::string(const std::string& path)> real_path;  // with links resolved; null: as written
  // Variables of the caller, for those that hold paths and for what is exported; null: none is set.
  std::function<std::optional<std::string>(const std::string& name)> variable;
};

using ScriptLiteral = std::pair<std::uint32_t, std::string>;  // NAME=NUMBER: its line and name

struct ScriptInput {
  std::string file;                               // for messages, and $0
  std::vector<std::string> arguments;             // $1, $2, …
  std::map<ScriptLiteral, std::string> literals;  // other numbers for assignments of the script
  // Added to what is assigned to RANK_ID and RANK, to see what is computed from them.
  std::int64_t rank_offset = 0;
};

struct ScriptLaunch {
  std::vector<std::string> words;
  std::map<std::string, std::string> env;  // variables exported so far, and NAME=VALUE before the command
  std::vector<std::string> unset;          // inherited variables that it does not get
  std::string folder;                      // absolute
  std::string cores;                       // taskset and numactl with their options, as far as known
  std::string trouble;                     // why the process cannot be started by a recipe; empty if it can
  std::string hint;                        // for `trouble`
  bool background = false;
  bool conditional = false;  // under a condition that is unknown
  int phase = 0;             // number of `wait` between processes before it
  std::size_t steps = 0;     // steps of the script before it
  std::uint32_t line = 0;

  bool operator==(const ScriptLaunch&) const = default;
};

// A command that changes files, as text for a POSIX shell.
struct ScriptStep {
  std::string folder;  // absolute
  std::string text;
  std::uint32_t line = 0;

  bool operator==(const ScriptStep&) const = default;
};

struct ScriptActivation {
  enum class Kind : std::uint8_t { kSource, kModule, kConda };
  Kind kind = Kind::kSource;
  std::string value;

  bool operator==(const ScriptActivation&) const = default;
};

// A command without a counterpart in a recipe.
struct ScriptNote {
  std::string command;
  std::string effect;  // what it did
  std::uint32_t line = 0;

  bool operator==(const ScriptNote&) const = default;
};

struct ScriptOutcome {
  std::vector<ScriptLaunch> launches;  // in the order in which they would be started
  std::vector<ScriptStep> steps;
  std::vector<ScriptActivation> activations;
  std::vector<ScriptNote> left_out;
  std::map<ScriptLiteral, std::string> literals;  // NAME=NUMBER outside of functions
  std::uint32_t exit_line = 0;                    // of the `exit` that ended it; 0: it ran to its end
  bool stops_at_errors = false;                   // set -e
  std::size_t commands = 0;                       // that were evaluated
};

// Kind "usage", with the line: a command that uses an unknown value and is not known to be harmless, processes started
// under an unknown condition, more than 4,096 processes or 200,000 commands.
Result<ScriptOutcome> OutcomeOfScript(std::string_view text, const ScriptInput& input, const ScriptWorld& world);

}  // namespace muster
