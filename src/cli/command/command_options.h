// All options of a command: its own, and the common ones. Used to run, document and complete commands, so that all of
// these agree.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

struct CommandOptions {
  std::function<int()> run;           // the result of Command::setup; owns the variables of the command's own options
  CLI::Option* site = nullptr;        // --site, for commands that depend on site files
  std::shared_ptr<std::string> file;  // … its value
};

// All arguments must live as long as the app.
CommandOptions AddCommandOptions(CLI::App& app, const Command& command, const Invocation& invocation);

}  // namespace muster
