// Tests commands: lists of words, shells, files beside the recipe.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

Lines CommandFrom(const std::string& command) {
  return CommandOf(PlanOf("job:workers { count = 1, command = " + command + " }"), "worker.0");
}
Lines ProblemsFrom(const std::string& command) {
  return ProblemsOf("job:workers { count = 1, command = " + command + " }");
}

TEST(Commands, FlattenListsAndSkipFalse) {
  EXPECT_EQ(CommandFrom("{ 'x', { '--a', { 1, 2.5 } }, {}, false, 'a b', '' }"),
            (Lines{"x", "--a", "1", "2.5", "a b", ""}));
  EXPECT_EQ(CommandFrom("{ 'x', 1e15, 2 ^ 53, 0.1 + 0.2, -0.0 }"),
            (Lines{"x", "1000000000000000", "9007199254740992", "0.30000000000000004", "0"}));
}

TEST(Commands, OfAShellAreOneString) {
  EXPECT_EQ(CommandFrom("muster.shell 'a | b > \"$HOME\"'"), (Lines{"/bin/sh", "-c", "a | b > \"$HOME\""}));
}

TEST(Commands, AreWrappedAfterEachHasSetThem) {
  const Plan plan = PlanOf(
      "job:workers { count = 2, wrap = { 'strace', { '-n', 3 }, false }, command = { 'x' }, each = function(process) "
      "if process.rank == 1 then process.command = muster.shell 'a b' end end }");
  EXPECT_EQ(CommandOf(plan, "worker.0"), (Lines{"strace", "-n", "3", "x"}));
  EXPECT_EQ(CommandOf(plan, "worker.1"), (Lines{"strace", "-n", "3", "/bin/sh", "-c", "a b"}));
}

TEST(Commands, AreWrappedByWordsOnly) {
  const auto problems = [](const std::string& wrap) {
    return ProblemsOf("job:workers { count = 1, command = { 'x' }, wrap = " + wrap + " }");
  };
  EXPECT_EQ(
      problems("'gdb'"),
      Lines{"recipe.lua:4 error command: the command of the wrap of worker must be a list of words, got \"gdb\""});
  EXPECT_EQ(problems("{}"), Lines{"recipe.lua:4 error command: the command of the wrap of worker is empty"});
  EXPECT_EQ(problems("muster.shell 'gdb'"), Lines{"recipe.lua:4 error command: wrap of role worker is muster.shell"});
}

TEST(Commands, WithMistakesAreReportedWordByWord) {
  EXPECT_EQ(ProblemsFrom("'x y'"),
            Lines{"recipe.lua:4 error command: the command of worker must be a list of words, got \"x y\""});
  EXPECT_EQ(ProblemsFrom("{}"), Lines{"recipe.lua:4 error command: the command of worker is empty"});
  EXPECT_EQ(ProblemsFrom("{ false }"), Lines{"recipe.lua:4 error command: the command of worker is empty"});
  EXPECT_EQ(ProblemsFrom("{ 'x', nil, 'y' }"),
            Lines{"recipe.lua:4 error command: the command of worker: word 2 is nil"});
  EXPECT_EQ(ProblemsFrom("{ 'x', true }"),
            Lines{"recipe.lua:4 error command: word 2 of the command of worker is true"});
  EXPECT_EQ(ProblemsFrom("{ 'x', print, { {}, print } }"),
            (Lines{"recipe.lua:4 error command: word 2 of the command of worker is a function"}));
  EXPECT_EQ(ProblemsFrom("{ 'x', muster.null }"),
            Lines{"recipe.lua:4 error command: word 2 of the command of worker is null"});
  EXPECT_EQ(ProblemsFrom("{ 'x', name = 'y' }"),
            Lines{"recipe.lua:4 error command: the command of worker has a key \"name\"; a command is a list"});
  EXPECT_EQ(ProblemsFrom("{ 'x', [1e15] = 'y' }"),
            Lines{"recipe.lua:4 error command: the command of worker: word 2 is nil"});
  EXPECT_EQ(ProblemsFrom("{ 'x', [math.huge] = 'y' }"),
            Lines{"recipe.lua:4 error command: the command of worker: word 2 is nil"});
  EXPECT_EQ(ProblemsFrom("{ 'x', [0] = 'y' }"),
            (Lines{"recipe.lua:4 error command: the command of worker: word 1 is nil",
                   "recipe.lua:4 error command: the command of worker is empty"}));
  EXPECT_EQ(ProblemsFrom("{ 'x', muster.shell 'y' }"),
            Lines{"recipe.lua:4 error command: word 2 of the command of worker is muster.shell"});
  EXPECT_EQ(ProblemsFrom("{ 'x', '\\255' }"),
            Lines{"recipe.lua:4 error text: the command of worker is not valid UTF-8 without NUL: \"\\xff\""});
  EXPECT_EQ(ProblemsFrom("{ 'x', 'a\\0b' }").size(), 1U);
}

TEST(Commands, MayNotContainThemselves) {
  EXPECT_EQ(ProblemsOf("local c = { 'x' } c[2] = c job:workers { count = 1, command = c }"),
            Lines{"recipe.lua:4 error command: the command of worker has lists nested too deeply, or a list that "
                  "contains itself"});
}

TEST(Commands, AreUnaffectedByLaterChangesOfTheirTables) {
  EXPECT_EQ(CommandOf(PlanOf("local c = { 'x' } job:workers { count = 1, command = c } c[1] = 'y'"), "worker.0"),
            Lines{"x"});
}

TEST(Shell, RequiresAString) {
  EXPECT_EQ(ProblemsOf("muster.shell { 'x' }"),
            Lines{"recipe.lua:4 error type: muster.shell expects the text of a shell command, got {\"x\"}"});
}

TEST(Here, NamesFilesBesideTheRecipe) {
  const Evaluated evaluated = Evaluate({Recipe("job:workers { count = 1, command = { 'x', muster.here 'train.py' } }"),
                                        {},
                                        {},
                                        {{{"train.py", ""}}, {}}});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(CommandOf(evaluated.plan(), "worker.0"), (Lines{"x", "/recipes/train.py"}));
  EXPECT_EQ(evaluated.asked, Lines{"exists train.py"});
  EXPECT_EQ(ProblemsOf("muster.here 'nope.py'"),
            Lines{"recipe.lua:4 error missing_path: muster.here: nope.py is not beside the recipe: there is none"});
  for (const char* bad : {"", "nil", "7", "{}", "''", "'a\\0b'"}) {
    EXPECT_EQ(ProblemsOf(std::string("muster.here(") + bad + ")"),
              Lines{"recipe.lua:4 error type: muster.here expects the name of a file beside the recipe"})
        << bad;
  }
}

TEST(Placeholders, AreStringsThatCanBeJoinedButNotCut) {
  const Plan plan = PlanOf(
      "local port = job:port 'rpc' job:workers { count = 1, command = { 'x', 'tcp://h:' .. port, "
      "('%s/out'):format(job.run_dir) } }");
  EXPECT_EQ(CommandOf(plan, "worker.0"), (Lines{"x", "tcp://h:${muster:port:rpc}", "${muster:run_dir}/out"}));
  EXPECT_EQ(plan.ports.at("rpc"), (PlanPort{0, 0, ""}));
  for (const char* word : {"'${muster:'", "'${muster:port:'", "'${muster:port}'", "'${muster:nothing:x}'",
                           "job:port('rpc'):sub(1, 12)", "'${muster:host_name:x}'"}) {
    const Lines problems = ProblemsFrom(std::string("{ 'x', ") + word + " }");
    ASSERT_EQ(problems.size(), 1U) << word;
    EXPECT_TRUE(problems[0].starts_with("recipe.lua:4 error hole: ")) << problems[0];
  }
}

}  // namespace
}  // namespace muster::testing
