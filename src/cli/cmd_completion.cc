// muster completion: prints the completion script of a shell. The shell calls this program at each request
// (cli/about/complete_words.h); the scripts only pass the words and show the answer.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/values/shell_quote.h"
#include "cli/about/complete_words.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/commands.h"

namespace muster {
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
