#include "cli/command/command_line.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {

CommandOptions AddCommandOptions(CLI::App& app, const Command& command, const Invocation& invocation) {
  CommandOptions options;
  options.run = command.setup(app, invocation);
  if (!command.at_site) return options;
  options.file = std::make_shared<std::string>();
  options.site =
      app.add_option("--site", *options.file, "site file to use instead of those that are found; none: no site file")
          ->type_name("FILE|none");
  return options;
}

Result<double> DurationOption(std::string_view option, const std::string& text, bool zero) {
  if (zero && text == "0") return 0;
  const std::optional<double> seconds = ParseDuration(text);
  if (seconds && std::isfinite(*seconds) && (*seconds > 0 || zero)) return *seconds;
  if ((seconds && *seconds == 0) || text == "0")
    return Fail(Error("usage", {}, fmt::format("{} must be above 0, got {}", option, text), "for example 30m"));
  return Fail(
      Error("usage", {}, fmt::format("{} {}: this is no duration", option, Quoted(text)), DurationHint(text, "30m")));
}

namespace {

// The option that the whole word names: "--host", "-f"; not "--host=n1".
const CLI::Option* OptionOf(const CLI::App& app, const std::string& word) {
  if (!word.starts_with('-') || word.size() < 2) return nullptr;
  return app.get_option_no_throw(word);
}

bool TakesValue(const CLI::Option& option) { return option.get_expected_min() > 0 && option.get_type_size_min() > 0; }
bool IsFlag(const CLI::Option& option) { return option.get_expected_max() == 0 || option.get_type_size_max() == 0; }

std::string ValueName(const CLI::Option& option) {
  const std::string name = option.get_type_name();
  return name.empty() ? "VALUE" : name;
}

bool IsName(std::string_view word) {
  return !word.empty() && !IsDigit(word.front()) && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
  });
}

// "lr=0.1,0.2" of the words lr 0.1 0.2, as far as they are values.
std::string Joined(const std::vector<std::string>& words, std::size_t at) {
  std::string joined = words[at] + "=";
  bool first = true;
  for (std::size_t i = at + 1; i < words.size() && words[i].find('=') == std::string::npos; ++i) {
    if (words[i].starts_with("--")) break;
    joined += (first ? "" : ",") + words[i];
    first = false;
  }
  return ShellQuoted(joined);
}

// "-detach" is read as "-d -e …".
std::optional<WordProblem> OneDash(const CLI::App& app, const std::string& word) {
  if (word.size() < 4 || !word.starts_with('-') || word.starts_with("--")) return std::nullopt;
  if (std::isalpha(static_cast<unsigned char>(word[1])) == 0) return std::nullopt;
  const std::string name = "-" + word.substr(0, word.find('='));
  if (app.get_option_no_throw(name) == nullptr) return std::nullopt;
  return WordProblem{"there is no option " + Quoted(word), "did you mean \"-" + word + "\"?"};
}

// A whole number is read with 64 bits, so a negative or larger one would become another one.
std::optional<WordProblem> NumberProblem(const std::string& option, const std::string& name, const std::string& value) {
  if (name != "N" || !IsDigits(std::string_view(value).substr(value.starts_with('-') ? 1 : 0))) return std::nullopt;
  if (ParseNumber<std::uint64_t>(value)) return std::nullopt;
  return WordProblem{option + " takes N, got " + Quoted(value), "N is a whole number from 0 to 2^64 - 1"};
}

constexpr std::array<std::string_view, 8> kTruths = {"true", "false", "yes", "no", "on", "off", "True", "False"};

}  // namespace

std::optional<WordProblem> FindWordProblem(const CLI::App& app, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (auto dash = OneDash(app, words[i])) return dash;
    if (const std::size_t equals = words[i].find('='); words[i].starts_with("--") && equals != std::string::npos) {
      const std::string word = words[i].substr(0, equals);
      const CLI::Option* const named = OptionOf(app, word);
      if (named == nullptr || !TakesValue(*named)) continue;
      if (auto number = NumberProblem(word, ValueName(*named), words[i].substr(equals + 1))) return number;
      continue;
    }
    const CLI::Option* option = OptionOf(app, words[i]);
    if (option == nullptr || option->get_positional()) continue;
    const bool is_last = i + 1 == words.size();
    if (IsFlag(*option)) {
      if (is_last || std::find(kTruths.begin(), kTruths.end(), words[i + 1]) == kTruths.end()) continue;
      return WordProblem{
          words[i] + " takes no value, got " + Quoted(words[i + 1]),
          words[i + 1].starts_with('f') || words[i + 1] == "no" || words[i + 1] == "off" || words[i + 1] == "False"
              ? "leave out " + words[i] + " " + words[i + 1]
              : "leave out " + Quoted(words[i + 1])};
    }
    if (!TakesValue(*option)) continue;
    const std::string name = ValueName(*option);
    if (is_last || OptionOf(app, words[i + 1]) != nullptr) {
      return WordProblem{words[i] + " needs a value" + (is_last ? "" : " before " + Quoted(words[i + 1])),
                         "write " + words[i] + " " + name};
    }
    if (auto number = NumberProblem(words[i], name, words[i + 1])) return number;
    const bool value_follows =
        i + 2 < words.size() && !words[i + 2].starts_with("--") && words[i + 2].find('=') == std::string::npos;
    if (name.starts_with("NAME=") && IsName(words[i + 1]) && value_follows) {
      return WordProblem{words[i] + " takes " + name + ", got " + Quoted(words[i + 1]),
                         "write " + words[i] + " " + Joined(words, i + 1)};
    }
    ++i;  // its value, which may look like anything
  }
  return std::nullopt;
}

std::string RefusalText(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view kOne = "The following argument was not expected: ";
  constexpr std::string_view kSeveral = "The following arguments were not expected: ";
  const std::string words = text.starts_with(kOne)       ? text.substr(kOne.size())
                            : text.starts_with(kSeveral) ? text.substr(kSeveral.size())
                                                         : "";
  if (words.empty()) return text;
  const bool several = text.starts_with(kSeveral);
  if (words.starts_with('-')) return (several ? "there are no options " : "there is no option ") + words;
  return (several ? "too many words: " : "one word too many: ") + words;
}

std::optional<WordProblem> ExplainRefusal(const CLI::App& app, const CLI::ParseError& error,
                                          const std::string& example) {
  const std::string text = error.what();
  constexpr std::string_view kConversion = "Could not convert: ";
  if (text.starts_with(kConversion)) {
    const std::size_t equals = text.find(" = ");
    if (equals == std::string::npos) return std::nullopt;
    const std::string name = text.substr(kConversion.size(), equals - kConversion.size());
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) return std::nullopt;
    const std::string value = ValueName(*option);
    return WordProblem{name + " takes " + value + ", got " + Quoted(text.substr(equals + 3)),
                       name + ": " + option->get_description()};
  }
  constexpr std::string_view kRequired = " is required";
  if (text.ends_with(kRequired)) {
    const std::string name = text.substr(0, text.size() - kRequired.size());
    const CLI::Option* option = app.get_option_no_throw(name);
    const bool named = option != nullptr && option->get_positional() && ValueName(*option) != "TEXT";
    return WordProblem{"missing argument " + (named ? ValueName(*option) : name), "for example: " + example};
  }
  return std::nullopt;
}

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
  const bool fits = !name.empty() && !IsDigit(name.front()) &&
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
