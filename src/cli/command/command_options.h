// All options of a command: its own, and those that several commands have in common. Whoever calls commands, describes
// or completes them, asks here, so that none of them knows fewer than the others.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <CLI/App.hpp>

#include "cli/command/command.h"

namespace muster {

struct CommandOptions {
  std::function<int()> run;           // what Command::setup gave; owns what the command's own options write to
  CLI::Option* site = nullptr;        // --site, of every command whose doing depends on site files
  std::shared_ptr<std::string> file;  // … what it names
};

// What is given must live as long as the app.
CommandOptions AddCommandOptions(CLI::App& app, const Command& command, const Invocation& invocation);

}  // namespace muster
