// Interprets shell scripts that start processes in the background, and computes the variables of each process.
//
// Supports assignments, `export`, `for` over numbers and words, functions, `shift` and simple arithmetic. Runs no
// program and reads no file: other commands (`cd`, `mkdir`, `cp`, …) are skipped.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"

namespace muster {

struct ScriptLaunch {
  std::vector<std::string> words;
  std::map<std::string, std::string> env;  // variables exported so far, and NAME=VALUE before the command
  bool background = false;
  std::uint32_t line = 0;
};

struct ScriptLaunches {
  std::vector<ScriptLaunch> launches;    // in the order in which they would be started
  std::vector<std::string> passed_over;  // words with an effect that is not modelled: "taskset -c 0-3"
};

// `arguments`: $1, $2, …. Kind "usage", with the line: a launch within `if`, `while` or `case`, a word of a launch that
// depends on a program's output or a missing argument, more than 4,096 launches.
Result<ScriptLaunches> LaunchesOfScript(std::string_view text, const std::string& file,
                                        const std::vector<std::string>& arguments);

}  // namespace muster
