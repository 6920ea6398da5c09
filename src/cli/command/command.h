// One command of the command line. A file cmd_NAME.cc defines one; main.cc lists them in a table.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace muster {

// Information about the call besides the command's own options.
struct Invocation {
  std::vector<std::string> words_after_dashes;  // what the user typed after --, for job.args
  std::vector<std::string> words;               // all of them, after the command's name
};

// Adds the command's options to the app; the returned function is called once the words have been parsed, and returns
// the exit code (cli/command/exit_code.h).
using CommandSetup = std::function<int()> (*)(CLI::App& app, const Invocation& invocation);

struct Command {
  const char* name;
  const char* summary;
  const char* example;       // shown at the end of --help
  bool takes_words = false;  // words after -- are the recipe's, or another launcher's
  CommandSetup setup;
  bool at_site = true;  // it depends on site files, which --site replaces
};

}  // namespace muster
