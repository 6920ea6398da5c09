// Tests what is printed for words in the wrong place and for files that are no recipes: one row for each mistake, with
// the line that must be printed.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "base/values/utf8_text.h"
#include "cli/muster_command.h"
#include "support/on_terminal.h"
#include "support/places.h"

namespace muster::testing {
namespace {

constexpr const char* kHello = "recipes/hello.lua";

struct Mistake {
  std::vector<std::string> words;
  const char* message;  // a part of what is printed
  const char* hint;     // … of the hint; empty: none is looked for
};

void ExpectAnswer(const Mistake& mistake) {
  const CommandResult result = Muster(mistake.words);
  std::string line = "muster";
  for (const std::string& word : mistake.words) line += " " + word;
  EXPECT_EQ(result.exit_code, 2) << line << "\n" << result.err;
  EXPECT_NE(result.err.find(mistake.message), std::string::npos) << line << "\n" << result.err;
  const std::string hint = *mistake.hint == '\0' ? "" : std::string("hint: ") + mistake.hint;
  EXPECT_NE(result.err.find(hint), std::string::npos) << line << "\n" << result.err;
}

// Prevents: words in another order are answered with a list of all commands.
TEST(Messages, OfWordsBeforeTheCommandShowTheOrder) {
  const Mistake mistakes[] = {
      {{"-q", "run", kHello}, "there is no command \"-q\"", "the command comes first: muster run -q recipes/hello.lua"},
      {{"--site", "none", "check", "t.lua"}, "\"--site\"", "the command comes first: muster check --site none t.lua"},
      {{"-v"}, "there is no command \"-v\"", "the command comes first: muster COMMAND -v"},
      {{kHello, "run"}, "there is no command", "the command comes first: muster run recipes/hello.lua"},
      {{kHello}, "there is no command", "muster run recipes/hello.lua"},
      {{"train.py", "--lr", "1"}, "\"train.py\"", "a program is run by: muster run @torch -- python3 train.py --lr 1"},
      {{"python3", "train.py"}, "\"python3\"", "a program is run by: muster run @torch -- python3 train.py"},
      {{"torchrun", "train.py"},
       "\"torchrun\"",
       "a program is run by: muster init --from torchrun -- torchrun train.py"},
      {{"run", "--", "python3", "train.py"},
       "no recipe is given",
       "a program without a recipe is run by: muster run @torch -- python3 train.py"},
      {{"plan", "--", "python3", "train.py"},
       "no recipe is given",
       "a program without a recipe is run by: muster run @torch -- python3 train.py"},
      {{"run", "python3", "train.py"},
       "\"train.py\": there is no '='",
       "a program without a recipe is run by: muster run @torch -- python3 train.py"},
      {{"run", "train.py", "8"},
       "\"8\": there is no '='",
       "a program without a recipe is run by: muster run @torch -- python3 train.py 8"},
  };
  for (const Mistake& mistake : mistakes) ExpectAnswer(mistake);
}

// Prevents: an option is taken for the value of the option before it, or its value for a parameter.
TEST(Messages, OfValuesInTheWrongPlaceNameTheOption) {
  const Mistake mistakes[] = {
      {{"run", kHello, "-detach"}, "there is no option \"-detach\"", "did you mean \"--detach\"?"},
      {{"run", kHello, "-host=n1"}, "there is no option \"-host=n1\"", "did you mean \"--host=n1\"?"},
      {{"run", kHello, "--host"}, "--host needs a value", "write --host LIST"},
      {{"run", kHello, "--profile", "--detach"},
       "--profile needs a value before \"--detach\"",
       "write --profile PROFILE"},
      {{"ls", "--where", "--columns", "lr"}, "--where needs a value before \"--columns\"", "write --where "},
      {{"sweep", kHello, "--random", "--preview"}, "--random needs a value before \"--preview\"", "write --random N"},
      {{"sweep", kHello, "--grid", "--preview"}, "--grid needs a value before \"--preview\"", "write --grid NAME="},
      {{"sweep", kHello, "--grid", "lr", "0.1", "0.2"}, "--grid takes NAME=", "write --grid lr=0.1,0.2"},
      {{"run", kHello, "--env", "A", "1"}, "--env takes NAME=VALUE, got \"A\"", "write --env A=1"},
      {{"run", kHello, "--detach", "true"}, "--detach takes no value, got \"true\"", "leave out \"true\""},
      {{"run", kHello, "--detach", "no"}, "--detach takes no value, got \"no\"", "leave out --detach no"},
      {{"serve", "--port", "99999"}, "--port takes PORT, got \"99999\"", "--port: port of 127.0.0.1"},
      {{"logs", "--tail", "x"}, "--tail takes N, got \"x\"", "--tail: "},
      {{"sweep", kHello, "--random", "-3"}, "--random takes N, got \"-3\"", "N is a whole number from 0 to 2^64 - 1"},
      {{"simulate", kHello, "--seed=18446744073709551616"}, "--seed takes N, got \"18446744073709551616\"", "N is a"},
      {{"simulate", kHello, "--between", "0"}, "--between must be above 0, got 0", "for example 30m"},
      {{"simulate", kHello, "--between", "1d", "--rules", "/"}, "\"/\" is a folder, no file", ""},
      {{"simulate", kHello, "--between", "1d", "--failures", "f"}, "--between excludes --failures", ""},
      {{"sweep", kHello, "--grid", "greetings=1,2", "--minimize", ""}, "--minimize names no metric", "--minimize loss"},
      {{"check", kHello, "--slurm", "time=3h"}, "there is no option --slurm", "--slurm is an option of muster "},
      {{"explain", kHello}, "missing argument NAME: what should be explained?", "muster explain "},
      {{"help", "runn"}, "there is no command \"runn\"", "did you mean \"run\"?"},
      {{"explain"}, "missing argument RECIPE", "for example: muster explain "},
  };
  for (const Mistake& mistake : mistakes) ExpectAnswer(mistake);
}

TEST(Messages, OfParametersShowTheirForm) {
  const Mistake mistakes[] = {
      {{"plan", kHello, "greetings", "3"}, "\"greetings\": there is no '='", "write greetings=3"},
      {{"plan", kHello, "greetings", "=", "3"}, "\"greetings\": there is no '='", "write greetings=3"},
      {{"plan", kHello, "greetings:3"}, "\"greetings:3\": there is no '='", "write greetings=3"},
      {{"plan", kHello, "GREETINGS=3"}, "no parameter \"GREETINGS\"", "did you mean \"greetings\"?"},
  };
  for (const Mistake& mistake : mistakes) ExpectAnswer(mistake);
}

// Prevents: a value that was meant is clear, and only refused.
TEST(Messages, OfValuesShowTheMeantOne) {
  const OneRecipe recipe(
      "job:workers { count = p.n, command = { 'x', p.lr } }",
      "params = { lr = muster.float { 0.1 }, n = muster.int { 1 }, mem = muster.bytes { \"1GiB\" }, "
      "t = muster.duration { \"1h\" }, on = muster.bool { true }, "
      "opt = muster.enum { \"adam\", one_of = { \"adam\", \"sgd\" } }, sizes = muster.list { { 1 } } },");
  struct Meant {
    const char* word;
    const char* hint;
  };
  const Meant cases[] = {
      {"lr=1,000", "write 1000"},
      {"lr=50%", "write 0.5"},
      {"lr=0,1", "write 0.1"},
      {"lr=1e-3f", "write 1e-3"},
      {"lr='0.5'", "write 0.5"},
      {"lr=[0.1]", "write 0.1"},
      {"lr==2", "write 2"},
      {"lr=", "a value stands behind the '='"},
      {"n=1e3", "write 1000"},
      {"n=1_000", "write 1000"},
      {"n=2.0", "write 2"},
      {"mem=64G", "write 64GiB"},
      {"mem=64gb", "write 64GB"},
      {"mem=1.5 TiB", "write 1.5TiB"},
      {"mem=512mib", "write 512MiB"},
      {"t=1hour", "write 1h"},
      {"t=12H", "write 12h"},
      {"t=30 min", "write 30m"},
      {"t=2days", "write 2d"},
      {"t=1:30:00", "write 1h30m"},
      {"t=90", "a time has its unit"},
      {"on=True", "write true"},
      {"on=1", "write true"},
      {"on=off", "write false"},
      {"opt=Adam", "did you mean \"adam\"?"},
      {"opt=SGD", "did you mean \"sgd\"?"},
      {"sizes=1,2", "write 'sizes:=[1,2]'"},
      {"LR=1", "did you mean \"lr\"?"},
      {"lr+=1", "did you mean \"lr\"?"},
      {"lr:1", "write lr=1"},
  };
  for (const Meant& test : cases) ExpectAnswer({{"plan", recipe.path(), test.word}, "", test.hint});
}

// Prevents: options of other launchers are answered with the next option by its letters.
TEST(Messages, OfOptionsOfOtherLaunchersNameWhatMusterHas) {
  const Mistake mistakes[] = {
      {{"run", kHello, "--timeout", "30"},
       "there is no option --timeout",
       "in the recipe: limits = { time = \"12h\" }"},
      {{"run", kHello, "-np", "4"}, "there is no option -np", "the number of processes is the recipe's"},
      {{"run", kHello, "-n", "4"}, "there is no option -n", "the number of processes is the recipe's"},
      {{"run", kHello, "--nproc_per_node", "4"}, "--nproc_per_node", "the number of processes is the recipe's"},
      {{"run", kHello, "--gpus", "4"}, "there is no option --gpus", "devices are the recipe's"},
      {{"run", kHello, "--nnodes=2"}, "there is no option --nnodes", "hosts=4, or --host n[1-4]"},
      {{"run", kHello, "--nodelist", "a"}, "there is no option --nodelist", "--host n[1-4], or --hostfile FILE"},
      {{"run", kHello, "--dry-run"}, "there is no option --dry-run", "muster plan RECIPE"},
      {{"run", kHello, "--background"}, "there is no option --background", "--detach"},
      {{"run", kHello, "--partition", "gpu"}, "there is no option --partition", "options of Slurm"},
      {{"run", kHello, "-lr", "1"},
       "there is no option -lr",
       "a parameter of the recipe is written without dashes: lr=1"},
      {{"run", kHello, "--greetings", "3"},
       "--greetings",
       "a parameter of the recipe is written without dashes: greetings=3"},
      {{"run", "run", kHello},
       "recipes/hello.lua",
       "one recipe is named, before its parameters: muster run recipes/hello.lua"},
      {{"RUN", kHello}, "there is no command \"RUN\"", "did you mean \"run\"?"},
      {{"docs", "Sweeps"}, "there is no topic \"Sweeps\"", "did you mean \"sweeps\"?"},
  };
  for (const Mistake& mistake : mistakes) ExpectAnswer(mistake);
}

// Prevents: a parameter behind -- is passed to the program without a word.
TEST(Messages, OfAParameterBehindTheDashesAreWarnings) {
  const OneRecipe recipe("job:workers { count = 1, command = { 'x', job.args } }",
                         "params = { lr = muster.float { 1 } },");
  const CommandResult result = Muster({"plan", recipe.path(), "--", "lr=2", "other=3"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("warning: \"lr=2\" stands behind -- and is a word of the program; lr is a parameter of the "
                            "recipe\nhint: write the parameters of the recipe before --\n"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(result.err.find("other"), std::string::npos) << result.err;
}

// Prevents: the terminal breaks lines inside words.
TEST(Messages, KnowTheWidthOfTheTerminal) {
  constexpr unsigned short kColumns = 80;
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "--help"},
        {"sweep", "--help"},
        {"ls", "--recipes"},
        {"plan", kPipeline},
        {"explain", std::string(MUSTER_SOURCE_DIR) + "/recipes/pipeline.lua", "FIRST_LAYER", "--rank", "5"}}) {
    std::vector<std::string> argv = {MusterProgram()};
    argv.insert(argv.end(), words.begin(), words.end());
    OnTerminal terminal(argv, MUSTER_SOURCE_DIR, 24, kColumns);
    EXPECT_EQ(terminal.End(), 0);
    std::istringstream lines(terminal.written);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
      if (line.ends_with('\r')) line.pop_back();
      if (line.find('\x1b') != std::string::npos || line.find('\r') != std::string::npos) continue;  // a wait line
      EXPECT_LE(Columns(line), kColumns) << words[0] << ": " << line;
    }
    EXPECT_GT(count, 4U) << terminal.written;
  }
}

// Prevents: a line for each of a hundred runs of which nothing is left.
TEST(Messages, OfCleaningCountTheRunsOfWhichNothingIsLeft) {
  const TempDir home;
  const std::vector<std::string> variables = {"MUSTER_HOME=" + home.path()};
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(Muster({"run", "-q", kHello}, variables).exit_code, 0);
  }
  EXPECT_EQ(Muster({"clean"}, variables).out, "2 runs: nothing is left\n");
}

// Prevents: a misspelt program, and a word that is too long, are found by the first run.
TEST(Messages, OfCheckNameProgramsThatCannotBeStarted) {
  const OneRecipe misspelt("job:workers { count = 2, command = { 'sleeep' } }");
  const std::string said = Muster({"check", misspelt.path()}).err;
  EXPECT_NE(said.find("role worker: the program \"sleeep\" is not on PATH (did you mean \"sleep\"?) on this machine"),
            std::string::npos)
      << said;
  const OneRecipe long_word("job:workers { count = 2, command = { 'sh', ('x'):rep(300000) } }");
  const CommandResult result = Muster({"check", long_word.path()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("role worker: a word of its command has 300000 bytes"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("hint: write long texts to a file: job:file"), std::string::npos) << result.err;
}

// Prevents: "python3 -m pdb python3 train.py", which fails with "python3 does not exist".
TEST(Messages, OfPythonModulesBeforeACommandOfPythonTakeItsPlace) {
  const OneRecipe recipe("job:workers { count = 2, command = { '/usr/bin/python3', 'train.py', '--lr' } }");
  const std::string plan = Muster({"plan", "--full", recipe.path(), "--wrap", "worker:1=python3 -m pdb"}).out;
  EXPECT_NE(plan.find("\"python3\" \"-m\" \"pdb\" \"train.py\" \"--lr\""), std::string::npos) << plan;
  const std::string other = Muster({"plan", "--full", recipe.path(), "--wrap", "worker=gdb --args"}).out;
  EXPECT_NE(other.find("\"gdb\" \"--args\" \"/usr/bin/python3\" \"train.py\" \"--lr\""), std::string::npos) << other;
}

class FilesThatAreNoRecipes : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  TempDir folder_;
};

// Prevents: a parser's message for a file of another language.
TEST_F(FilesThatAreNoRecipes, AreNamedByTheirKind) {
  const std::string python = Write("train.py", "import torch\n");
  const std::string script = Write("job", "#!/usr/bin/env python3\nimport torch\n");
  const std::string shell = Write("run.sh", "torchrun train.py\n");
  const std::string data = Write("conf.yaml", "a: 1\n");
  const std::string utf16 = Write("utf16.lua", std::string("\xff\xfer\0e\0", 6));
  const std::string latin = Write("latin.lua", "-- a\n-- caf\xe9\nreturn 1\n");
  const std::string binary = Write("binary.lua", std::string("return \0 1", 10));
  const Mistake mistakes[] = {
      {{"run", python}, "this is a Python program, not a recipe", "muster run @torch -- python3 "},
      {{"check", script}, "this is a Python program, not a recipe", "muster run @torch -- python3 "},
      {{"plan", shell}, "this is a shell script, not a recipe", "muster init --from shell -- bash "},
      {{"plan", data}, "this is a file of data, not a recipe", "recipes read such files by muster.read_json"},
      {{"plan", utf16}, "it is UTF-16; recipes are UTF-8 texts", "iconv -f UTF-16 -t UTF-8 "},
      {{"plan", latin}, "latin.lua:2: error: byte \\xe9 is not UTF-8; recipes are UTF-8 texts", "iconv -f LATIN1 "},
      {{"plan", binary}, "it is a binary file, not a Lua text", ""},
  };
  for (const Mistake& mistake : mistakes) ExpectAnswer(mistake);
}

// Prevents: "No such file or directory", without the folder that was looked in.
TEST_F(FilesThatAreNoRecipes, ArePlacesThatWereLookedAt) {
  Write("train.lua", "return 1\n");
  const std::string folder = std::filesystem::canonical(folder_.path());
  const std::string missing = "there is no such file in \"" + folder + "\"";
  ExpectAnswer(
      {{"run", folder + "/trian.lua"}, missing.c_str(), ("did you mean \"" + folder + "/train.lua\"?").c_str()});
  ExpectAnswer({{"run", folder + "/other.lua"}, missing.c_str(), "known: "});
  ExpectAnswer({{"run", folder + "/other.lua"}, "muster ls --recipes lists recipes", ""});
  ExpectAnswer({{"check", folder + "/none/t.lua"},
                ("there is no folder \"" + folder + "/none\"").c_str(),
                "the current folder is "});
  ExpectAnswer({{"run", "no-such-sweep:best"}, "there are no sweeps in", ""});
}

}  // namespace
}  // namespace muster::testing
