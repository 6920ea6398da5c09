// Tests the completion candidates, and the scripts in bash, fish and zsh.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/values/quoting.h"
#include "cli/muster_command.h"

namespace muster::testing {
namespace {

using Words = std::vector<std::string>;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

CommandResult Complete(Words words) {
  words.insert(words.begin(), {"completion", "--words", "--"});
  return Muster(words);
}

// Returns the candidates without their descriptions.
Words WordsFor(const Words& words) {
  Words found = Lines(Complete(words).out);
  for (std::string& line : found) line.resize(std::min(line.size(), line.find('\t')));
  return found;
}

bool Holds(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

TEST(Completion, OfCommandsAndOptionsDescribesThem) {
  EXPECT_EQ(WordsFor({"pl"}), Words{"plan"});
  EXPECT_TRUE(Holds(WordsFor({}), "run"));
  EXPECT_TRUE(Holds(WordsFor({""}), "completion"));
  EXPECT_EQ(Complete({"logs", "--ta"}).out, "--tail\tonly the last N lines of each\n");
  EXPECT_FALSE(Holds(WordsFor({"run", "--f"}), "--fault")) << "--help does not show it either";
  EXPECT_EQ(Complete({"nosuch", ""}).out, "");
}

TEST(Completion, OfParametersComesFromTheRecipe) {
  const Words names = WordsFor({"plan", "recipes/pipeline.lua", ""});
  EXPECT_TRUE(Holds(names, "pipeline_stages=")) << ::testing::PrintToString(names);
  EXPECT_TRUE(Holds(names, "hosts="));
  EXPECT_EQ(Complete({"plan", "recipes/pipeline.lua", "pip"}).out,
            "pipeline_stages=\tstages the layers are cut into (2)\n");
  EXPECT_EQ(WordsFor({"plan", "recipes/pipeline.lua", "layers=8", "lay"}), Words{}) << "it is set already";
  EXPECT_EQ(WordsFor({"plan", "--host", "n1", "recipes/data_parallel.lua", "device_target="}),
            (Words{"device_target=Ascend", "device_target=GPU"}));
  EXPECT_EQ(WordsFor({"plan", "--unset", "lay"}), Words{}) << "no recipe is named yet";
  EXPECT_EQ(WordsFor({"plan", "recipes/pipeline.lua", "--unset", "lay"}), Words{"layers"});
  EXPECT_EQ(WordsFor({"plan", "recipes/gpt.lua", "--profile", ""}), Words{"smoke"});
  EXPECT_TRUE(Holds(WordsFor({"plan", "recipes/gpt.lua", "optimizer=sgd", "optimizer."}), "optimizer.momentum="));
  EXPECT_FALSE(Holds(WordsFor({"plan", "recipes/gpt.lua", "optimizer=adam", "optimizer."}), "optimizer.momentum="));
}

TEST(Completion, OfARecipeThatCannotBeReadIsSilent) {
  const OneRecipe broken("this is no Lua");
  const CommandResult result = Complete({"plan", broken.path(), ""});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out,
            "hosts=\thow many hosts the job is spread over\n"
            "devices_per_host=\thow many devices each of them has\n");
}

TEST(Completion, OfRunsTopicsAndReleasesListsThem) {
  const TempDir home;
  ASSERT_EQ(Muster({"run", "-q", "recipes/hello.lua"}, {"MUSTER_HOME=" + home.path()}).exit_code, 0);
  const CommandResult runs = Muster({"completion", "--words", "--", "report", "h"}, {"MUSTER_HOME=" + home.path()});
  EXPECT_EQ(runs.out, "hello\tthe newest of that name: ok\n");
  EXPECT_TRUE(Holds(WordsFor({"docs", "pipeline_s"}), "pipeline_stages"));
  EXPECT_EQ(WordsFor({"check", "--mindspore=2.4"}), Words{"--mindspore=2.4.0"});
  EXPECT_TRUE(Holds(WordsFor({"docs", "--group", ""}), "debug"));
  EXPECT_EQ(WordsFor({"init", "--from", "to"}), Words{"torchrun"});
  EXPECT_EQ(WordsFor({"test", "rec"}), Words{":files"});
  EXPECT_EQ(WordsFor({"run", "--plan", ""}), Words{":files"});
  for (const char* command : {"ls", "ps"}) {
    EXPECT_EQ(WordsFor({command, ""}), Words{":files"}) << command;
    EXPECT_EQ(WordsFor({command, "runs", "mo"}), Words{":files"}) << command;
  }
  EXPECT_EQ(WordsFor({"run", "@torch", "--", "tr"}), Words{":files"});
}

TEST(Completion, OmitsRunsWithInvalidNames) {
  const TempDir home;
  const std::vector<std::string> at = {"MUSTER_HOME=" + home.path()};
  ASSERT_EQ(Muster({"sweep", "-q", "recipes/hello.lua", "--grid", "greetings=1"}, at).exit_code, 0);
  std::filesystem::copy(home / "sweeps/hello", home / "sweeps/$(touch X)", std::filesystem::copy_options::recursive);
  const CommandResult sweeps = Muster({"completion", "--words", "--", "best", ""}, at);
  EXPECT_TRUE(sweeps.out.starts_with("hello\t")) << sweeps.out;
  for (const std::string& line : Lines(sweeps.out)) {
    EXPECT_EQ(line.substr(0, line.find('\t')).find("touch"), std::string::npos) << line;
  }
}

TEST(Completion, OfSweepsListsThemAndTheirBestTrials) {
  const TempDir home;
  const std::vector<std::string> at = {"MUSTER_HOME=" + home.path()};
  ASSERT_EQ(Muster({"sweep", "-q", "recipes/hello.lua", "--grid", "greetings=1,2"}, at).exit_code, 0);
  const auto words = [&](Words typed) {
    typed.insert(typed.begin(), {"completion", "--words", "--"});
    return Muster(typed, at).out;
  };
  EXPECT_EQ(words({"resume", "h"}), "hello\tthe newest sweep of that name\n");
  EXPECT_EQ(words({"show", "hello:"}), "hello:best\tthe best trial of the sweep\n");
  EXPECT_EQ(words({"best", "hello:"}), "");
  EXPECT_EQ(words({"logs", "hello:b"}), "hello:best\tthe best trial of the sweep\n");
  EXPECT_EQ(words({"run", "hello:b"}), "hello:best\tthe best trial of the sweep\n:files\n");
  EXPECT_EQ(words({"ls", "h"}), "hello\tthe newest sweep of that name\n:files\n");
  EXPECT_EQ(words({"retry", "--class", "oom_d"}), "oom_device\thow attempts of trials ended\n");
  EXPECT_EQ(words({"sweep", "recipes/hello.lua", "--retry-on", "o"}),
            "oom_device\thow attempts of trials ended\noom_host\thow attempts of trials ended\n");
  EXPECT_EQ(words({"report-metric", "--fi"}), "--file\tthe file that gets the line (default: $MUSTER_METRICS)\n");
}

TEST(Completion, OmitsWordsWithLineBreaksOrUnprintableCharacters) {
  const OneRecipe recipe(
      "",
      "params = { mode = muster.enum { 'a b', one_of = { 'a b', 'c', 'd\\ne', 'f\\tg', 'h\\27[31m' }, doc = "
      "'one\\n\\27[31mtwo' } },");
  EXPECT_EQ(WordsFor({"plan", recipe.path(), "mode="}), (Words{"mode=a b", "mode=c"}));
  EXPECT_EQ(Complete({"plan", recipe.path(), "mo"}).out, "mode=\tone \\x1b[31mtwo (\"a b\")\n");
}

TEST(Completion, OfAnUnknownShellIsRefused) {
  const CommandResult result = Muster({"completion", "tcsh"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "muster: error: \"tcsh\": there is no script for this shell\n"
            "hint: muster completion bash, fish or zsh\n");
  EXPECT_EQ(Muster({"completion"}).exit_code, 2);
}

// Returns the shell's own candidates for `line`; the script is sourced as the README describes.
Words AskShell(const std::string& shell, const std::string& script) {
  Command command;
  command.argv = {"/usr/bin/env", shell, "-c", script};
  const std::string folder = std::filesystem::path(MusterProgram()).parent_path();
  const TempDir home;
  command.env = {"PATH=" + folder + ":/usr/bin:/bin", "HOME=" + home.path(), "TERM=dumb"};
  command.cwd = MUSTER_SOURCE_DIR;
  const CommandResult result = RunCommand(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Lines(result.out);
}

bool HasShell(const std::string& shell) {
  return RunCommand({.argv = {"/usr/bin/env", shell, "-c", "true"}}).exit_code == 0;
}

TEST(CompletionInBash, OmitsThePartAlreadyTyped) {
  const auto ask = [](const std::string& line) {
    return AskShell("bash", "eval \"$(muster completion bash)\"; COMP_LINE='" + line +
                                "'; COMP_POINT=${#COMP_LINE}; _muster; printf '%s\\n' \"${COMPREPLY[@]}\"");
  };
  EXPECT_EQ(ask("muster pla"), Words{"plan"});
  EXPECT_EQ(ask("muster plan recipes/data_parallel.lua device_target=A"), Words{"Ascend"});
  EXPECT_EQ(ask("muster plan recipes/pipeline.lua pipe"), Words{"pipeline_stages="});
  EXPECT_EQ(ask("muster check --mindspore=2.4"), Words{"2.4.0"});
  EXPECT_TRUE(Holds(ask("muster plan recipes/pipe"), "recipes/pipeline.lua"));
}

// A hostile recipe: its values would be executed if a shell inserted them unquoted.
class HostileRecipe {
 public:
  static Words Values() {
    return {"$(touch${IFS}X)", "`touch X`",  "a;touch X", "it's",
            "q\"uote",         "two  words", "b\\ack\\",  "é|&<>(){,}[]*?~#!^"};
  }
  std::string path() const { return recipe_.path(); }
  std::string folder() const { return std::filesystem::path(path()).parent_path(); }

 private:
  static std::string Fields() {
    std::string one_of;
    for (const std::string& value : Values()) one_of += "[==[" + value + "]==], ";
    return "params = { mode = muster.enum { 'a;touch X', one_of = { " + one_of + "} } },";
  }
  OneRecipe recipe_{"", Fields()};
};

TEST(CompletionInBash, InsertsQuotedWords) {
  const HostileRecipe recipe;
  const TempDir folder;
  std::ofstream(folder / "$(touch X)");
  std::filesystem::create_directory(folder / "my dir");
  // Evaluates each candidate in bash, inserted after what was typed, both unquoted and within quotes.
  const auto ask = [&](const std::string& line) {
    return AskShell("bash",
                    "cd " + folder.path() + "; eval \"$(muster completion bash)\"; COMP_LINE=" + ShellQuoted(line) +
                        "; COMP_POINT=${#COMP_LINE}; _muster 2>/dev/null; for word in \"${COMPREPLY[@]}\"; do eval "
                        "\"set -- $word\"; printf '%s|' \"$@\"; printf '%s\\n' $#; eval \"set -- \\\"$word\\\"\"; "
                        "done; [[ ! -e X ]] || echo RUN");
  };
  Words expected;
  for (const std::string& value : HostileRecipe::Values()) expected.push_back(value + "|1");
  EXPECT_EQ(ask("muster plan " + recipe.path() + " mode="), expected);
  EXPECT_EQ(ask("muster plan " + recipe.path() + " mode=\\$"), Words{"$(touch${IFS}X)|1"});
  EXPECT_EQ(ask("muster plan " + recipe.path() + " mode=two\\ "), Words{"two  words|1"});
  EXPECT_EQ(ask("muster plan \\$"), Words{"$(touch X)|1"}) << "a file's name";
  EXPECT_EQ(ask("muster plan my"), Words{"my dir/|1"});
}

// Completes a hostile value at a shell's terminal, then puts "echo" before the line and sends it off. `started`: the
// shell and its first input, for zsh's zpty.
Words InsertedAt(const std::string& started) {
  const HostileRecipe recipe;
  const TempDir folder;
  std::ofstream(folder / "ask.zsh") << "zmodload zsh/zpty\ncd " << recipe.folder() << "\nzpty -e asked " << started
                                    << R"zsh(
zpty -r asked shown '*READY2*' || exit 1
zpty -w -n asked 'muster plan recipe.lua mode=\$'$'\t'
zpty -r asked shown '*IFS*X*' || exit 2
zpty -w -n asked $'\C-aecho \r'
zpty -r asked shown '*mode=??touch??IFS?X?*' || exit 3
zpty -d asked
[[ -e X ]] && echo RUN || echo well
)zsh";
  return AskShell("zsh", "source " + (folder / "ask.zsh"));
}

TEST(CompletionInBash, InsertsQuotedWordsAtATerminal) {
  if (!HasShell("zsh")) GTEST_SKIP() << "zsh is missing (tools/setup --all)";
  EXPECT_EQ(InsertedAt("bash --norc -i\nzpty -w asked 'eval \"$(muster completion bash)\"; echo READY$((1+1))'"),
            Words{"well"});
}

TEST(CompletionInZsh, InsertsQuotedWords) {
  if (!HasShell("zsh")) GTEST_SKIP() << "zsh is missing (tools/setup --all)";
  EXPECT_EQ(InsertedAt("zsh -f -i\nzpty -w asked 'autoload -U compinit; compinit -u -D; eval \"$(muster completion "
                       "zsh)\"; echo READY$((1+1))'"),
            Words{"well"});
}

TEST(CompletionInFish, InsertsQuotedWords) {
  if (!HasShell("zsh") || !HasShell("fish")) GTEST_SKIP() << "zsh or fish is missing (tools/setup --all)";
  EXPECT_EQ(InsertedAt("fish --no-config -i\nzpty -w asked 'muster completion fish | source; echo READY(math 1+1)'"),
            Words{"well"});
}

TEST(CompletionInFish, ShowsWordsWithDescriptions) {
  if (!HasShell("fish")) GTEST_SKIP() << "fish is missing (tools/setup --all)";
  const auto ask = [](const std::string& line) {
    return AskShell("fish", "muster completion fish | source; complete -C '" + line + "'");
  };
  EXPECT_EQ(ask("muster pla"), Words{"plan\tprint a recipe's processes, hosts and environment"});
  EXPECT_EQ(ask("muster plan recipes/data_parallel.lua device_target=A"), Words{"device_target=Ascend"});
  EXPECT_TRUE(Holds(ask("muster plan recipes/pipe"), "recipes/pipeline.lua"));
}

// zsh completes only at a terminal: the test runs it on a pseudo-terminal and checks what it shows.
TEST(CompletionInZsh, ShowsWordsWithDescriptions) {
  if (!HasShell("zsh")) GTEST_SKIP() << "zsh is missing (tools/setup --all)";
  const TempDir folder;
  std::ofstream(folder / "ask.zsh") << R"zsh(
zmodload zsh/zpty
zpty asked zsh -f -i
zpty -w asked 'autoload -U compinit; compinit -u -D; eval "$(muster completion zsh)"; bindkey "^I" list-choices; echo READY$((1+1))'
zpty -r asked shown '*READY2*' || exit 1
zpty -w -n asked $'muster plan recipes/pipeline.lua pip\t'
zpty -r asked shown '*stages the layers*' || exit 1
zpty -w -n asked $'\C-umuster docs pipeline_st\t'
zpty -r asked shown '*Stages the network*' || exit 1
zpty -d asked
echo well
)zsh";
  EXPECT_EQ(AskShell("zsh", "source " + (folder / "ask.zsh")), Words{"well"});
}

}  // namespace
}  // namespace muster::testing
