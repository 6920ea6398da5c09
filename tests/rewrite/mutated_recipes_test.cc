// Tests damaged and hostile recipes: each is refused, or rewritten to a stable text. Deterministic.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

#include <gtest/gtest.h>
#include <lua.hpp>

#include "rewrite/rewritten.h"
#include "support/places.h"

namespace muster::testing {
namespace {

std::vector<std::string> Recipes() {
  std::vector<std::string> texts;
  for (const char* name : {"gpt", "data_parallel", "parameter_server", "mindspore_27"}) {
    std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/recipes/" + name + ".lua", std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

bool LuaCompiles(const std::string& text) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> lua(luaL_newstate(), &lua_close);
  return luaL_loadbuffer(lua.get(), text.data(), text.size(), "recipe") == 0;
}

// Returns whether the text is taken; if so, the result of rewriting must be stable, and Lua if the text is.
bool IsTaken(const std::string& text) {
  const RewriteTarget target = TargetOf27();
  const auto once = RewriteRecipe(text, "recipe.lua", target);
  if (!once) return false;
  EXPECT_TRUE(LuaCompiles(once->text) || !LuaCompiles(text)) << text << "\n--- became ---\n" << once->text;
  const auto twice = RewriteRecipe(once->text, "recipe.lua", target);
  EXPECT_TRUE(twice.has_value()) << text << "\n--- became ---\n" << once->text;
  if (twice) {
    EXPECT_EQ(twice->text, once->text) << text;
  }
  return true;
}

TEST(MutatedRecipes, AreRefusedOrRewrittenToAStableText) {
  std::mt19937 random(1);  // NOLINT: the same cases every time
  const std::vector<std::string> pieces = {"{",
                                           "}",
                                           "(",
                                           ")",
                                           "[[",
                                           "]]",
                                           "--",
                                           "--[[",
                                           "\n",
                                           "\r\n",
                                           ",",
                                           ";",
                                           ";(f)()",
                                           "pynative_synchronize = false,",
                                           "=",
                                           "\"",
                                           "end",
                                           "context",
                                           "mindspore",
                                           "set_context",
                                           "device_id = 1",
                                           "each = function(process)",
                                           "context.set_context {",
                                           "process:context",
                                           "\\",
                                           "\0"};
  std::size_t taken = 0;
  std::size_t refused = 0;
  for (const std::string& recipe : Recipes()) {
    ASSERT_TRUE(IsTaken(recipe));
    for (int i = 0; i < 400; ++i) {
      std::string text = recipe;
      for (std::size_t changes = 1 + random() % 3; changes > 0; --changes) {
        const std::size_t at = random() % text.size();
        const std::size_t length = std::min<std::size_t>(random() % 20, text.size() - at);
        const unsigned how = random() % 4;
        if (how == 0) {
          text.erase(at, length);
        } else if (how == 1) {
          text.insert(at, pieces[random() % pieces.size()]);
        } else if (how == 2) {
          text[at] = static_cast<char>(random() % 256);
        } else {
          text.insert(at, text.substr(random() % text.size(), length));
        }
      }
      (IsTaken(text) ? taken : refused) += 1;
    }
    for (std::size_t end = 0; end < recipe.size(); end += 37) IsTaken(recipe.substr(0, end));
  }
  EXPECT_GT(taken, 0U);
  EXPECT_GT(refused, 0U);
}

TEST(MutatedRecipes, WithManyCallsAndNamesAreTaken) {
  std::string calls;
  while (calls.size() < 200000) calls += "context.set_context { device_id = 1, op_timeout = 3 } local a = context\n";
  IsTaken(RecipeOf(calls));
  std::string chain = "local a = require 'muster.context'\n";
  while (chain.size() < 200000) chain += "local a = a\n";
  IsTaken(RecipeOf(chain + "a.set_context { op_timeout = 3 }"));
}

}  // namespace
}  // namespace muster::testing
