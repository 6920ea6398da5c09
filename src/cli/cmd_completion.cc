// muster completion: prints the completion script of a shell, which calls this program at each key press, and
// completes its words: commands, options, parameters of the recipe with their documentation, runs, topics. Starts
// nothing except the evaluation of the named recipe, writes nothing, and ignores errors.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/values/quoting.h"
#include "cli/command/command.h"
#include "cli/command/command_line.h"
#include "cli/command/command_output.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/known_recipe.h"
#include "cli/lookup/own_reference.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_list.h"
#include "cli/options/recipe_options.h"
#include "muster/value.h"
#include "space/sweep_description.h"
#include "sweep/record/sweep_directory.h"

namespace muster {
namespace {

// Completes muster's command line: commands, options, parameters of the recipe with their documentation, runs, topics.
// Shells call it at every key press (muster completion): it starts nothing except the evaluation of the named recipe,
// writes nothing, and ignores errors.

struct Completion {
  struct Candidate {
    std::string word;  // the whole word; one that ends in '=' is continued by a value
    std::string about;
  };
  std::vector<Candidate> candidates;  // those that begin with the last word
  bool files = false;                 // also complete names of files
};

constexpr std::string_view kProfile = "PROFILE";  // the type of --profile

class Completer {
 public:
  Completer(std::span<const Command> commands, const std::vector<std::string>& words)
      : commands_(commands), words_(words), last_(words.empty() ? std::string() : words.back()) {}

  Completion Complete() {
    if (words_.size() < 2) {
      for (const Command& command : commands_) Add(command.name, command.summary);
      return std::move(answer_);
    }
    const auto command = std::find_if(commands_.begin(), commands_.end(),
                                      [this](const Command& one) { return one.name == words_.front(); });
    if (command != commands_.end()) OfCommand(*command);
    return std::move(answer_);
  }

 private:
  void Add(const std::string& word, const std::string& about) {
    if (word.starts_with(last_)) answer_.candidates.push_back({word, about});
  }

  // A name or id of a run. Other names are skipped: another user may have created the directory.
  void AddName(const std::string& name, const std::string& about) {
    if (IsRunName(name)) Add(name, about);
  }

  void OfCommand(const Command& command) {
    CLI::App app;
    const Invocation invocation;
    const CommandOptions options = AddCommandOptions(app, command, invocation);
    const CLI::Option* waiting = nullptr;  // an option whose value is next
    for (std::size_t i = 1; i + 1 < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (word == "--") {  // the rest belongs to the job
        answer_.files = true;
        return;
      }
      if (waiting != nullptr) {
        if (waiting->get_type_name() == kProfile) profiles_.push_back(word);
        if (waiting == options.site) ChooseSite(word);
        waiting = nullptr;
      } else if (word.starts_with('-') && word.size() > 1) {
        const CLI::Option* option = OptionOf(app, word.substr(0, word.find('=')));
        if (option != nullptr && option->get_expected_min() > 0 && word.find('=') == std::string::npos)
          waiting = option;
      } else {
        given_.push_back(word);
      }
    }
    if (waiting != nullptr) return ValuesOf(waiting->get_type_name(), {});
    if (last_.starts_with('-')) {
      const std::size_t equals = last_.find('=');
      if (equals == std::string::npos) return OptionsOf(app);
      const CLI::Option* option = OptionOf(app, last_.substr(0, equals));
      if (option != nullptr) ValuesOf(option->get_type_name(), last_.substr(0, equals + 1));
      return;
    }
    Positional(app);
  }

  static const CLI::Option* OptionOf(const CLI::App& app, const std::string& name) {
    return app.get_option_no_throw(name);
  }

  void OptionsOf(const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group().empty()) continue;  // not for users
      for (const std::string& name : option->get_lnames()) Add("--" + name, option->get_description());
      if (!last_.starts_with("--") && option->get_lnames().empty())
        for (const std::string& name : option->get_snames()) Add("-" + name, option->get_description());
    }
  }

  // Adds the values of an option, each with the prefix `before`.
  void ValuesOf(const std::string& type, const std::string& before) {
    if (type.starts_with("FILE") || type == "[FILE]" || type == "PATH" || type == "DIR") {
      answer_.files = true;
      if (type == "FILE|none") Add(before + "none", "no site file at all");
    } else if (type == "NAME") {
      for (const ParameterState& state : Described().parameters)
        Add(before + state.parameter.name, state.parameter.doc);
    } else if (type == kProfile) {
      for (const ProfileFacts& profile : Described().profiles) Add(before + profile.name, "a profile of the recipe");
    } else if (type == "RUN") {
      Runs();
    } else if (type.starts_with("CLASS")) {
      for (std::size_t i = 0; i < kTrialClassNames.size(); ++i) {
        const bool failed = IsFailure(static_cast<TrialClass>(i));
        if (failed || type != "CLASSES") Add(before + std::string(kTrialClassNames[i]), "how attempts of trials ended");
      }
    } else if (type == "LAUNCHER") {
      for (const char* name : {"torchrun", "msrun", "mpirun"})
        Add(before + name, "whose command line is given after --");
    } else if (type == "GROUP") {
      Topics([](const Topic& topic) { return IsGroup(topic); }, before);
    } else if (type.starts_with("RELEASE")) {
      const auto reference = OwnReference::Load({});
      if (!reference) return;
      for (const ReleaseFacts& facts : (*reference)->schema.releases()) {
        if (facts.described) Add(before + ReleaseText(facts.release), facts.doc);
      }
      if (type.ends_with("|all")) Add(before + "all", "every release");
    }
  }

  void Positional(const CLI::App& app) {
    std::vector<const CLI::Option*> positionals;
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional()) positionals.push_back(option);
    }
    if (positionals.empty()) return;
    const std::size_t at = std::min(given_.size(), positionals.size() - 1);
    if (given_.size() > at && positionals[at]->get_expected_max() <= 1) return;  // no further arguments
    const std::string name = positionals[at]->get_name(true);
    if (name == "RECIPE") {
      for (const char* own : {"@torch", "@mindspore", "@ps-lite", "@mpi"}) Add(own, "a recipe of muster's own");
      if (last_.starts_with('@')) {
        for (const std::string& recipe : LibraryRecipes()) Add(recipe, "a recipe of a library");
      }
      if (!last_.empty()) Runs();  // stored recipes of runs
      answer_.files = true;
    } else if (name == "OVERRIDES") {
      Overrides();
    } else if (name == "RUN") {
      Runs();
      if (TakesSweeps(words_.front())) {
        for (const std::string& sweep : SweepNames()) Add(sweep, "the newest sweep of that name");
      }
    } else if (name == "SWEEP") {
      Sweeps(words_.front() == "show");
    } else if (name == "FOLDERS" && words_.front() == "ls") {
      Sweeps(false);
      answer_.files = true;
    } else if (name == "TOPIC") {
      Topics([](const Topic&) { return true; }, {});
    } else if (name == "FOLDER" || name == "FOLDERS" || name == "DIR") {
      answer_.files = true;
    } else if (name == "SHELL") {
      for (const char* shell : {"bash", "fish", "zsh"}) Add(shell, "the shell whose script is printed");
    }
  }

  // Evaluates the named recipe with the overrides so far, since the selected variant adds parameters. Falls back to the
  // recipe without overrides if these are invalid, and to nothing if the recipe is.
  Evaluation Described() const {
    if (given_.empty()) return {};
    RecipeOptions options;
    options.recipe = given_.front();
    options.profiles = profiles_;
    options.overrides.assign(given_.begin() + 1, given_.end());
    if (auto evaluation = EvaluateFrom(options, EvaluationDepth::kParameters)) return *std::move(evaluation);
    options.profiles.clear();
    options.overrides.clear();
    auto evaluation = EvaluateFrom(options, EvaluationDepth::kParameters);
    return evaluation ? *std::move(evaluation) : Evaluation();
  }

  void Overrides() {
    const std::size_t equals = last_.find('=');
    std::set<std::string> set;
    for (const std::string& word : given_) set.insert(word.substr(0, word.find('=')));
    const Evaluation evaluation = Described();
    for (const ParameterState& state : evaluation.parameters) {
      const Parameter& parameter = state.parameter;
      if (!state.active) continue;
      if (equals == std::string::npos) {
        const std::string now = state.value && parameter.type != ParameterType::kSecret ? ToText(*state.value) : "";
        const std::string about = parameter.doc.empty() ? now : parameter.doc + (now.empty() ? "" : " (" + now + ")");
        if (set.insert(parameter.name).second) Add(parameter.name + "=", about);
      } else if (last_.substr(0, equals) == parameter.name) {
        for (const Value& value : parameter.one_of) Add(parameter.name + "=" + PlainText(value), {});
        if (parameter.type == ParameterType::kBool)
          for (const char* value : {"true", "false"}) Add(parameter.name + "=" + value, {});
        if (parameter.type == ParameterType::kPath) answer_.files = true;
      }
    }
    if (equals == std::string::npos) ClusterNumbers(set);
  }

  // Adds numbers of the cluster that no parameter of the same name hides.
  void ClusterNumbers(const std::set<std::string>& set) {
    for (const auto& [name, about] : {std::pair{"hosts", "how many hosts the job is spread over"},
                                      std::pair{"devices_per_host", "how many devices each of them has"}}) {
      if (!set.contains(name)) Add(std::string(name) + "=", about);
    }
  }

  static std::string PlainText(const Value& value) {
    const std::string* text = value.AsString();
    return text != nullptr ? *text : ToText(value);
  }

  void Runs() {
    const auto runs = ListRuns({}, false, false);
    if (!runs) return;
    std::set<std::string> names;
    for (const RunSummary& run : runs->runs) {
      if (names.insert(run.name).second) AddName(run.name, "the newest of that name: " + run.outcome);
    }
    for (const RunSummary& run : runs->runs) AddName(run.run, run.name + ", " + run.outcome);
    for (const std::string& sweep : SweepNames()) Add(sweep + ":best", "the best trial of the sweep");
  }

  // Whether its RUN may be a sweep (cli/lookup/run_argument.h).
  static bool TakesSweeps(const std::string& command) {
    static const std::set<std::string> commands = {"top", "watch", "logs", "report", "dump", "stop", "note", "tag"};
    return commands.contains(command);
  }

  static std::set<std::string> SweepNames() {
    std::set<std::string> names;
    const auto folder = DefaultSweepsFolder();
    if (!folder) return names;
    for (const FoundRun& one : RunsBelow(*folder, kSweepDirectories)) {
      if (IsRunName(one.name)) names.insert(one.name);
    }
    return names;
  }

  void Sweeps(bool and_trials) {
    const auto folder = DefaultSweepsFolder();
    if (!folder) return;
    const std::vector<FoundRun> sweeps = RunsBelow(*folder, kSweepDirectories);
    std::set<std::string> names;
    for (auto one = sweeps.rbegin(); one != sweeps.rend(); ++one) {
      if (names.insert(one->name).second) AddName(one->name, "the newest sweep of that name");
    }
    for (auto one = sweeps.rbegin(); one != sweeps.rend(); ++one) AddName(one->id, one->name + ", " + one->stamp);
    if (!and_trials) return;
    for (const std::string& name : names) {
      if (IsRunName(name)) Add(name + ":best", "the best trial of the sweep");
    }
  }

  template <class Wanted>
  void Topics(const Wanted& wanted, const std::string& before) {
    const auto reference = OwnReference::Load({});
    if (!reference) return;
    for (const Topic& topic : (*reference)->topics) {
      if (wanted(topic)) Add(before + topic.name, topic.summary);
    }
  }

  std::span<const Command> commands_;
  const std::vector<std::string>& words_;
  const std::string last_;
  std::vector<std::string> given_;     // positional arguments before the last word
  std::vector<std::string> profiles_;  // values of --profile before it
  Completion answer_;
};

// `words`: those after "muster" up to the cursor; the last one is completed, and may be empty.
Completion CompleteWords(std::span<const Command> commands, const std::vector<std::string>& words) {
  return Completer(commands, words).Complete();
}

}  // namespace

// muster completion: prints the completion script of a shell. The shell calls this program at each request
//; the scripts only pass the words and show the answer.

namespace {

// Lines of an answer: "word<TAB>description", and kFiles if names of files are valid too.
constexpr std::string_view kFiles = ":files";

// Words come from recipes, file names and run folders, so each script inserts them quoted: nothing in them is executed.
// zsh and fish quote what they insert. bash only quotes names of files, and not always, so its words are quoted here,
// with backslashes, which mean the same inside open double quotes.
//
// bash splits words at = and :, and expects only the last part: so the line is split here, and the part that bash has
// already is removed from the answer.
constexpr std::string_view kBash = R"sh(# muster in bash: eval "$(muster completion bash)", for instance in ~/.bashrc
_muster() {
  local line=${COMP_LINE:0:COMP_POINT} words=() word rest about before quoted char
  local special=$' !"#$&\'()*;<>?[\\]^`{|}~'
  read -a words <<<"$line"
  [[ $line == *[[:space:]] && $line != *\\[[:space:]] ]] && words+=("")
  word=${words[-1]}
  before=${word%"${word##*[=:]}"}
  COMPREPLY=()
  while IFS=$'\t' read -r rest about; do
    if [[ $rest == :files ]]; then
      compopt -o filenames -o noquote
      while IFS= read -r rest; do
        [[ -d ${rest/#\~\//$HOME/} ]] && rest+=/ && compopt -o nospace
        COMPREPLY+=("$rest")
      done < <(compgen -f -- "${word#"$before"}")
    else
      [[ $rest == *= ]] && compopt -o nospace
      COMPREPLY+=("${rest#"$before"}")
    fi
  done < <("${words[0]}" completion --words -- "${words[@]:1}" 2>/dev/null)
  for about in "${!COMPREPLY[@]}"; do
    rest=${COMPREPLY[about]} quoted=
    [[ $rest == \~/* ]] && quoted=\~ rest=${rest:1}
    while [[ -n $rest ]]; do
      char=${rest:0:1} rest=${rest:1}
      [[ $special == *"$char"* ]] && quoted+=\\
      quoted+=$char
    done
    COMPREPLY[about]=$quoted
  done
}
complete -F _muster muster
)sh";

constexpr std::string_view kZsh = R"sh(#compdef muster
# muster in zsh: eval "$(muster completion zsh)" after compinit, or this text as _muster in a folder of $fpath
_muster() {
  local line word about files=0
  local -a plain plain_about open open_about
  while IFS=$'\t' read -r word about; do
    if [[ $word == :files ]]; then
      files=1
    elif [[ $word == *= ]]; then
      open+=("$word"); open_about+=("$word${about:+  -- $about}")
    else
      plain+=("$word"); plain_about+=("$word${about:+  -- $about}")
    fi
  done < <("${(Q)words[1]}" completion --words -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( $#plain )) && compadd -l -d plain_about -a plain
  (( $#open )) && compadd -l -S '' -d open_about -a open
  (( files )) && _files
  return 0
}
if [[ ${funcstack[1]} == _muster ]]; then _muster "$@"; else compdef _muster muster; fi
)sh";

constexpr std::string_view kFish =
    R"sh(# muster in fish: muster completion fish | source, or this text as ~/.config/fish/completions/muster.fish
function __muster_complete
    set -l words (commandline -opc)
    set -l now (string unescape -- (commandline -ct))
    for line in ($words[1] completion --words -- $words[2..-1] "$now" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (commandline -ct)
        else
            printf '%s\n' $line
        end
    end
end
complete -c muster -f -a '(__muster_complete)'
)sh";

struct Shell {
  std::string_view name;
  std::string_view script;
};
constexpr Shell kShells[] = {{"bash", kBash}, {"fish", kFish}, {"zsh", kZsh}};

struct CompletionOptions {
  std::string shell;
  bool words_wanted = false;
  std::vector<std::string> words;
};

// Reduces a recipe's text to one line.
std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return Printable(text);
}

int PrintWords(const CompletionOptions& options) {
  const Completion completion = CompleteWords(Commands(), options.words);
  for (const auto& [word, about] : completion.candidates) {
    // Blanks separate words and descriptions in an answer, and unprintable characters would be invisible.
    if (Printable(word) != word || word.find_first_of("\t\n") != std::string::npos) continue;
    std::printf("%s%s%s\n", word.c_str(), about.empty() ? "" : "\t", OneLine(about).c_str());
  }
  if (completion.files) std::printf("%.*s\n", static_cast<int>(kFiles.size()), kFiles.data());
  return kExitOk;
}

int RunCompletion(const CompletionOptions& options) {
  if (options.words_wanted) return PrintWords(options);
  for (const Shell& shell : kShells) {
    if (shell.name != options.shell) continue;
    std::fputs(shell.script.data(), stdout);
    return kExitOk;
  }
  const Diagnostics problem = {
      Error("usage", {},
            options.shell.empty() ? "no shell is given" : Quoted(options.shell) + ": there is no script for this shell",
            "muster completion bash, fish or zsh")};
  return Refuse(problem);
}

}  // namespace

std::function<int()> SetupCompletion(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<CompletionOptions>();
  options->words = invocation.words_after_dashes;
  app.add_option("SHELL", options->shell, "bash, fish or zsh")->type_name("");
  app.add_flag("--words", options->words_wanted, "print what may come next after the words after --")->group("");
  return [options] { return RunCompletion(*options); };
}

}  // namespace muster
