// Tests what is under the cursor, also in texts that are no Lua yet.
#include "lsp/cursor.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

// The cursor is at the "|".
Cursor At(std::string text) {
  const std::size_t at = text.find('|');
  text.erase(at, 1);
  return CursorAt(text, at);
}

std::string TextOf(const Chain& chain) {
  std::string text;
  for (const Link& link : chain) {
    text += link.kind == Link::Kind::kMember   ? "."
            : link.kind == Link::Kind::kMethod ? ":"
            : link.kind == Link::Kind::kCall   ? "()"
                                               : "";
    if (link.kind != Link::Kind::kCall) text += link.text;
  }
  return text;
}

TEST(Cursor, IsAtTheEndOfAnExpression) {
  EXPECT_EQ(TextOf(At("x = job.cluster.ho|sts").chain), "job.cluster.hosts");
  EXPECT_EQ(TextOf(At("x = job.clus|ter.hosts").chain), "job.cluster");
  EXPECT_EQ(TextOf(At("muster.load(\"a\"):ext|").chain), "muster.load():ext");
  EXPECT_EQ(At("x = p.lay|ers").word, "layers");
  EXPECT_EQ(At("x = p.lay|ers").typed, "lay");
}

TEST(Cursor, IsBehindADotWithNothingTyped) {
  EXPECT_EQ(TextOf(At("local x = p.|").chain), "p.");
  EXPECT_EQ(TextOf(At("x = p.|\nend").chain), "p.");
  EXPECT_EQ(TextOf(At("job:|").chain), "job:");
}

TEST(Cursor, IsInTablesAndCalls) {
  const Cursor cursor = At("return muster.recipe { cluster = { hosts = 1, | } }");
  ASSERT_EQ(cursor.around.size(), 2U);
  EXPECT_EQ(TextOf(cursor.around[0].called), "muster.recipe");
  EXPECT_EQ(cursor.around[1].key, "cluster");
  EXPECT_TRUE(cursor.at_key);
  const Cursor value = At("f { visible = \"o|wn\" }");
  EXPECT_TRUE(value.in_text);
  EXPECT_EQ(value.key, "visible");
  EXPECT_EQ(value.word, "own");
  EXPECT_EQ(value.typed, "o");
  const Cursor second = At("f(a, { b = | })");
  ASSERT_EQ(second.around.size(), 2U);
  EXPECT_EQ(second.around[0].argument, 1U);
  EXPECT_EQ(second.key, "b");
}

TEST(Cursor, KnowsParametersOfFunctionsAndLocals) {
  const Cursor cursor =
      At("local m = require \"muster\"\nreturn m.recipe { plan = function(p, job) local d = job:derive {} x = |");
  ASSERT_TRUE(cursor.names.contains("job"));
  EXPECT_EQ(cursor.names.at("job").number, 1U);
  EXPECT_EQ(cursor.names.at("job").function.back().key, "plan");
  EXPECT_EQ(TextOf(cursor.names.at("d").value), "job:derive()");
  EXPECT_EQ(cursor.names.at("m").value.back().text, "muster");
}

TEST(Cursor, WorksInTextThatIsNoLua) {
  const Cursor text = At("f {\n  a = \"unfinis|\n  b = 1,\n}");
  EXPECT_TRUE(text.in_text);
  EXPECT_EQ(text.key, "a");
  EXPECT_EQ(text.typed, "unfinis");
  const Cursor unclosed =
      At("return muster.recipe {\n  plan = function(p, job)\n    job:workers { count = p.|\n  end,\n");
  EXPECT_EQ(TextOf(unclosed.chain), "p.");
  EXPECT_EQ(TextOf(unclosed.around.back().called), "job:workers");
  EXPECT_TRUE(At("x = $ % \n y = { | }").at_key);
  EXPECT_TRUE(At("-- a comment p.|").chain.empty());
}

TEST(Cursor, IsFoundAtEveryOffsetOfAnyText) {
  for (const std::string& text :
       {std::string("a.b:c{d='e',[f]=g(h)}--i\n[[j]] function k(l,m) end"), std::string("}})])end end until"),
        std::string("\"\\"), std::string("[==[ x"), std::string("--[[ x"), std::string("local"), std::string("f(\"\")"),
        std::string(500, '{'), std::string(500, '.')}) {
    for (std::size_t at = 0; at <= text.size(); ++at) {
      const Cursor cursor = CursorAt(text, at);
      EXPECT_LE(cursor.begin, cursor.end);
      EXPECT_LE(cursor.end, text.size());
    }
  }
}

TEST(RecipeOutlines, HaveDeclaredParametersAndTheRelease) {
  const RecipeOutline outline = OutlineOf(
      "local muster = require \"muster\"\nreturn muster.recipe { mindspore = \"2.3.1\", params = { lr = muster.float { "
      "1, min = 0 },\n"
      "optimizer = { beta = muster.float { 0.9 } }, plain = 3 }, cluster = { hosts = 1 } }");
  ASSERT_EQ(outline.parameters.size(), 3U);
  EXPECT_EQ(outline.parameters[0].name, "lr");
  EXPECT_EQ(outline.parameters[0].type, "float");
  EXPECT_EQ(outline.parameters[1].name, "optimizer.beta");
  EXPECT_EQ(outline.parameters[2].name, "plain");
  EXPECT_EQ(outline.release, "2.3.1");
  EXPECT_TRUE(outline.uses_muster);
  EXPECT_FALSE(OutlineOf("return { muster = 1 }").uses_muster);
}

TEST(MessageRanges, AreTheNamedWordOrTheLine) {
  const std::string text = "a = 1\n  f {\n    visble = \"own\",\n  }  \nb = 2\n";
  const auto words = [&](std::uint32_t line, std::string_view message) {
    const TextRange range = RangeOfMessage(text, line, message);
    return text.substr(range.begin, range.end - range.begin) + (range.is_word ? "" : " (line)");
  };
  EXPECT_EQ(words(2, "a role has no option \"visble\""), "visble");
  EXPECT_EQ(words(2, "there is no parameter visble"), "visble");
  EXPECT_EQ(words(2, "\"own\" is odd"), "own");
  EXPECT_EQ(words(2, "nothing that is there"), "f { (line)");
  EXPECT_EQ(words(0, "zzz"), "a = 1 (line)");
  EXPECT_EQ(words(99, "zzz"), " (line)");
}

}  // namespace
}  // namespace muster
