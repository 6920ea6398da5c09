// One command of the command line. A file cmd_NAME.cc defines one; main.cc lists them in a table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace muster {

// What a command may want to know of the call besides its own options.
struct Invocation {
  std::vector<std::string> words_after_dashes;  // what the user typed after --, for job.args
  std::vector<std::string> words;               // all of them, after the command's name
};

// Adds the command's options to the app; what it returns is run once the words have been parsed, and gives
// the exit code (cli/command/exit_code.h).
using CommandSetup = std::function<int()> (*)(CLI::App& app, const Invocation& invocation);

struct Command {
  const char* name;
  const char* summary;
  const char* example;       // shown at the end of --help
  bool takes_words = false;  // words after -- are the recipe's, or another launcher's
  CommandSetup setup;
  bool at_site = true;  // what it does depends on site files: --site names another one
};

}  // namespace muster
