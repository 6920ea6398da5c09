// The muster program: a table of commands. Each command is in its own cmd_*.cc.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/system/mechanism.h"
#include "base/system/own_process.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "cli/command/command.h"
#include "cli/command/command_line.h"
#include "cli/command/command_output.h"
#include "cli/lookup/current_site.h"

namespace muster {
namespace {

constexpr Command kCommands[] = {
    {"init", "write a first recipe, or translate another launcher's command line",
     "muster init --from torchrun -- torchrun --nproc_per_node 8 train.py --lr 0.1", true, SetupInit, false},
    {"params", "list a recipe's parameters", "muster params recipes/pipeline.lua", true, SetupParams},
    {"check", "report all errors of a recipe", "muster check recipes/gpt.lua --mindspore 2.7 --rewrite --diff", true,
     SetupCheck},
    {"plan", "print a recipe's processes, hosts and environment",
     "muster plan recipes/parameter_server.lua workers=8 servers=3", true, SetupPlan},
    {"explain", "explain the origin of a value", "muster explain recipes/pipeline.lua layers=64 FIRST_LAYER --rank 5",
     true, SetupExplain},
    {"why-not", "find the smallest changes that make values possible",
     "muster why-not recipes/pipeline.lua pipeline_stages=3", true, SetupWhyNot},
    {"diff", "compare two recipes, plans, runs or ranks, by cause",
     "muster diff recipes/pipeline.lua layers=32 recipes/pipeline.lua layers=64", true, SetupDiff},
    {"test", "compare the plans of a folder of recipes with golden files",
     "muster test recipes --update && git diff recipes/golden", false, SetupTest},
    {"simulate", "simulate lives of a job against failures of hosts",
     "muster simulate train.lua --between 1000d --interval 10m,30m,1h --spare-hosts 0,2", true, SetupSimulate},
    {"lsp", "language server for recipes, for editors (LSP at stdin and stdout)", "muster lsp --site none", false,
     SetupLsp},
    {"run", "run a recipe", "muster run recipes/data_parallel.lua devices_per_host=4 --devices free", true, SetupRun},
    {"replay", "run the plan of an earlier run again", "muster replay data-parallel~1", false, SetupReplay},
    {"sweep", "run a recipe over many values of its parameters and layouts",
     "muster sweep recipes/pipeline.lua --grid pipeline_stages=1,2,4 --preview", true, SetupSweep},
    {"resume", "resume a sweep", "muster resume gpt-lr-layout --host n[01-04] --detach", false, SetupResume},
    {"steer", "change the number of slots or trials of a running sweep",
     "muster steer gpt-lr-layout --slots 4 --add-trials 20", false, SetupSteer},
    {"retry", "retry failed trials of a sweep", "muster retry gpt-lr-layout --class oom_device,crash", false,
     SetupRetry},
    {"rehearse", "dry run on the real hosts, with a stub instead of each process",
     "muster rehearse recipes/pipeline.lua --host n[01-04]", true, SetupRehearse},
    {"drill", "rehearse with faults, and check what the recipe promises",
     "muster drill train.lua --stub --inject kill:worker:0@5s --inject stop:worker:1@10s+2s", true, SetupDrill},
    {"stub", "run the checks of one rehearsed process here", "muster stub -- python3 train.py --data data/digits.csv",
     true, SetupStub},
    {"doctor", "check hosts and compare them", "muster doctor --host n[01-16] recipes/data_parallel.lua", true,
     SetupDoctor},
    {"hosts", "show what your runs have shown about hosts: uses, failures, last seen", "muster hosts n3 n4", false,
     SetupHosts, false},
    {"docs", "print the reference of recipes, attributes and frameworks", "muster docs mode --mindspore 2.3", false,
     SetupDocs, false},
    {"ps", "list active runs, sweeps and trials with their newest metrics", "muster ps --all", false, SetupPs},
    {"watch", "follow a run or sweep until it ends, and exit with its code", "muster watch lr-sweep", false,
     SetupWatch},
    {"dump", "print stacks and wait states of processes", "muster dump parameter-server --role worker --rank 6", false,
     SetupDump},
    {"top", "live view of a run or sweep", "muster top parameter-server --role worker", false, SetupTop},
    {"serve", "show live pages of runs and sweeps in a browser", "muster serve lr-sweep", false, SetupServe},
    {"stop", "stop a run, a sweep or a trial", "muster stop lr-sweep:3 --wait", false, SetupStop},
    {"ls", "list runs and their outcomes",
     "muster ls --where 'outcome == failed and lr > 0.1' --columns id,lr,outcome --sort=-lr", false, SetupLs},
    {"show", "show the state of a sweep or of a trial", "muster show lr-sweep:best", false, SetupShow},
    {"best", "list the best trials of a sweep", "muster best lr-sweep -n 5 --where 'optimizer == adam'", false,
     SetupBest},
    {"edit", "give a sweep another space or sampler, keeping its results",
     "muster edit lr-sweep sweep.lua --grid lr=0.1,0.2,0.4 --yes", true, SetupEdit},
    {"importance", "show which parameters of a sweep matter", "muster importance lr-sweep --of accuracy", false,
     SetupImportance},
    {"whatif", "replay the trials of a sweep, or the failures of a run, with other rules",
     "muster whatif lr-sweep --asha step:1..81/3", false, SetupWhatIf},
    {"export", "export trials or curves as a table, or metrics for TensorBoard",
     "muster export lr-sweep --curves --csv curves.csv", false, SetupExport},
    {"tag", "list or change the tags of a run, sweep or trial", "muster tag lr-sweep baseline ticket=42", false,
     SetupTag},
    {"note", "show or replace the note of a run, sweep or trial",
     "muster note lr-sweep:3 'restarted after the disk was full'", false, SetupNote},
    {"pack", "pack a run into an archive", "muster pack parameter-server -o run.tar.zst", false, SetupPack},
    {"report", "report the outcome of a run or sweep", "muster report lr-sweep --html lr-sweep.html", false,
     SetupReport},
    {"clean", "clean up orphan processes, and remove old runs", "muster clean --older-than 30d --yes", false,
     SetupClean},
    {"report-metric", "report metrics of a process from a shell", "muster report-metric step=100 loss=0.3", false,
     SetupReportMetric, false},
    {"logs", "print the logs of a run, sweep or trial", "muster logs --role worker --rank 2 --tail 20", false,
     SetupLogs},
    {"completion", "print the completion script of a shell", "eval \"$(muster completion bash)\"", true,
     SetupCompletion, false},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

namespace {

std::string Overview() {
  std::string text = "muster " MUSTER_VERSION ": launch training jobs from Lua recipes\n\nusage: muster COMMAND …\n\n";
  for (const Command& command : kCommands) {
    std::string name = command.name;
    name.resize(std::max(std::size_t{12}, name.size() + 1), ' ');
    text += "  " + name + command.summary + "\n";
  }
  return text + "\nSee muster COMMAND --help.\nexample: muster run recipes/parameter_server.lua workers=8\n";
}

const Command* Find(const char* name) {
  for (const Command& command : kCommands) {
    if (std::strcmp(command.name, name) == 0) return &command;
  }
  return nullptr;
}

int Usage(const std::string& message, const std::string& hint) { return Refuse({Error("usage", {}, message, hint)}); }

// `rest`: the words behind it.
int UnknownCommand(const std::string& word, const std::vector<std::string>& rest) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  std::string hint = CommandInWrongPlace(word, rest, names);
  if (hint.empty()) hint = InsteadOfCommand(word);
  return Usage("there is no command " + Quoted(word), hint.empty() ? DidYouMean(word, names) : hint);
}

// "--slurm is an option of muster plan and muster run"; empty if no command has it.
std::string CommandsWithOption(const std::string& name) {
  std::vector<std::string> with;
  for (const Command& command : kCommands) {
    CLI::App app;
    const CommandOptions options = AddCommandOptions(app, command, {});
    if (app.get_option_no_throw(name) != nullptr) with.push_back(std::string("muster ") + command.name);
  }
  constexpr std::size_t kMax = 4;
  if (with.empty() || with.size() > kMax) return {};
  std::string list;
  for (std::size_t i = 0; i < with.size(); ++i) {
    list += (i == 0 ? "" : i + 1 == with.size() ? " and " : ", ") + with[i];
  }
  return name + " is an option of " + list;
}

// "did you mean --run-dir?" for the first unknown option; or the syntax of parameters, if the command takes parameters
// and no option is similar.
std::string OptionHint(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const bool takes_parameters = app.get_option_no_throw("OVERRIDES") != nullptr;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string name = words[i].substr(0, words[i].find('='));
    const bool short_name = name.size() > 1 && name[0] == '-' && name[1] != '-' && takes_parameters &&
                            app.get_option_no_throw(name.substr(0, 2)) == nullptr;
    if (short_name) {
      const std::string instead = InsteadOfOption(name);
      return !instead.empty()
                 ? instead
                 : AsParameter("-" + words[i], {words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end()});
    }
    if (!name.starts_with("--") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string instead = takes_parameters ? InsteadOfOption(name) : std::string();
    if (!instead.empty()) return instead;
    if (const std::string others = CommandsWithOption(name); !others.empty()) return others;
    if (!takes_parameters || Nearest(name, known)) return DidYouMean(name, known);
    const std::string as_parameter =
        AsParameter(words[i], {words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end()});
    return as_parameter.empty() ? DidYouMean(name, known) : as_parameter;
  }
  return {};
}

// Descriptions continue below their own column.
std::string FittedHelp(const std::string& help) {
  constexpr std::size_t kDescriptions = 30;
  constexpr std::size_t kMinTerminal = 50;
  const std::size_t terminal = OutputColumns(0);
  return terminal < kMinTerminal ? help : WrappedLines(help, terminal, kDescriptions);
}

int RunCommand(const Command& command, std::vector<std::string> words) {
  Invocation invocation;
  invocation.words = words;
  if (command.takes_words) {
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end()) {
      invocation.words_after_dashes.assign(dashes + 1, words.end());
      words.erase(dashes, words.end());
    }
  }
  CLI::App app(command.summary, std::string("muster ") + command.name);
  app.footer(std::string("example: ") + command.example);
  const CommandOptions options = AddCommandOptions(app, command, invocation);
  if (const auto problem = FindWordProblem(app, words)) return Usage(problem->message, problem->hint);
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // CLI11 takes words in reverse order
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    std::fputs(PrintableLines(FittedHelp(app.help())).c_str(), stdout);
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    if (const auto refusal = ExplainRefusal(app, error, command.example)) return Usage(refusal->message, refusal->hint);
    const std::string hint = OptionHint(app, words);
    return Usage(RefusalText(error), hint.empty() ? std::string("see muster ") + command.name + " --help" : hint);
  }
  if (options.site != nullptr && options.site->count() > 0) ChooseSite(*options.file);
  return options.run();
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(Overview().c_str(), stderr);
    return kExitRecipe;
  }
  const std::string first = argv[1];
  // Words behind -- belong to another program. That the command has no such option is reported as JSON, too.
  char** const dashes =
      std::find_if(argv + 1, argv + argc, [](const char* word) { return std::strcmp(word, "--") == 0; });
  if (std::any_of(argv + 1, dashes, [](const char* word) { return std::strcmp(word, "--json") == 0; })) RequestJson();
  if (first == "--help" || first == "-h" || first == "help") {
    if (const Command* command = argc > 2 ? Find(argv[2]) : nullptr) return RunCommand(*command, {"--help"});
    if (argc > 2) return UnknownCommand(argv[2], {});
    std::fputs(Overview().c_str(), stdout);
    return kExitOk;
  }
  if (first == "--version") {
    std::puts("muster " MUSTER_VERSION);
    return kExitOk;
  }
  const char* without = std::getenv(kWithoutVariable);
  if (const auto known = ParseWithout(without == nullptr ? "" : without); !known) {
    return Usage(std::string(kWithoutVariable) + ": there is no " + Quoted(known.error()),
                 "muster docs mechanisms lists them");
  }
  const Command* command = Find(argv[1]);
  if (command == nullptr) return UnknownCommand(first, {argv + 2, argv + argc});
  return RunCommand(*command, std::vector<std::string>(argv + 2, argv + argc));
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  if (!muster::FillStandardDescriptors()) return muster::kExitMachine;
  muster::LowerProcessorLimit();
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error of write(2): it is reported
  const int code = muster::Main(argc, argv);
  // A failed write, such as on a full disk, must not look like success.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("muster: error: the output cannot be written\n", stderr);
  return code == muster::kExitOk ? muster::kExitMachine : code;
}
