// Tests commands, options, exit codes and output streams.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "cli/muster_command.h"
#include "support/places.h"

namespace muster::testing {
namespace {

const std::vector<std::string> kCommands = {"params", "check", "plan", "run",    "docs",  "ps",
                                            "watch",  "stop",  "ls",   "report", "clean", "logs"};

TEST(CommandLine, WithoutACommandListsTheCommands) {
  const CommandResult result = Muster({});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.out, "");
  for (const std::string& command : kCommands) EXPECT_NE(result.err.find("  " + command), std::string::npos) << command;
}

TEST(CommandLine, HelpSucceedsAndGoesToStandardOutput) {
  for (const char* word : {"--help", "-h", "help"}) {
    const CommandResult result = Muster({word});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.out.find("usage: muster COMMAND"), std::string::npos);
    EXPECT_NE(result.out.find("example: muster "), std::string::npos);
    EXPECT_EQ(result.err, "");
  }
  EXPECT_EQ(Muster({"--version"}).out.substr(0, 7), "muster ");
}

TEST(CommandLine, EveryCommandHasHelpWithAnExample) {
  for (const std::string& command : kCommands) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{command, "--help"}, {command, "-h"}, {"help", command}}) {
      const CommandResult result = Muster(words);
      EXPECT_EQ(result.exit_code, 0) << command;
      EXPECT_NE(result.out.find("example: muster " + command + " "), std::string::npos) << result.out;
      EXPECT_EQ(result.err, "");
    }
  }
}

// Prevents: a command of another program is answered with nothing but a list of commands.
TEST(CommandLine, WordsOfOtherProgramsNameTheRightCommand) {
  const struct {
    std::vector<std::string> words;
    const char* hint;
  } cases[] = {
      {{"list"}, "hint: `muster ps` lists active runs, `muster ls` all runs\n"},
      {{"status", "x"}, "hint: `muster ps` lists active runs, `muster report RUN`"},
      {{"kill", "x"}, "hint: `muster stop RUN` stops a run"},
      {{"launch"}, "hint: `muster run RECIPE`"},
  };
  for (const auto& test : cases) {
    const CommandResult result = Muster(test.words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(test.hint), std::string::npos) << result.err;
  }
}

// Prevents: a parameter written like an option is answered with nothing but a list of options.
TEST(CommandLine, ParametersWrittenLikeOptionsAreShownAsParameters) {
  const struct {
    std::vector<std::string> words;
    const char* hint;
  } cases[] = {
      {{"run", "recipes/hello.lua", "--greetings", "3"},
       "hint: a parameter of the recipe is written without dashes: greetings=3\n"},
      {{"plan", "recipes/hello.lua", "--batch-size=a b"}, "without dashes: 'batch_size=a b'\n"},
      {{"check", "recipes/hello.lua", "--workers", "--json"}, "without dashes: workers=VALUE\n"},
      {{"sweep", "recipes/hello.lua", "--learning-rate", "0.1"}, "without dashes: learning_rate=0.1\n"},
      {{"plan", "recipes/hello.lua", "--jsn"}, "hint: did you mean \"--json\"?\n"},
  };
  for (const auto& test : cases) {
    const CommandResult result = Muster(test.words);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_NE(result.err.find(test.hint), std::string::npos) << result.err;
  }
  EXPECT_EQ(Muster({"stop", "--workers", "3"}).err.find("without dashes"), std::string::npos);
}

// Prevents: `check` reports success for a recipe whose program is not installed on this machine.
TEST(CommandLine, CheckWarnsOfProgramsThatAreNotOnPath) {
  const OneRecipe recipe("job:workers { count = 2, command = { 'no-such-program-anywhere' } }");
  const CommandResult result = Muster({"check", recipe.path()});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(
      result.err,
      "muster: warning: role worker: the program \"no-such-program-anywhere\" is not on PATH on this machine\n"
      "hint: install it, give its path, or have PATH set with job:activate; for other hosts: muster doctor --host\n");
  EXPECT_EQ(Muster({"check", recipe.path(), "--host", "n1"}).err, "");
  const OneRecipe found("job:workers { count = 1, command = { 'sh' } } job:role 'other' { command = { '/bin/sh' } }");
  EXPECT_EQ(Muster({"check", found.path()}).err, "");
}

TEST(CommandLine, TyposAreUsageErrorsWithAHint) {
  const struct {
    std::vector<std::string> words;
    const char* said;
  } cases[] = {
      {{"chek"}, "did you mean \"check\"?"},
      {{"pln", "recipes/hello.lua"}, "did you mean \"plan\"?"},
      {{"xyzzy"}, "known: init, params, check, plan"},
      {{""}, "there is no command \"\""},
      {{"--jsn"}, "there is no command \"--jsn\""},
      {{"plan"}, "no recipe is given"},
      {{"check"}, "no recipe is given"},
      {{"params"}, "missing argument RECIPE"},
      {{"plan", "recipes/hello.lua", "--jsn"}, "did you mean \"--json\"?"},
      {{"plan", "recipes/hello.lua", "-j"}, "-j"},
      {{"plan", "recipes/hello.lua", "--full", "--id"}, "excludes"},
      {{"plan", "recipes/hello.lua", "--unset"}, "--unset"},
      {{"plan", "recipes/hello.lua", "greeting=3"}, "did you mean \"greetings\"?"},
      {{"plan", "recipes/hello.lua", "--unset", "nam"}, "did you mean \"name\"?"},
      {{"plan", "recipes/helo.lua"}, "did you mean \"recipes/hello.lua\"?"},
      {{"plan", "recipes"}, "it is a directory"},
      {{"plan", "recipes/hello.lua", "8"}, "there is no '='"},
      {{"plan", "recipes/hello.lua", "--wrap", "worker"}, "there is no '='"},
      {{"plan", "recipes/hello.lua", "--wrap", "worker:x=gdb"}, "\"x\" is not a number of a process"},
      {{"plan", "recipes/hello.lua", "--wrap", "worker='gdb"}, "is not closed"},
      {{"plan", "recipes/hello.lua", "--wrap", "worker="}, "no words to put before"},
      {{"plan", "recipes/hello.lua", "--wrap", "worke=gdb"}, "did you mean \"worker\"?"},
      {{"plan", "recipes/hello.lua", "--wrap", "worker:2=gdb"}, "the last one is worker.1"},
      {{"plan", "recipes/hello.lua", "--", "word"}, "takes no words after --"},
  };
  for (const auto& test : cases) {
    const CommandResult result = Muster(test.words);
    EXPECT_EQ(result.exit_code, 2) << test.said;
    EXPECT_EQ(result.out, "") << test.said;
    EXPECT_NE(result.err.find(test.said), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("error: "), std::string::npos) << result.err;
  }
}

TEST(CommandLine, CheckSummarisesThePlan) {
  const CommandResult one = Muster({"check", "recipes/hello.lua", "greetings=1"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(one.out, "recipes/hello.lua: ok, 1 process on 1 host\n");
  EXPECT_EQ(one.err, "");
  EXPECT_EQ(Muster({"check", "recipes/pipeline.lua", "hosts=4"}).out,
            "recipes/pipeline.lua: ok, 33 processes on 4 hosts\n");
}

TEST(CommandLine, PlanPrintsTextOrOnlyItsId) {
  const CommandResult id = Muster({"plan", "recipes/hello.lua", "--id"});
  EXPECT_EQ(id.out.size(), 65U);
  EXPECT_EQ(id.out.find_first_not_of("0123456789abcdef\n"), std::string::npos);
  EXPECT_EQ(Muster({"plan", "recipes/hello.lua", "--id"}).out, id.out);
  EXPECT_NE(Muster({"plan", "recipes/hello.lua", "greetings=3", "--id"}).out, id.out);
  EXPECT_TRUE(Muster({"plan", "recipes/hello.lua"}).out.starts_with("plan name hello\n"));
}

TEST(CommandLine, AWrapIsPartOfThePlanAndItsId) {
  const CommandResult plain = Muster({"plan", "recipes/hello.lua"});
  const CommandResult wrapped = Muster({"plan", "recipes/hello.lua", "--wrap", "worker:1=gdb --args 'a b'"});
  EXPECT_EQ(wrapped.exit_code, 0) << wrapped.err;
  EXPECT_NE(wrapped.out.find("process worker.1 command \"gdb\" \"--args\" \"a b\" \"echo\""), std::string::npos)
      << wrapped.out;
  EXPECT_NE(wrapped.out.find("process worker.0 command \"echo\""), std::string::npos) << wrapped.out;
  EXPECT_NE(wrapped.out, plain.out);
  // Equals the same wrap in the recipe.
  const OneRecipe by_recipe("job:workers { count = 2, wrap = { 'nice', '-n', 3 }, command = { 'x', 'y' } }");
  const OneRecipe without("job:workers { count = 2, command = { 'x', 'y' } }");
  EXPECT_EQ(Muster({"plan", by_recipe.path(), "--id"}).out,
            Muster({"plan", without.path(), "--id", "--wrap", "worker=nice -n 3"}).out);
}

TEST(CommandLine, WarningsGoToStandardError) {
  const OneRecipe recipe("job:workers { count = p.n, command = { 'x' } }",
                         "params = { n = muster.int { 1, was = 'old' } },");
  const CommandResult result = Muster({"plan", recipe.path(), "old=2"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.err.find("warning: parameter old is now called n"), std::string::npos);
  EXPECT_EQ(result.out.find("warning"), std::string::npos);
}

TEST(CommandLine, OutputOfARecipeIsEscapedAndGoesToStandardError) {
  const OneRecipe recipe("print('\\27[2Jhello', 'a\\nb') job:workers { count = 1, command = { 'x' } }");
  const CommandResult result = Muster({"plan", recipe.path(), "--id"});
  EXPECT_EQ(result.err, "\\x1b[2Jhello\ta\\nb\n");
  EXPECT_EQ(result.out.size(), 65U);
}

TEST(CommandLine, PlacesShowTheSourceLine) {
  const OneRecipe recipe("  job:check(false, 'wrong')  -- here");
  const CommandResult result = Muster({"check", recipe.path()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(
      result.err.starts_with(recipe.path() + ":4: error: wrong\n    4 |   job:check(false, 'wrong')  -- here\n"))
      << result.err;
}

TEST(CommandLine, HasNoColourWithoutATerminal) {
  EXPECT_EQ(Muster({"check", "recipes/pipeline.lua", "pipeline_stages=3"}).err.find('\x1b'), std::string::npos);
}

TEST(CommandLine, OutputThatCannotBeWrittenIsAFailure) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"plan", "recipes/hello.lua"},
                                                {"plan", "recipes/pipeline.lua", "hosts=16", "--json"},
                                                {"params", "recipes/hello.lua"},
                                                {"check", "recipes/hello.lua"},
                                                {"--help"}}) {
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.cwd = MUSTER_SOURCE_DIR;
    command.stdout_path = "/dev/full";
    const CommandResult result = RunCommand(command);
    EXPECT_EQ(result.exit_code, 3) << words.front();
    EXPECT_NE(result.err.find("cannot be written"), std::string::npos) << result.err;
  }
}

TEST(CommandLine, ExitsQuietlyWhenItsReaderCloses) {
  Command command;
  command.argv = {"/bin/sh", "-c", "exec 3>&1; { \"$0\" plan recipes/pipeline.lua hosts=64; echo $? >&3; } | true",
                  MusterProgram()};
  command.cwd = MUSTER_SOURCE_DIR;
  const CommandResult result = RunCommand(command);
  EXPECT_EQ(result.out, "141\n") << "ended by SIGPIPE, as others do";
  EXPECT_EQ(result.err, "");
}

TEST(CommandLine, TheHiddenEvaluatorIsNoCommand) {
  const CommandResult help = Muster({"--help"});
  EXPECT_EQ(help.out.find("evaluator"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
