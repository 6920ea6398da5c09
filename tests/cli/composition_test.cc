// Tests composed recipes on the command line: profiles, pins, refused settings, unusual texts.
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

constexpr const char* kCompositionFields = R"(params = {
    n = muster.int { 2 }, unused = muster.int { 1 }, one = muster.int { 4, one_of = { 4, 8 } },
    opt = muster.variant { "adam", one_of = { adam = { note = muster.string { "a" } }, sgd = { } } } },
  cluster = { hosts = 2, devices_per_host = 4 }, profiles = { small = { n = 1, hosts = 1 } },)";
constexpr const char* kCompositionBody = R"(local d = job:derive { each = p.n * job.cluster.devices, half = p.one / 2 }
    job:workers { count = 1, command = { "x", d.each, p.opt.note or "none" } })";

nlohmann::json Json(const CommandResult& result) {
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return result.exit_code == 0 ? nlohmann::json::parse(result.out) : nlohmann::json();
}

TEST(AwkwardTexts, ArriveUnchanged) {
  const OneRecipe recipe(kCompositionBody, kCompositionFields);
  const char* const cases[] = {"epoch=999,step=1.pt",
                               "#1",
                               "# not a comment",
                               "",
                               " ",
                               "a b  c ",
                               "a\nb",
                               "\n",
                               "a\tb",
                               "李明",
                               "😀",
                               "e\xcc\x81",
                               "=",
                               "==a==",
                               ":=1",
                               "@=x",
                               "--flag",
                               "-",
                               "a;b|c&d",
                               "$HOME `id` $(id)",
                               "\"both\" 'quotes'",
                               "\\n\\",
                               "{\"a\":1}",
                               "[1,2]",
                               "null",
                               "true",
                               "~/x",
                               "*?[a]",
                               "a,b,",
                               "%s%n"};
  static_assert(std::size(cases) >= 20);
  for (const std::string text : cases) {
    for (const char* name : {"opt.note=", "note="}) {
      const auto plan = Json(Muster({"plan", recipe.path(), name + text, "--json"}));
      EXPECT_EQ(plan["processes"][0]["command"][2], text) << name << text;
      EXPECT_EQ(plan["params"]["opt.note"], text);
    }
    const auto by_json = Json(Muster({"plan", recipe.path(), "note:=" + nlohmann::json(text).dump(), "--json"}));
    EXPECT_EQ(by_json["processes"][0]["command"][2], text);
    std::ofstream(recipe / "text", std::ios::binary) << text << '\n';
    const auto by_file = Json(Muster({"plan", recipe.path(), "note@=" + recipe / "text", "--json"}));
    EXPECT_EQ(by_file["processes"][0]["command"][2], text);
    if (text.find('\n') != std::string::npos) continue;
    const auto by_variable = Json(Muster({"plan", recipe.path(), "--json"}, {"MUSTER_SET=n=3\nnote=" + text}));
    EXPECT_EQ(by_variable["processes"][0]["command"][2], text);
    EXPECT_EQ(by_variable["params"]["n"], 3);
  }
}

TEST(ProfileOption, ChoosesValuesThatTheCommandLineOverrides) {
  const OneRecipe recipe(kCompositionBody, kCompositionFields);
  EXPECT_EQ(Json(Muster({"plan", recipe.path(), "--profile", "small", "--json"}))["processes"][0]["command"][1], "4");
  const auto plan = Json(Muster({"plan", recipe.path(), "--profile", "small", "n=3", "--json"}, {"MUSTER_SET=n=7"}));
  EXPECT_EQ(plan["processes"][0]["command"][1], "12");
  EXPECT_EQ(plan["profiles"], nlohmann::json::array({"small"}));
  const CommandResult unknown = Muster({"check", recipe.path(), "--profile", "smal"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean \"small\"?"), std::string::npos) << unknown.err;
  const CommandResult params = Muster({"params", recipe.path(), "--profile", "small"});
  EXPECT_NE(params.out.find("[profile small, " + recipe.path() + ":5]"), std::string::npos) << params.out;
  EXPECT_NE(params.out.find("profiles: small"), std::string::npos) << params.out;
}

TEST(DerivedValues, NameTheParametersThatChangeThem) {
  const OneRecipe recipe(kCompositionBody, kCompositionFields);
  const CommandResult result = Muster({"plan", recipe.path(), "each=3", "half=1", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  const auto document = nlohmann::json::parse(result.out);
  ASSERT_EQ(document["diagnostics"].size(), 2U) << result.err;
  const auto& first = document["diagnostics"][0];
  EXPECT_EQ(first["kind"], "derived");
  EXPECT_EQ(first["line"], 7);
  EXPECT_EQ(first["message"], "each is derived by the recipe, so it cannot be set (from the command line)");
  EXPECT_EQ(first["hint"], "it follows from n, hosts, devices_per_host; --pin each=… forces it");
  EXPECT_EQ(document["diagnostics"][1]["hint"], "it follows from one; --pin half=… forces it");
}

TEST(PinOption, ForcesADerivedValueAndIsRecordedInThePlan) {
  const OneRecipe recipe(kCompositionBody, kCompositionFields);
  const CommandResult result = Muster({"plan", recipe.path(), "--pin", "each=5", "--pin", "half:=\"x\""});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("derived each = 5 (pinned; the recipe derives 16)\n"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("warning: each is pinned to 5; the recipe derives 16"), std::string::npos) << result.err;
  const auto plan = Json(Muster({"plan", recipe.path(), "--pin", "each=5", "--json"}));
  EXPECT_EQ(plan["derived"]["each"], 5);
  EXPECT_EQ(plan["pinned"], (nlohmann::json{{"each", 16}}));
  EXPECT_EQ(plan["processes"][0]["command"][1], "5");
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"each"}, {"each@=/dev/null"}, {"n=1"}, {"nope=1"}, {"each=x"}}) {
    const CommandResult refused = Muster({"plan", recipe.path(), "--pin", words[0]});
    EXPECT_EQ(refused.exit_code, 2) << words[0];
    EXPECT_NE(refused.err.find("error: "), std::string::npos) << words[0];
  }
}

TEST(LoadedFiles, AreInputsAndStoredSources) {
  const OneRecipe recipe(kCompositionBody, kCompositionFields);
  std::ofstream(recipe / "own.lua") << "return require('muster').load('recipe.lua'):extend { name = 'own' }";
  const auto plan = Json(Muster({"plan", recipe / "own.lua", "--json"}));
  ASSERT_EQ(plan["inputs"].size(), 2U);
  EXPECT_EQ(plan["inputs"][1]["name"], "recipe.lua");
  EXPECT_EQ(plan["inputs"][1]["kind"], "file");
}

TEST(LoadedFiles, OfOneLongLineAreShownInPart) {
  const OneRecipe recipe("muster.read_json 'data.json' job:workers { count = 1, command = { 'x' } }");
  std::ofstream(recipe / "data.json") << "[" << std::string(100'000, '[') << "]";
  const CommandResult result = Muster({"check", recipe.path()});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("data.json:1: error: "), std::string::npos);
  EXPECT_LT(result.err.size(), 2000U);
}

TEST(LoadedFiles, MustBeBelowTheRecipesFolder) {
  const OneRecipe recipe(kCompositionBody, kCompositionFields);
  std::filesystem::create_directory(recipe / "below");
  std::ofstream(recipe / "below/own.lua") << "local base = require('muster').load '../recipe.lua'\nreturn base";
  const CommandResult result = Muster({"check", recipe / "below/own.lua"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("below/own.lua:1: error: muster.load: ../recipe.lua cannot be read: it is not below the "
                            "recipe's folder"),
            std::string::npos)
      << result.err;
}

}  // namespace
}  // namespace muster::testing
