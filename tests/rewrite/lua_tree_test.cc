// Tests parsing Lua source into a tree: what is accepted, what is refused, and the limit of nesting.
#include "rewrite/lua_tree.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string Parsed(const std::string& text) {
  const auto tree = ParseLua(text, "f.lua");
  if (tree) return "ok";
  const Diagnostic& problem = tree.error().front();
  return std::to_string(problem.place.line) + ": " + problem.message;
}

TEST(LuaTree, AcceptsWhatLuaAccepts) {
  for (const char* text : {
           "",
           "#!/usr/bin/env muster\nreturn 1",
           "return",
           "return 1, 2;",
           "local a, b = 1",
           "local function f(...) return ... end",
           "function a.b.c:d(x) end",
           "for i = 1, 2, 3 do break end for k, v in pairs {} do end",
           "while true do if a then b() elseif c then d() else e() end end",
           "repeat local x = f() until x",
           "goto done ::done::",
           "local goto_ = 1 goto_ = 2",
           "a = -b ^ -c .. 'x' .. [==[ ]] ]==] == not d and #e or 0x1p4 + 1e-3 + 1LL + 0xffULL + .5",
           "f'x' f\"y\" f[[z]] f{1; a = 2, ['b'] = 3, [4] = 5,} a:b'x':c{}[1].d()",
           "a.b, c[1] = 1, 2;",
           "local s = 'a\\\nb\\z   \n  c\\x41\\065'",
           "--[[ a\n]] --[==[ ]] ]==] -- b",
           "local \xc3\xa4 = 1",
           "do local x = function() end end",
       }) {
    EXPECT_EQ(Parsed(text), "ok") << text;
  }
}

TEST(LuaTree, RefusesWhatLuaRefusesWithItsLine) {
  EXPECT_EQ(Parsed("\nlocal = 1"), "2: name expected near \"=\"");
  EXPECT_EQ(Parsed("a = 'x\n'"), "1: unfinished string");
  EXPECT_EQ(Parsed("a = [[x"), "1: unfinished long string");
  EXPECT_EQ(Parsed("--[==[ x ]]"), "1: unfinished long comment");
  EXPECT_EQ(Parsed("a = {1"), "1: \"}\" expected near end of the file");
  EXPECT_EQ(Parsed("a.b"), "1: statement expected near end of the file");
  EXPECT_EQ(Parsed("f() = 1"), "1: cannot assign near end of the file");
  EXPECT_EQ(Parsed("end"), "1: unexpected \"end\"");
  EXPECT_EQ(Parsed("a = 1 @"), "1: unexpected symbol");
  EXPECT_EQ(Parsed("return 1 a = 2"), "1: the end of the block expected near \"a\"");
}

TEST(LuaTree, LimitsNesting) {
  const auto repeated = [](std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
  };
  EXPECT_EQ(Parsed("a = " + repeated(100, "(") + "1" + repeated(100, ")")), "ok");
  constexpr std::size_t kMany = 50000;
  for (const char* open : {"(", "{", "- ", "not ", "f(", "function() return ", "a .. ", "2 ^ ", "{a = ", "{[", "a["}) {
    EXPECT_EQ(Parsed("a = " + repeated(kMany, open)), "1: nested too deeply") << open;
  }
  for (const char* open : {"do ", "if a then ", "while a do ", "repeat ", "for i = 1, 2 do ", "function f() "}) {
    EXPECT_EQ(Parsed(repeated(kMany, open)), "1: nested too deeply") << open;
  }
  EXPECT_EQ(Parsed("a = 1" + repeated(kMany, " + 1")), "ok") << "a chain is no nesting";
  EXPECT_EQ(Parsed("a = f" + repeated(kMany, "()")), "ok");
}

TEST(LuaTree, RefusesAFileThatIsTooLarge) {
  EXPECT_EQ(Parsed(std::string(kMaxLuaBytes, ' ')), "ok");
  EXPECT_EQ(Parsed(std::string(kMaxLuaBytes + 1, ' ')), "0: the file is too large to be rewritten");
}

TEST(LuaTree, ResolvesNamesToLocals) {
  const std::string text =
      "local a = 1\n"
      "do local a = 2 f(a) end\n"
      "f(a)\n"
      "local function g(a) f(a) end\n"
      "repeat local b = 1 until b\n"
      "for b = 1, 2 do f(b) end\n"
      "f(b)\n"
      "local c = c\n"
      "a = 3\n";
  const auto tree = ParseLua(text, "f.lua");
  ASSERT_TRUE(tree.has_value());
  std::string found;
  for (const LuaNode& node : tree->nodes) {
    if (node.kind != LuaNode::Kind::kName || node.name == "f") continue;
    found += std::to_string(node.line) + std::string(node.name) + "=" + std::to_string(node.local) + " ";
  }
  // Locals in order: a, a, g, a, b, b, c.
  EXPECT_EQ(found, "2a=1 3a=0 4a=3 5b=4 6b=5 7b=-1 8c=-1 9a=0 ");
  EXPECT_TRUE(tree->locals[0].is_assigned);
  EXPECT_FALSE(tree->locals[1].is_assigned);
}

TEST(LuaLiteral, IsTheValueOfALiteralTokenOnly) {
  EXPECT_EQ(LuaLiteral("'a\\'b\\n\\\\'"), Value("a'b\n\\"));
  EXPECT_EQ(LuaLiteral("[==[\nx]]]==]"), Value("x]]"));
  EXPECT_EQ(LuaLiteral("0x10"), Value(16));
  EXPECT_EQ(LuaLiteral("1e3"), Value(1000));
  EXPECT_EQ(LuaLiteral(".5"), Value(0.5));
  for (const char* token : {"'\\065'", "'\\x41'", "0x1p4", "1LL", "1.2.3"}) {
    EXPECT_EQ(LuaLiteral(token), std::nullopt) << token;
  }
}

}  // namespace
}  // namespace muster
