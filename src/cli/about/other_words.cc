#include "cli/about/other_words.h"

#include <algorithm>
#include <cctype>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

struct Instead {
  std::string_view words;  // separated by blanks
  std::string_view use;
};

constexpr Instead kInstead[] = {
    {"list jobs history runs", "`muster ps` lists active runs, `muster ls` all runs"},
    {"status state info describe",
     "`muster ps` lists active runs, `muster report RUN` reports a run, `muster show SWEEP` the state of a sweep"},
    {"kill cancel abort terminate end quit down",
     "`muster stop RUN` stops a run; `muster stop RUN --now` without grace period"},
    {"start launch exec submit execute up go train job", "`muster run RECIPE` starts processes"},
    {"validate lint verify", "`muster check RECIPE` reports all errors of a recipe"},
    {"dry-run dryrun preview render", "`muster plan RECIPE` shows what would be started"},
    {"new create scaffold", "`muster init` writes a first recipe"},
    {"import convert from",
     "`muster init --from LAUNCHER -- COMMAND…` writes the recipe of another launcher's command line"},
    {"log output tail cat", "`muster logs RUN` prints the output of processes; `-f` follows it"},
    {"attach follow wait join", "`muster watch RUN` follows a run until it ends"},
    {"monitor htop dashboard ui", "`muster top RUN` shows a run live"},
    {"stack stacks pystack py-spy debug trace", "`muster dump RUN` shows the stacks of all processes"},
    {"tune hpo grid search multirun optimize", "`muster sweep RECIPE --grid NAME=1,2,4` tries values of parameters"},
    {"restart rerun again repeat",
     "`muster replay RUN` runs the plan of a run again, `muster run RECIPE --resume RUN` continues from its "
     "checkpoint"},
    {"compare", "`muster diff A B` compares two recipes, plans or runs"},
    {"why", "`muster explain RECIPE NAME` shows the origin of a value"},
    {"nodes hosts cluster sinfo health", "`muster doctor --host LIST` checks hosts"},
    {"delete remove rm prune gc purge cleanup", "`muster clean` removes old runs and cleans up orphan processes"},
    {"results metrics summary", "`muster report RUN` has the metrics of a run, `muster best SWEEP` the best trials"},
    {"config settings params list-params parameters", "`muster params RECIPE` lists a recipe's parameters"},
    {"version", "`muster --version`"},
    {"man manual", "`muster COMMAND --help`; `muster docs --man` prints the manual page"},
    {"save archive bundle", "`muster pack RUN -o FILE` packs a run into an archive"},
};

constexpr Instead kInsteadOfOptions[] = {
    {"timeout time time-limit time_limit walltime max-time", "in the recipe: limits = { time = \"12h\" }"},
    {"n np nprocs nproc num-processes num_processes nproc_per_node nproc-per-node",
     "the number of processes is the recipe's: count = 4 of a role, or a parameter, as in muster run @torch workers=4"},
    {"gpus gpu ngpus num-gpus num_gpus npus",
     "devices are the recipe's: devices = 1 of a role; --devices 0-3 chooses some"},
    {"nodes nnodes num-nodes num_nodes", "hosts=4, or --host n[1-4]"},
    {"hosts hostlist host-list nodelist machinefile", "--host n[1-4], or --hostfile FILE"},
    {"output output-dir output_dir out log-dir log_dir logdir outdir",
     "--run-dir FOLDER, or MUSTER_HOME=FOLDER for all runs"},
    {"background bg daemon detached nohup", "--detach"},
    {"dry-run dryrun dry_run", "muster plan RECIPE shows what would be started"},
    {"partition account qos time-limit gres", "options of Slurm: --on slurm --slurm partition=gpu"},
    {"silent", "--quiet"},
    {"resume-from resume_from", "--resume RUN"},
};

bool HasWord(std::string_view words, std::string_view word) {
  for (std::size_t begin = 0; begin < words.size();) {
    const std::size_t end = std::min(words.find(' ', begin), words.size());
    if (words.substr(begin, end - begin) == word) return true;
    begin = end + 1;
  }
  return false;
}

}  // namespace

std::string InsteadOfCommand(std::string_view word) {
  for (const Instead& one : kInstead) {
    if (HasWord(one.words, word)) return std::string(one.use);
  }
  return {};
}

std::string RunOfProgram(const std::vector<std::string>& words) {
  if (words.empty()) return {};
  std::string line;
  for (const std::string& word : words) line += " " + ShellQuoted(word);
  const std::string& first = words.front();
  if (first.ends_with(".py")) return "muster run @torch -- python3" + line;
  if (first == "python" || first == "python3") return "muster run @torch --" + line;
  for (const std::string_view launcher : {"torchrun", "msrun", "mpirun", "deepspeed"}) {
    if (first == launcher) return "muster init --from " + first + " --" + line;
  }
  return {};
}

std::string CommandInWrongPlace(const std::string& word, const std::vector<std::string>& rest,
                                const std::vector<std::string>& commands) {
  const bool is_option = word.starts_with('-');
  const bool is_recipe = word.ends_with(".lua") || word.starts_with('@');
  const auto command = std::find_first_of(rest.begin(), rest.end(), commands.begin(), commands.end());
  if (!is_option && !is_recipe) {
    std::vector<std::string> words = {word};
    words.insert(words.end(), rest.begin(), rest.end());
    const std::string run = RunOfProgram(words);
    return run.empty() ? run : "a program is run by: " + run;
  }
  if (command == rest.end()) {
    return is_option ? "the command comes first: muster COMMAND " + word : "muster run " + ShellQuoted(word);
  }
  std::string line = "muster " + *command + " " + ShellQuoted(word);
  for (auto each = rest.begin(); each != rest.end(); ++each) {
    if (each != command) line += " " + ShellQuoted(*each);
  }
  return "the command comes first: " + line;
}

std::string AsParameter(std::string_view option, const std::vector<std::string>& rest) {
  if (!option.starts_with("--")) return {};
  const std::size_t equals = option.find('=');
  std::string name(option.substr(2, equals == std::string_view::npos ? equals : equals - 2));
  std::replace(name.begin(), name.end(), '-', '_');
  const bool fits = !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
                    std::all_of(name.begin(), name.end(),
                                [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  if (!fits) return {};
  std::string value = "VALUE";
  if (equals != std::string_view::npos) {
    value = option.substr(equals + 1);
  } else if (!rest.empty() && !rest.front().starts_with('-')) {
    value = rest.front();
  }
  return "a parameter of the recipe is written without dashes: " + ShellQuoted(name + "=" + value);
}

std::string InsteadOfOption(std::string_view option) {
  const std::size_t dashes = option.find_first_not_of('-');
  if (dashes == std::string_view::npos) return {};
  const std::string_view name = option.substr(dashes, option.find('=') - dashes);
  for (const Instead& one : kInsteadOfOptions) {
    if (HasWord(one.words, name)) return std::string(one.use);
  }
  return {};
}

}  // namespace muster
