// Tests muster why-not: which check refuses values, and the smallest changes that make them possible.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

json Asked(Words words) {
  words.insert(words.begin(), "why-not");
  words.push_back("--json");
  return json::parse(Muster(words).out);
}

TEST(WhyNotCommand, SaysThatValuesArePossible) {
  const CommandResult possible = Muster({"why-not", kPipeline, "pipeline_stages=4"});
  EXPECT_EQ(possible.exit_code, 0) << possible.err;
  EXPECT_EQ(possible.out, "possible\n");
}

TEST(WhyNotCommand, NamesTheCheckAndCommandsThatWork) {
  const CommandResult refused = Muster({"why-not", kPipeline, "pipeline_stages=3"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.err.find("recipes/pipeline.lua:"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.out.find("not possible\npossible with one other value:\n  muster run recipes/pipeline.lua "), 0U)
      << refused.out;
  const json asked = Asked({kPipeline, "pipeline_stages=3"});
  EXPECT_EQ(asked["possible"], false);
  ASSERT_GE(asked["changes"].size(), 2U);
  for (const json& change : asked["changes"]) {
    EXPECT_EQ(change["values"].size(), 1U);
    Words words = change["command"].get<Words>();
    EXPECT_EQ(words.at(1), "run");
    words.erase(words.begin(), words.begin() + 2);
    words.insert(words.begin(), "plan");
    EXPECT_EQ(Muster(words).exit_code, 0) << change;
  }
  const auto has = [&](const Words& command) {
    return std::any_of(asked["changes"].begin(), asked["changes"].end(),
                       [&](const json& change) { return change["command"] == json(command); });
  };
  EXPECT_TRUE(has({"muster", "run", kPipeline, "pipeline_stages=4"})) << asked;
  EXPECT_TRUE(has({"muster", "run", kPipeline, "pipeline_stages=2"})) << asked;
}

TEST(WhyNotCommand, ChangesTwoValuesOnlyIfOneIsNotEnough) {
  const OneRecipe recipe(
      "job:check(p.a + p.b == 7 and p.a >= 3 and p.b >= 3, 'no')\njob:check(p.c ~= 'x', 'never x')\n" +
          std::string(kOneWorker),
      "params = { a = muster.int { 1, max = 8 }, b = muster.int { 1, max = 8 }, "
      "c = muster.enum { 'y', one_of = { 'x', 'y' } }, d = muster.int { 1 } },");
  const json two = Asked({recipe.path()});
  ASSERT_FALSE(two["changes"].empty()) << two;
  for (const json& change : two["changes"]) {
    EXPECT_EQ(change["values"].size(), 2U);
    EXPECT_EQ(change["values"]["a"].get<int>() + change["values"]["b"].get<int>(), 7);
  }
  const json one = Asked({recipe.path(), "a=3", "b=4", "c=x"});
  ASSERT_EQ(one["changes"].size(), 1U) << one;
  EXPECT_EQ(one["changes"][0]["values"], (json{{"c", "y"}}));
  const json none = Asked({recipe.path(), "c=x"});
  EXPECT_TRUE(none["changes"].empty()) << "three are needed";
  EXPECT_GT(none["tried"], 50);
}

TEST(WhyNotCommand, ReplacesValuesThatTheParameterItselfRefuses) {
  const OneRecipe recipe("job:check(p.a % 4 == 0, 'not a multiple of 4')\n" + std::string(kOneWorker),
                         "params = { a = muster.int { 8, min = 2 } },");
  const json asked = Asked({recipe.path(), "a=0"});
  EXPECT_EQ(asked["possible"], false);
  ASSERT_FALSE(asked["changes"].empty()) << asked;
  for (const json& change : asked["changes"]) EXPECT_EQ(change["values"]["a"].get<int>() % 4, 0);
}

TEST(WhyNotCommand, FailsForARecipeThatIsWrongWhateverTheValues) {
  const OneRecipe recipe("job:nothing(");
  EXPECT_EQ(Muster({"why-not", recipe.path()}).exit_code, 2);
  EXPECT_EQ(Muster({"why-not", kPipeline, "no_such=1"}).exit_code, 2);
}

}  // namespace
}  // namespace muster::testing
