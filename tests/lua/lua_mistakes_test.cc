// Tests that what users of other languages write is answered with what Lua writes.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

struct ForeignText {
  const char* text;  // of the whole file, or its lines behind local muster = require "muster"
  std::uint32_t line;
  const char* message;
  const char* hint;
};

constexpr const char* kRequire = "local muster = require 'muster'\n";

// The first error of the file that these lines end, without line 1.
void ExpectFirst(const ForeignText& test) {
  const Evaluated evaluated = Evaluate({std::string(kRequire) + test.text});
  ASSERT_FALSE(evaluated.answer.diagnostics.empty()) << test.text;
  const Diagnostic& first = evaluated.answer.diagnostics.front();
  EXPECT_EQ(first.message, test.message) << test.text;
  EXPECT_EQ(first.hint, test.hint) << test.text;
  EXPECT_EQ(first.place.line, test.line) << test.text;
}

constexpr const char* kOwnEnd = "each function, if, for, while and do has its own end";
constexpr const char* kNotEqual = "\"not equal\" is written ~=";
constexpr const char* kComments = "comments begin with --";
constexpr const char* kUseLocal = "Lua declares names with local";
constexpr const char* kJoined =
    "texts are joined with .., and filled by (\"%d of %s\"):format(NUMBER, TEXT); tonumber(TEXT) makes a number of a "
    "text";
constexpr const char* kBlocks = "function f(x) … end, else … end";
constexpr const char* kFunctions = "functions are written: function(x) return … end";
constexpr const char* kNoTypes = "Lua declares names with local, without types";
constexpr const char* kIsLua =
    "a recipe ends with: return muster.recipe { … }; JSON is read by muster.read_json, YAML by muster.read_yaml";
constexpr const char* kLoops = "for … do … end, while CONDITION do … end";

// Prevents: the parser's message, in which what is missing is not named.
TEST(LuaMistakes, OfSyntaxAreTranslated) {
  const ForeignText cases[] = {
      {"return muster.recipe {\n  name = 'a'\n  framework = 'none' }", 4, "a comma is missing before \"framework\"",
       ""},
      {"x = { count = 1 command = {} }", 2, "a comma is missing before \"command\"", ""},
      {"local x = { 'echo' 'b' }", 2, "a comma is missing before 'b'", ""},
      {"local x = { 'echo' p.lr }", 2, "a comma is missing before \"p\"", ""},
      {"local x = math.min(1 2)", 2, "a comma is missing before \"2\"", ""},
      {"local x = f(function() end 2)", 2, "a comma is missing before \"2\"", ""},
      {"return muster.recipe { plan = function()\n  for i = 1, 3 do\n    x()\n  end }", 5,
       "an \"end\" is missing before \"}\": the function of line 2 is not closed", kOwnEnd},
      {"local x = f(function()\n  if a then b() )", 3,
       "an \"end\" is missing before \")\": the if of line 3 is not closed", kOwnEnd},
      {"local function f(x)\n  return x\nlocal y", 4,
       "an \"end\" is missing before \"local\": the function of line 2 is not closed", kOwnEnd},
      {"if a then\n  f()", 3, "an \"end\" is missing at the end of the file: the if of line 2 is not closed", kOwnEnd},
      {"if a then\n  f()\nelse if b then\n  f()\nend", 6,
       "an \"end\" is missing at the end of the file: the if of line 2 is not closed",
       "\"else if\" opens a block of its own; the next condition of the same if is elseif"},
      {"return muster.recipe {\n  plan = function() end", 3,
       "a \"}\" is missing at the end of the file: the \"{\" of line 2 is not closed", ""},
      {"if a then f() end end", 2, "there is one \"end\" too many: nothing is open here", ""},
      {"if a\n  f()\nend", 3, "\"then\" is missing before \"f\"", "if CONDITION then … end"},
      {"for i = 1, 3\n  local x\nend", 3, "\"do\" is missing before \"local\"", kLoops},
      {"if a:\n  f()\nend", 2, "a block begins with \"then\", not with \":\"", "if CONDITION then … end"},
      {"while true:\n  f()\nend", 2, "a block begins with \"do\", not with \":\"", kLoops},
      {"if x = 1 then f() end", 2, "\"=\" compares nothing", "\"equal\" is written =="},
      {"if x != 2 then f() end", 2, "\"!=\" is not Lua", kNotEqual},
      {"if x !== 2 then f() end", 2, "\"!==\" is not Lua", kNotEqual},
      {"if !x then f() end", 2, "\"!\" is not Lua", "a condition is negated by the word not"},
      {"if a && b then f() end", 2, "\"&&\" is not Lua", "conditions are joined by the word and"},
      {"if a || b then f() end", 2, "\"||\" is not Lua", "conditions are joined by the word or"},
      {"local x = a ? 1 : 2", 2, "\"?\" is not Lua", "a choice of two values is written CONDITION and A or B"},
      {"local i = 1\ni += 1", 3, "\"+=\" is not Lua", "write: i = i + …"},
      {"local i = 1\ni -= 1", 3, "\"-=\" is not Lua", "write: i = i - …"},
      {"local i = 1\ni++", 3, "\"++\" is not Lua", "write: i = i + 1"},
      {"# a comment", 2, "\"#\" begins no comment in Lua", kComments},
      {"return muster.recipe { name = 'a', # the name\n}", 2, "\"#\" begins no comment in Lua", kComments},
      {"// a comment", 2, "\"//\" begins no comment in Lua", kComments},
      {"/* a comment */", 2, "\"/*\" is not Lua", "comments begin with --, and long ones are written --[[ … ]]"},
      {"local x = 7 // 2", 2, "\"//\" is not Lua",
       "divisions without a rest are muster.exact_div(a, b), others math.floor(a / b)"},
      {"local x = 2 ** 3", 2, "\"**\" is not Lua", "powers are written a ^ b"},
      {"if x in { 1, 2 } then f() end", 2, "\"VALUE in LIST\" is not Lua",
       "compare each: x == a or x == b; or ask a table: ({ a = true, b = true })[x]"},
      {"return muster.recipe { name: 'a', framework: 'none' }", 2, "a field is written NAME = VALUE, not NAME: VALUE",
       ""},
      {"local x = { n: m, }", 2, "a field is written NAME = VALUE, not NAME: VALUE", ""},
      {"local x = { 'name' = 1 }", 2, "the name of a field is written without quotes",
       "NAME = VALUE, or [\"NAME\"] = VALUE"},
      {"local x = ['a', 'b']", 2, "a list begins with \"{\", not with \"[\"", "lists are written { \"a\", \"b\" }"},
      {"local x = 'a\n'", 2, "a text is not closed in its line",
       "close it with a second quote; texts of several lines are written [[ … ]]"},
      {"local x = 'a\\d'", 2, "a text has a backslash that Lua does not know",
       "a backslash is written \\\\, or the text between [[ and ]]"},
      {"local f = (x) => x", 2, "\"=>\" is not Lua", "functions are written: function(x) return … end"},
      {"import torch", 2, "\"import\" is not Lua", "modules are values: local NAME = require \"NAME\""},
      {"def f(x):\n  return x", 2, "\"def\" is not Lua", "functions are written: local function NAME(…) … end"},
      {"if a then\n  f()\nelif b then\n  f()\nend", 4, "\"elif\" is not Lua", "Lua writes elseif CONDITION then"},
      {"for i = 1, 3 do\n  if a then continue end\nend", 3, "\"continue\" is not Lua",
       "Lua has no continue: put the rest of the loop into if not CONDITION then … end"},
      {"var x = 1", 2, "\"var\" is not Lua", kUseLocal},
      {"let x = 1", 2, "\"let\" is not Lua", kUseLocal},
      {"torchrun train.py", 2,
       "a statement is an assignment or a call, and this is neither ('=' expected near 'train')", ""},
  };
  for (const ForeignText& test : cases) ExpectFirst(test);
}

// Further habits of Python, C, JavaScript, shells, YAML and JSON.
TEST(LuaMistakes, OfOtherSyntaxAreTranslated) {
  const ForeignText cases[] = {
      {"local f = function()\n  if a then f()\n  else if b then f()\n  end\nend", 6,
       "an \"end\" is missing at the end of the file: the function of line 2 is not closed",
       "\"else if\" opens a block of its own; the next condition of the same if is elseif"},
      {"local x = `a`", 2, "\"`\" is not Lua",
       "texts stand between quotes: \"…\", and texts of several lines between [[ and ]]"},
      {"local x = [[ a", 2, "a text that begins with [[ is not closed", "close it with ]]"},
      {"--[[ a comment", 2, "a comment that begins with --[[ is not closed", "close it with ]]"},
      {"function f(x):\n  return x\nend", 2, "a block begins without \":\"", kBlocks},
      {"if a then\n  f()\nelse:\n  g()\nend", 4, "a block begins without \":\"", kBlocks},
      {"local x = f(\"a\"， 2)", 2, "\"，\" is not Lua", "type the sign of the keyboard: ,"},
      {"local x = (\"a\", \"b\")", 2, "a list stands between \"{\" and \"}\"", "{ \"a\", \"b\" }"},
      {"f(count = 1)", 2, "fields stand between \"{\" and \"}\"", "NAME { FIELD = VALUE, … }"},
      {"if a <> 1 then f() end", 2, "\"<>\" is not Lua", kNotEqual},
      {"local x = \"a {}\".format(3)", 2, "a text before a method stands in parentheses",
       "(\"%d of %s\"):format(NUMBER, TEXT)"},
      {"for i = 1..3 do f() end", 2, "\"1..3\" is no number",
       "the numbers of a loop are written: for i = 1, 3 do … end; .. between blanks joins texts"},
      {"local x = 1_000", 2, "\"1_000\" is no number", "digits stand side by side: 1000000, or 1e6"},
      {"local x = 12h", 2, "\"12h\" is no number", "a number with a unit is a text: \"12h\", \"64GiB\""},
      {"local x = 64GiB", 2, "\"64GiB\" is no number", "a number with a unit is a text: \"12h\", \"64GiB\""},
      {"switch (a) {\n  case 1: f() }", 3, "\"case\" is not Lua", "Lua has no switch: if … then … elseif … then … end"},
      {"local f = lambda x: x\nf(1)", 2, "\"lambda\" is not Lua", kFunctions},
      {"local f = (x) => x", 2, "\"=>\" is not Lua", kFunctions},
      {"local f = x -> x", 2, "\"->\" is not Lua",
       "functions are written: function(x) return … end; fields and methods: x.field, x:method()"},
      {"x := 1", 2, "\":=\" is not Lua", "values are assigned with =, and new names declared with local"},
      {"local x = 1;;", 2, "there is one \";\" too many", ""},
      {"int x = 1", 2, "\"int\" is not Lua", kNoTypes},
      {"float x = 1", 2, "\"float\" is not Lua", kNoTypes},
      {"if a is nil then f() end", 2, "\"is\" is not Lua", "\"equal\" is written ==, \"has no value\" == nil"},
      {"if a then f() endif\nlocal x", 2, "\"endif\" is not Lua", kOwnEnd},
      {"for i = 1, 2 do f() done\nlocal x", 2, "\"done\" is not Lua", kOwnEnd},
      {"if (a) { f() }\nf()", 2, "a block begins with \"then\", not with \"{\"", "if CONDITION then … end"},
      {"while (a) { f() }\nf()", 2, "a block begins with \"do\", not with \"{\"", kLoops},
      {"local x = \"\"\"a text\"\"\"", 2, "\"\"\" is not Lua",
       "texts of several lines are written [[ … ]], and comments begin with --"},
      {"return muster.recipe {\n  plan = function() end\n  end }", 4,
       "there is one \"end\" too many: no block is open here", kOwnEnd},
      {"f(\"x\"\nf()", 3, "a \")\" is missing before \"f\": the \"(\" of line 2 is not closed", ""},
  };
  for (const ForeignText& test : cases) ExpectFirst(test);
}

// A file of another language under the name of a recipe.
TEST(LuaMistakes, OfFilesThatAreNoLua) {
  const ForeignText cases[] = {
      {"{ \"name\": \"t\" }\n", 1, "the file begins with \"{\": it is no recipe", kIsLua},
      {"[recipe]\nname = \"t\"\n", 1, "the file begins with \"[\": it is no recipe", kIsLua},
      {"name: t\nplan:\n  workers: 4\n", 2, "a field is written NAME = VALUE, not NAME: VALUE",
       "a recipe is Lua: return muster.recipe { … }; YAML is read by muster.read_yaml"},
      {"import torch\n", 1, "\"import\" is not Lua", "modules are values: local NAME = require \"NAME\""},
  };
  for (const ForeignText& test : cases) {
    const Evaluated evaluated = Evaluate({test.text});
    ASSERT_FALSE(evaluated.answer.diagnostics.empty()) << test.text;
    const Diagnostic& first = evaluated.answer.diagnostics.front();
    EXPECT_EQ(first.message, test.message) << test.text;
    EXPECT_EQ(first.hint, test.hint) << test.text;
    EXPECT_EQ(first.place.line, test.line) << test.text;
  }
}

// Prevents: a message that says what the interpreter could not do, and not what to write.
TEST(LuaMistakes, OfTheRunningRecipeHaveAHint) {
  const ForeignText cases[] = {
      {"local x = 'a' + 'b'", 2, "attempt to perform arithmetic on a string value", kJoined},
      {"local d = 'a'\nlocal x = d + 'b'", 3, "attempt to perform arithmetic on local 'd' (a string value)", kJoined},
      {"local t = {}\nlocal x = t.a + 1", 3, "attempt to perform arithmetic on field 'a' (a nil value)",
       "nil is the value of what was never set"},
      {"local x = 'a' .. nil", 2, "attempt to concatenate a nil value",
       "nil is the value of what was never set; tostring(VALUE) makes a text of any value"},
      {"local t = {}\nlocal x = 'a' .. t", 3, "attempt to concatenate local 't' (a table value)",
       "table.concat(LIST, \" \") joins the words of a list"},
      {"local x = '3' < 4", 2, "attempt to compare string with number",
       "tonumber(TEXT) makes a number of a text; muster.int and muster.float declare parameters of numbers"},
      {"local t = { 1, 2 }\nfor x in t do end", 3, "attempt to call a table value",
       "a list is walked by: for _, x in ipairs(LIST) do … end"},
      {"local x = {}\nx.append(3)", 3, "attempt to call field 'append' (a nil value)",
       "table.insert(LIST, VALUE) appends a value"},
      {"local x = {}\nx:insert(3)", 3, "attempt to call method 'insert' (a nil value)",
       "table.insert(LIST, VALUE) appends a value"},
      {"local x = { args = {} }\nx:args()", 3, "attempt to call method 'args' (a table value)",
       "a table is a value, not a function: write it with a dot and without ()"},
      {"return muster:recipe { name = 't' }", 2, "muster.recipe is called with a colon", "write muster.recipe { … }"},
      {"return muster.recipe { name = 'my job', plan = function() end }", 2,
       "name must consist of letters, digits, '_', '-' and '.', got \"my job\"", "name = \"my-job\""},
      {"return muster.recipe { name = 't', plan = { workers = 4 } }", 2, "plan must be a function, got {workers = 4}",
       "plan = function(p, job) … end"},
      {"return muster.recipe { name = 't', params = { n = muster.int { 1,000 } }, plan = function() end }", 2,
       "parameter n: its declaration has several values without a name",
       "the first is the default; a list as default: { { 1, 2 } }; a choice: one_of = { … }; the digits of a number "
       "stand "
       "side by side: 1000"},
      {"for i in 3 do end", 2, "attempt to call a number value",
       "a number of turns is written: for i = 1, COUNT do … end"},
  };
  for (const ForeignText& test : cases) ExpectFirst(test);
}

// Prevents: a word of Python is taken for a misspelt parameter.
TEST(LuaMistakes, InNamesOfOtherLanguagesAreNamed) {
  const ForeignText cases[] = {
      {"local x = True", 2, "True is not defined", "write: true"},
      {"local x = Muster.recipe", 2, "Muster is not defined", "write: local muster = require \"muster\""},
      {"try { f() }", 2, "try is not defined", "write: pcall(FUNCTION)"},
      {"raise('x')", 2, "raise is not defined", "write: error(\"…\"), or job:check(CONDITION, \"…\")"},
      {"local x = None", 2, "None is not defined", "write: nil"},
      {"local x = null", 2, "null is not defined", "write: nil"},
      {"local x = len('a')", 2, "len is not defined", "write: #LIST is the length of a list or a text"},
      {"for x in range(3) do end", 2, "range is not defined", "write: for i = 1, COUNT do … end"},
      {"local x = f'{a}'", 2, "f is not defined", "write: (\"%d of %s\"):format(NUMBER, TEXT)"},
      {"local x = “echo”", 2, "“echo” is not defined", "texts stand between straight quotes: \"…\""},
      {"local x = muster.text { 'a' }", 2, "there is no text in muster", "write: muster.string"},
      {"local x = muster.boolean { true }", 2, "there is no boolean in muster", "write: muster.bool"},
      {"return muster.recipe { name\xc2\xa0= 'a', plan = function() end }", 2,
       "a recipe has no option \"name\xc2\xa0\"",
       "it contains a blank that Lua does not accept, such as a no-break space: type it again"},
      {"local\xc2\xa0x = 1", 2, "local\xc2\xa0x is assigned but not local",
       "it contains a blank that Lua does not accept, such as a no-break space: type it again"},
      {"local x = math.random(3)", 2, "there is no random in math",
       "the plan must be the same everywhere: pass numbers of chance as parameters"},
  };
  for (const ForeignText& test : cases) ExpectFirst(test);
}

// What Lua says stays if the line shows no reason.
TEST(LuaMistakes, ThatAreNoneOfTheseKeepTheParsersMessage) {
  ExpectFirst({"local x = = 1", 2, "unexpected symbol near '='", ""});
  ExpectFirst({"local = 1", 2, "'<name>' expected near '='", ""});
  ExpectFirst({"local x = '# !='\nlocal y = = 1", 3, "unexpected symbol near '='", ""});
  const std::string large = "i += 1 --" + std::string(300'000, 'x');
  ExpectFirst({large.c_str(), 2, "'=' expected near '+'", ""});
}

}  // namespace
}  // namespace muster::testing
