// Tests that one evaluation reports every problem once, in the order of the file.
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "support/places.h"

namespace muster::testing {
namespace {

TEST(Mistakes, AreAllReportedInOneRun) {
  EXPECT_EQ(
      ProblemsOf("job:check(false, 'first')\n"
                 "context.set_context { no_such_attribute = 1 }\n"
                 "job:workers { count = -1, command = { 'x', true } }\n"
                 "job:env { A = true }\n"
                 "job:port('a', { number = 1 })\n"
                 "job:port('a', { number = 2 })",
                 "mindspore = '1.6',"),
      (Lines{"recipe.lua:4 error check: first",
             "recipe.lua:5 error unknown_key: set_context has no attribute \"no_such_attribute\" in MindSpore 1.6.2",
             "recipe.lua:6 error range: count of role worker must be a whole number from 0 to 1000000, got -1",
             "recipe.lua:6 error command: word 2 of the command of worker is true",
             "recipe.lua:7 error variable: job:env: A must be a string or a number, got true",
             "recipe.lua:9 error conflict: port a has two numbers"}));
}

// The full messages are in tests/golden/error.ten_mistakes.err.
TEST(Mistakes, OfTenKindsAreAllReportedAtTheirLines) {
  std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/tests/golden/error.ten_mistakes.lua");
  const Evaluated evaluated = Evaluate({std::string(std::istreambuf_iterator<char>(file), {})});
  std::set<std::string> kinds;
  std::uint32_t line = 10;
  for (const Diagnostic& diagnostic : evaluated.answer.diagnostics) {
    EXPECT_EQ(diagnostic.severity, Severity::kError);
    EXPECT_EQ(diagnostic.place, (Place{"recipe.lua", line++})) << diagnostic.message;
    kinds.insert(diagnostic.kind);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"conflict", "enum", "format", "missing_subkey", "mode_conflict", "order",
                                          "range", "release", "type", "unknown_key"}));
  EXPECT_FALSE(evaluated.answer.plan);
}

TEST(Mistakes, OfTheRecipeItselfAreAllReported) {
  const Evaluated evaluated =
      Evaluate({"local muster = require 'muster'\nreturn muster.recipe { name = 7, doc = {}, framework = 1, mindspore "
                "= 1.6, params = 1, cluster = 2, limits = 3, plan = 4, extra = 5 }"});
  EXPECT_EQ(evaluated.answer.diagnostics.size(), 9U);
  for (const Diagnostic& diagnostic : evaluated.answer.diagnostics)
    EXPECT_EQ(diagnostic.place, (Place{"recipe.lua", 2})) << diagnostic.message;
}

TEST(Mistakes, InNamesAndTextsOfTheRecipeAreReported) {
  for (const char* name : {"''", "'a b'", "'../x'", "'-x'", "'.x'", "'a/b'", "('x'):rep(101)", "'ä'", "'a\\0'"}) {
    const Evaluated evaluated =
        Evaluate({std::string("local muster = require 'muster'\nreturn muster.recipe { name = ") + name +
                  ", plan = function() end }"});
    EXPECT_FALSE(evaluated.answer.diagnostics.empty()) << name;
    EXPECT_FALSE(evaluated.answer.plan);
  }
  EXPECT_EQ(ProblemsOf("job:workers { count = 1, command = { 'x' } }", "doc = 'a\\255',"),
            Lines{"recipe.lua:2 error text: doc is not valid UTF-8 without NUL: \"a\\xff\""});
  EXPECT_EQ(ProblemsOf("", "framework = 'nope',").size(), 1U);
}

TEST(Mistakes, DoNotHideWarnings) {
  const Evaluated evaluated = Evaluate(
      {Recipe("job:check(false, 'x')", "params = { new = muster.int { 1, was = 'old' } },"), {Text("old", "2")}});
  EXPECT_EQ(evaluated.problems(),
            (Lines{"warning renamed: parameter old is now called new", "recipe.lua:4 error check: x",
                   "recipe.lua:2 error roles: the plan describes no process"}));
}

TEST(Mistakes, OfAFileWithoutARecipeAreOneLine) {
  for (const char* text : {"", "return", "return nil", "return {}", "return 7", "return function() end",
                           "local muster = require 'muster' return muster", "-- nothing",
                           "local muster = require 'muster' return muster.int { 1 }",
                           "local muster = require 'muster' muster.recipe { name = 'x', plan = function() end }"}) {
    EXPECT_EQ(Evaluate({text}).problems(), Lines{"recipe.lua error no_recipe: the file returns no recipe"}) << text;
  }
}

TEST(Mistakes, OfOverridesNameTheNearestParameter) {
  const Evaluated evaluated =
      Evaluate({Recipe("job:workers { count = 1, command = { 'x' } }", "params = { workers = muster.int { 1 } },"),
                {Text("worker", "1"), Text("host", "2"), Text("zzz", "3")}});
  ASSERT_EQ(evaluated.answer.diagnostics.size(), 3U);
  EXPECT_EQ(evaluated.answer.diagnostics[0].hint, "did you mean \"workers\"?");
  EXPECT_EQ(evaluated.answer.diagnostics[1].hint, "did you mean \"hosts\"?");
  EXPECT_EQ(evaluated.answer.diagnostics[2].hint, "known: workers, hosts, devices_per_host");
}

}  // namespace
}  // namespace muster::testing
