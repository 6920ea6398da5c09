// A command of the command line, and the list of all commands. A file cmd_NAME.cc defines one; main.cc has the table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include <CLI/App.hpp>

namespace muster {

// One command of the command line. A file cmd_NAME.cc defines one; main.cc lists them in a table.

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

// The table of all commands, and the commands that describe it.

// All commands, in the order of the list.
std::span<const Command> Commands();

std::function<int()> SetupCompletion(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupDocs(CLI::App& app, const Invocation& invocation);

// The commands about recipes and plans.

std::function<int()> SetupInit(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupParams(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupCheck(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupPlan(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupExplain(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupWhyNot(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupDiff(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupTest(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupSimulate(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupLsp(CLI::App& app, const Invocation& invocation);

// The commands that start runs, and those that prepare them.

std::function<int()> SetupDoctor(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupHosts(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupRun(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupReplay(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupRehearse(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupDrill(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupStub(CLI::App& app, const Invocation& invocation);

// The commands about sweeps.

std::function<int()> SetupResume(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupSteer(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupRetry(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupSweep(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupBest(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupEdit(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupImportance(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupWhatIf(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupExport(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupShow(CLI::App& app, const Invocation& invocation);

// The commands that show, control and clean up runs.

std::function<int()> SetupReport(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupReportMetric(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupClean(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupLogs(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupPs(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupLs(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupPack(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupTag(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupNote(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupWatch(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupDump(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupStop(CLI::App& app, const Invocation& invocation);
std::function<int()> SetupTop(CLI::App& app, const Invocation& invocation);

// The command that serves pages.
std::function<int()> SetupServe(CLI::App& app, const Invocation& invocation);

}  // namespace muster
