// Tests the language of recipes: repeated computations agree, and mistakes are reported where they occur.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

std::string Printed(const std::string& text) {
  const Evaluated evaluated =
      Evaluate({text + "\nlocal muster = require 'muster'\nreturn muster.recipe { name = 't', plan = function(p, job) "
                       "job:workers { count = 1, command = { 'x' } } end }"});
  EXPECT_EQ(evaluated.problems(), Lines{}) << text;
  std::string joined;
  for (const std::string& line : evaluated.printed) joined += line + "|";
  return joined;
}

TEST(Pairs, VisitsNumbersThenStringsThenBooleansInOrder) {
  EXPECT_EQ(Printed("for k, v in pairs { b = 1, a = 2, [3] = 3, [true] = 4, [-1.5] = 5, [false] = 6, B = 7, [''] = 8 } "
                    "do print(k, v) end"),
            "-1.5\t5|3\t3|\t8|B\t7|a\t2|b\t1|false\t6|true\t4|");
}

TEST(Pairs, AllowsRemovalDuringIterationAndSkipsRemovedKeys) {
  EXPECT_EQ(Printed("local t = { a = 1, b = 2, c = 3 } for k in pairs(t) do print(k) t.b = nil end"), "a|c|");
  EXPECT_EQ(Printed("local t = { 1, 2, 3, x = 4 } for k in pairs(t) do t[k] = nil end print(next(t))"), "nil|");
}

TEST(Pairs, CallsNoMetamethodForRemovedKeys) {
  EXPECT_EQ(Printed("local t = setmetatable({ a = 1, b = 2 }, { __index = function() return 9 end }) "
                    "for k, v in pairs(t) do print(k, v) t.b = nil end"),
            "a\t1|");
}

TEST(Next, ReturnsFalseValuesAndAllowsRemoval) {
  EXPECT_EQ(Printed("print(next { a = false }) print(next({ a = false, b = false }, 'a')) print(next {})"),
            "a\tfalse|b\tfalse|nil|");
  EXPECT_EQ(
      Printed(
          "local t, n = { 1, 2, a = 3, [true] = 4 }, 0 for k in next, t do t[k] = nil n = n + 1 end print(n, next(t))"),
      "4\tnil|");
}

TEST(Pairs, RefusesKeysWithoutAnOrder) {
  EXPECT_EQ(ProblemsOf("for k in pairs { [{}] = 1 } do end"),
            Lines{"recipe.lua:4 error order: a table with a table as key cannot be walked in a fixed order"});
}

TEST(Pairs, NamesAnArgumentThatIsNoTable) {
  EXPECT_EQ(ProblemsOf("for k in pairs(nil) do end"),
            Lines{"recipe.lua:4 error lua: bad argument #1 to 'pairs' (table expected, got nil)"});
  EXPECT_EQ(ProblemsOf("local x = next('a')"),
            Lines{"recipe.lua:4 error lua: bad argument #1 to 'next' (table expected, got string)"});
}

TEST(Numbers, AreWrittenExactly) {
  EXPECT_EQ(Printed("print(0.1, 0.1 + 0.2, 1e15, 2 ^ 53, 1e300, -0.0, 1 / 3)"),
            "0.1\t0.30000000000000004\t1000000000000000\t9007199254740992\t1e+300\t0\t0.3333333333333333|");
  EXPECT_EQ(Printed("print(('%s %s %d %5s|'):format(0.1 + 0.2, 1e15, 3, 7))"),
            "0.30000000000000004 1000000000000000 3     7||");
  EXPECT_EQ(Printed("print(tostring(1 / 0), tostring(-1 / 0), tostring(0 / 0):gsub('-', '') == 'nan')"),
            "inf\t-inf\ttrue|");
}

TEST(Texts, NeverContainAnAddress) {
  EXPECT_EQ(Printed("print(tostring({}), tostring(print), tostring(coroutine.create(print)))"),
            "table\tfunction\tthread|");
  EXPECT_EQ(Printed("print(('%s %s %s %s %-6s|'):format({}, print, nil, true, false))"),
            "table function nil true false ||");
  EXPECT_EQ(Printed("print(('%s'):format(setmetatable({}, { __tostring = function() return 'mine' end })))"), "mine|");
  EXPECT_EQ(ProblemsOf("print(('%p'):format({}))"),
            Lines{"recipe.lua:4 error lua: string.format does not offer %p: addresses differ from run to run"});
  EXPECT_EQ(ProblemsOf("print(('%s'):format(setmetatable({}, { __tostring = function() return {} end })))"),
            Lines{"recipe.lua:4 error lua: __tostring gave a table"});
}

TEST(Texts, KeepTheirNamesInMessages) {
  EXPECT_EQ(ProblemsOf("local s = ('x'):find(nil)"),
            Lines{"recipe.lua:4 error lua: bad argument #2 to 'find' (string expected, got nil)"});
  EXPECT_EQ(ProblemsOf("local s = string.gsub('x')"),
            Lines{"recipe.lua:4 error lua: bad argument #2 to 'gsub' (string expected, got no value)"});
  EXPECT_EQ(ProblemsOf("local s = string.format('%d', 'x')"),
            Lines{"recipe.lua:4 error lua: bad argument #2 to 'format' (number expected, got string)"});
}

TEST(Globals, AreStrict) {
  EXPECT_EQ(ProblemsOf("local x = wrokers"), Lines{"recipe.lua:4 error undefined: wrokers is not defined"});
  EXPECT_EQ(ProblemsOf("x = 1"), Lines{"recipe.lua:4 error global: x is assigned but not local"});
  for (const char* name : {"io", "os", "debug", "package", "jit", "ffi", "bit", "load", "loadstring", "loadfile",
                           "dofile", "collectgarbage", "getfenv", "setfenv", "newproxy", "module", "gcinfo"}) {
    EXPECT_EQ(ProblemsOf(std::string("local x = ") + name),
              Lines{std::string("recipe.lua:4 error undefined: ") + name + " is not available in a recipe"});
  }
}

TEST(Modules, AreFilesBesideTheRecipe) {
  const Outside outside{{{"lib/a.lua", "print('once') return { one = 1 }"},
                         {"b.lua", "local a = require 'lib.a' return a.one + 1"},
                         {"c-d.lua", ""}},
                        {}};
  const Evaluated evaluated =
      Evaluate({Recipe("print(require('lib.a').one, require 'b', require('c-d'), require 'lib/a' ~= nil)\n"
                       "job:workers { count = 1, command = { 'x' } }"),
                {},
                {},
                outside});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.printed.back(), "1\t2\ttrue\ttrue");
  EXPECT_EQ(evaluated.asked, (Lines{"file lib/a.lua", "file b.lua", "file c-d.lua"})) << "lib/a is lib.a";
}

TEST(Modules, AreRequiredByNameOnly) {
  for (const char* name :
       {"/etc/passwd", "../x", "a/../../x", "lib/..", ".hidden", "~/x", "", "a b", "a\\0b", "a\\nb", "http://x"}) {
    const Evaluated evaluated = Evaluate({Recipe(std::string("require \"") + name + "\"")});
    ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U) << name;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, "require") << name;
    EXPECT_EQ(evaluated.asked, Lines{}) << name;
  }
  EXPECT_EQ(ProblemsOf("require(7)"),
            Lines{"recipe.lua:4 error require: require expects the name of a module beside the recipe, got 7"});
  EXPECT_EQ(ProblemsOf("require 'lib.x'"),
            Lines{"recipe.lua:4 error require: module \"lib.x\" cannot be read: there is none"});
}

TEST(Modules, CannotRequireThemselves) {
  const Outside outside{{{"a.lua", "return require 'b'"}, {"b.lua", "local x = 1\nlocal a = require 'a'\nreturn a"}},
                        {}};
  EXPECT_EQ(Evaluate({"require 'a'", {}, {}, outside}).problems(),
            Lines{"b.lua:2 error require: module \"a\" requires itself, or could not be loaded before"});
}

TEST(Modules, MustBeTextAndReportTheirOwnErrors) {
  EXPECT_EQ(Evaluate({"require 'a'", {}, {}, {{{"a.lua", "\x1bLJ\x02"}}, {}}}).answer.diagnostics.at(0).kind, "syntax");
  EXPECT_EQ(Evaluate({"require 'a'", {}, {}, {{{"a.lua", "local x =\n\n= 2"}}, {}}}).problems(),
            Lines{"a.lua:3 error syntax: unexpected symbol near '='"});
  EXPECT_EQ(Evaluate({"\nrequire 'a'", {}, {}, {{{"a.lua", "\nlocal x = nil .. 'a'"}}, {}}}).problems(),
            Lines{"a.lua:2 error lua: attempt to concatenate a nil value"});
}

TEST(Prints, GoToTheCallerAsOneLine) {
  const Evaluated evaluated = Evaluate({"print('a', nil, 1.5, {}, 'b\\nc') print() print(('x'):rep(100000))"});
  ASSERT_EQ(evaluated.printed.size(), 3U);
  EXPECT_EQ(evaluated.printed[0], "a\tnil\t1.5\ttable\tb\nc");
  EXPECT_EQ(evaluated.printed[1], "");
  EXPECT_EQ(evaluated.printed[2].size(), 64U << 10);
}

TEST(Errors, KeepTheirPlaceInFilesWithLongNames) {
  EvaluationRequest request;
  request.recipe_file = "/home/somebody/projects/with/a/rather/long/path/to/the/recipes/of/the/team/recipe.lua";
  request.recipe_text = "local x = 1\nlocal y = x.a.b";
  const auto nothing = [](const Question&) { return Reply{}; };
  EvaluationAnswer answer = muster::Engine(nothing, {}, nullptr).Evaluate(request);
  ASSERT_EQ(answer.diagnostics.size(), 1U);
  EXPECT_EQ(answer.diagnostics[0].place, (Place{request.recipe_file, 2}));
  request.recipe_text = "local x = 1\nlocal y = = 2";
  answer = muster::Engine(nothing, {}, nullptr).Evaluate(request);
  ASSERT_EQ(answer.diagnostics.size(), 1U);
  EXPECT_EQ(answer.diagnostics[0].place, (Place{request.recipe_file, 2}));
}

TEST(Errors, AreNotAttributedToAFileMentionedInTheMessage) {
  EXPECT_EQ(ProblemsOf("error('/etc/shadow:1: look here', 0)"),
            Lines{"recipe.lua:4 error lua: /etc/shadow:1: look here"});
  EXPECT_EQ(ProblemsOf("error('muster/job.lua:1: look here', 0)").size(), 1U);
}

TEST(Errors, OfEveryTypeAreReported) {
  EXPECT_EQ(ProblemsOf("error({})"), Lines{"recipe.lua:4 error lua: the recipe threw a table as an error"});
  EXPECT_EQ(ProblemsOf("error()"), Lines{"recipe.lua:4 error lua: the recipe threw a nil as an error"});
  EXPECT_EQ(ProblemsOf("error(12)"), Lines{"recipe.lua:4 error lua: 12"});
  EXPECT_EQ(ProblemsOf("error(setmetatable({}, { __tostring = function() return 'mine' end }))"),
            Lines{"recipe.lua:4 error lua: mine"});
  EXPECT_EQ(ProblemsOf("error(setmetatable({}, { __tostring = function() error('worse') end }))").size(), 1U);
}

TEST(Errors, AreShortenedBetweenCharacters) {
  const Evaluated evaluated = Evaluate({Recipe("error(('ä'):rep(1e6), 0)")});
  ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U);
  EXPECT_EQ(evaluated.answer.diagnostics[0].message.size(), 2000U + std::string(" …").size());
}

TEST(Errors, ShowTheCallsThatLedThere) {
  const Evaluated evaluated =
      Evaluate({"local function a()\n  error('deep')\nend\nlocal function b()\n  a()\n  return 1\nend\nb()\nreturn 1"});
  ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U);
  const Diagnostic& diagnostic = evaluated.answer.diagnostics[0];
  EXPECT_EQ(diagnostic.place.line, 2U);
  EXPECT_EQ(diagnostic.notes,
            (std::vector<Note>{{"called here", {"recipe.lua", 5}}, {"called here", {"recipe.lua", 8}}}));
}

TEST(Errors, ThroughCoroutinesAreReportedOnce) {
  EXPECT_EQ(ProblemsOf("coroutine.wrap(function()\n coroutine.wrap(function()\n  error('inside') end)() end)()"),
            Lines{"recipe.lua:6 error lua: inside"});
}

TEST(Errors, InATailCallHaveALine) {
  const std::string tail =
      "local muster = require 'muster'\n\nreturn muster.recipe { name = 't', plan = function(p, job)\n"
      "  return job:workers { count = 'x', command = { 'y' } }\nend }";
  EXPECT_EQ(
      Evaluate({tail}).problems(),
      Lines{"recipe.lua:3 error range: count of role worker must be a whole number from 0 to 1000000, got \"x\""});
  EXPECT_EQ(Evaluate({"local muster = require 'muster'\n\nreturn muster.recipe {}"}).problems(),
            (Lines{"recipe.lua:3 error missing: the recipe has no name",
                   "recipe.lua:3 error missing: the recipe has no plan"}));
}

}  // namespace
}  // namespace muster::testing
