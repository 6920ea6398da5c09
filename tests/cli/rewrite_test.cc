// Tests muster check --rewrite: rewrites recipes of the tree for MindSpore 2.7, compares them with golden files and
// their plans with the original ones; and tests the forms of output.
#include <filesystem>
#include <fstream>
#include <tuple>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"
#include "support/file_content.h"
#include "support/golden.h"

namespace muster::testing {
namespace {

using nlohmann::json;

CommandResult Rewrite(const std::string& recipe, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"check", recipe, "--mindspore", "2.7", "--rewrite"};
  words.insert(words.end(), more.begin(), more.end());
  return Muster(words);
}

// Returns the settings of a process, with moved ones under their new names.
json UnderNewNames(json context) {
  static const std::tuple<const char*, const char*, const char*> kMoved[] = {
      {"device_target", "set_device", "device_target"},
      {"device_id", "set_device", "device_id"},
      {"max_device_memory", "runtime.set_memory", "max_size"}};
  for (const auto& [name, function, parameter] : kMoved) {
    if (!context["set_context"].contains(name)) continue;
    context[function][parameter] = context["set_context"][name];
    context["set_context"].erase(name);
  }
  return context;
}

// Returns what the recipe's plan executes: everything except the recipe's own text.
json PlanOf(const std::string& recipe) {
  const CommandResult planned = Muster({"plan", recipe, "--json"});
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  json plan = json::parse(planned.out);
  plan.erase("id");
  plan.erase("inputs");
  return plan;
}

class RewrittenRecipes : public ::testing::TestWithParam<const char*> {
 protected:
  std::string recipe() const { return std::string("recipes/") + GetParam() + ".lua"; }
};

TEST_P(RewrittenRecipes, MatchTheGoldenOnesAndAreStable) {
  const CommandResult result = Rewrite(recipe());
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string golden = std::string("tests/golden/rewrite/") + GetParam() + ".lua";
  ExpectGolden(result.out, golden);
  ExpectGolden(result.err, std::string("tests/golden/rewrite/") + GetParam() + ".left");
  const CommandResult again = Rewrite(golden);
  EXPECT_EQ(again.out, result.out) << again.err;
  EXPECT_NE(again.err.find(golden + ": unchanged: 0 settings moved"), std::string::npos) << again.err;
}

TEST_P(RewrittenRecipes, PlanTheSameProcessesWithoutAWarning) {
  const std::string golden = std::string("tests/golden/rewrite/") + GetParam() + ".lua";
  const CommandResult checked = Muster({"check", golden, "--json"});
  EXPECT_EQ(checked.exit_code, 0);
  const json said = json::parse(checked.out);
  ASSERT_TRUE(said["diagnostics"].is_array()) << said;
  for (const json& each : said["diagnostics"]) {
    EXPECT_EQ(each["kind"], "program") << each;  // the example's program is not on PATH here
  }
  // The original recipe, for the same release.
  const TempDir folder;
  const std::string old = folder / (std::string(GetParam()) + ".lua");
  std::string text = ContentOf(std::string(MUSTER_SOURCE_DIR) + "/" + recipe());
  const std::size_t named = text.find("mindspore = \"");
  ASSERT_NE(named, std::string::npos);
  const std::size_t quote = text.find('"', named);
  text.replace(quote, text.find('"', quote + 1) - quote, "\"2.7");
  std::ofstream(old) << text;
  json before = PlanOf(old);
  const json after = PlanOf(golden);
  ASSERT_FALSE(before["processes"].empty());
  for (json& process : before["processes"]) process["context"] = UnderNewNames(process["context"]);
  EXPECT_EQ(before, after) << json::diff(before, after);
}

INSTANTIATE_TEST_SUITE_P(Of, RewrittenRecipes, ::testing::Values("gpt", "data_parallel", "parameter_server"),
                         [](const auto& each) { return std::string(each.param); });

constexpr const char* kReservationLine = "MindSpore 2.7.0 is described from its release candidate of July 2025\n";

// A recipe for 2.3 with an attribute that moves and one that stays.
class CheckRewrite : public ::testing::Test {
 protected:
  OneRecipe recipe_{std::string("local context = require 'muster.context'\n"
                                "context.set_context { mode = 0, device_target = 'CPU', check_bprop = true }\n") +
                        kOneWorker,
                    "mindspore = '2.3',"};
};

TEST_F(CheckRewrite, PrintsTheTextAndWhatStaysOnStandardError) {
  const std::string before = ContentOf(recipe_.path());
  const CommandResult result = Rewrite(recipe_.path());
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_NE(result.out.find("mindspore.set_device('CPU')\ncontext.set_context { mode = 0, check_bprop = true }\n"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(result.err,
            recipe_.path() + ":5: left: check_bprop: no function replaces it in MindSpore 2.7.0\n" + recipe_.path() +
                ": 1 setting moved, 1 left; the recipe names MindSpore 2.7.0 instead of 2.3.1\n" + kReservationLine);
  EXPECT_EQ(ContentOf(recipe_.path()), before);
}

TEST_F(CheckRewrite, PrintsADiffForPatch) {
  const CommandResult result = Rewrite(recipe_.path(), {"--diff"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(result.out.starts_with("--- " + recipe_.path() + "\n+++ " + recipe_.path() + "\n@@ -1,")) << result.out;
  EXPECT_NE(result.out.find("\n+mindspore.set_device('CPU')\n+context.set_context { mode = 0, check_bprop = true }\n"),
            std::string::npos)
      << result.out;
}

TEST_F(CheckRewrite, ReplacesTheFileAndKeepsItsMode) {
  const std::string wanted = Rewrite(recipe_.path()).out;
  std::filesystem::permissions(recipe_.path(), std::filesystem::perms(0750));
  const CommandResult result = Rewrite(recipe_.path(), {"--in-place"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, recipe_.path() +
                            ": 1 setting moved, 1 left; the recipe names MindSpore 2.7.0 instead of 2.3.1\n" +
                            kReservationLine);
  EXPECT_EQ(ContentOf(recipe_.path()), wanted);
  EXPECT_EQ(std::filesystem::status(recipe_.path()).permissions(), std::filesystem::perms(0750));
  const auto written = std::filesystem::last_write_time(recipe_.path());
  const CommandResult again = Rewrite(recipe_.path(), {"--in-place"});
  EXPECT_EQ(again.out, recipe_.path() + ": unchanged: 0 settings moved, 1 left\n" + kReservationLine) << again.err;
  EXPECT_EQ(std::filesystem::last_write_time(recipe_.path()), written);
  EXPECT_EQ(Rewrite(recipe_.path(), {"--diff"}).out, "");
}

TEST_F(CheckRewrite, IsAvailableAsJson) {
  const CommandResult result = Rewrite(recipe_.path(), {"--json"});
  EXPECT_EQ(result.err, "");
  const json whole = json::parse(result.out);
  EXPECT_EQ(whole["format"], 1);
  EXPECT_EQ(whole["ok"], true);
  EXPECT_EQ(whole["mindspore"], "2.3.1");
  EXPECT_EQ(whole["release"], "2.7.0");
  EXPECT_EQ(whole["changed"], true);
  EXPECT_EQ(whole["reservation"].get<std::string>() + "\n", kReservationLine);
  EXPECT_EQ(
      whole["moved"],
      json::array({{{"line", 5}, {"setting", "device_target"}, {"to", "mindspore.set_device with device_target"}}}));
  EXPECT_EQ(whole["left"][0]["setting"], "check_bprop");
  EXPECT_EQ(whole["left"][0]["line"], 5);
  EXPECT_EQ(whole["text"], Rewrite(recipe_.path()).out);
  EXPECT_EQ(json::parse(Rewrite(recipe_.path(), {"--json", "--diff"}).out)["diff"],
            Rewrite(recipe_.path(), {"--diff"}).out);
}

TEST_F(CheckRewrite, ReportsChangedDefaultsOfTheRelease) {
  const OneRecipe recipe(std::string("local context = require 'muster.context'\n"
                                     "context.set_context { device_target = 'CPU' }\n") +
                             kOneWorker,
                         "mindspore = '1.6',");
  EXPECT_NE(Rewrite(recipe.path()).err.find("  mode  0 (GRAPH_MODE) -> 1 (PYNATIVE_MODE)\n"), std::string::npos);
}

TEST_F(CheckRewrite, KeepsSettingsOfAnExtendedRecipe) {
  const std::string extension = recipe_ / "extension.lua";
  std::ofstream(extension) << "local muster = require 'muster'\nlocal context = require 'muster.context'\n"
                              "return muster.load('recipe.lua'):extend { plan = function(p, job, base)\n"
                              "  base(p, job)\n  context.set_context { device_target = 'GPU' }\nend }\n";
  const CommandResult result = Rewrite(extension);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, ContentOf(extension));
  EXPECT_NE(result.err.find(
                ": left: mindspore: this file does not name the recipe's release: write mindspore = \"2.7\" there\n"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(Rewrite(recipe_.path(), {"--in-place"}).exit_code, 0);
  const CommandResult after = Rewrite(extension);
  EXPECT_NE(after.err.find(":5: left: device_target: recipe.lua calls mindspore.set_device, too: set it there\n"),
            std::string::npos)
      << after.err;
}

TEST_F(CheckRewrite, RefusesWhatItCannotRewrite) {
  const CommandResult old = Muster({"check", recipe_.path(), "--mindspore", "2.4", "--rewrite"});
  EXPECT_EQ(old.exit_code, 2);
  EXPECT_NE(
      old.err.find(
          "MindSpore 2.4.0 has no functions that replace set_context\nhint: they are in MindSpore 2.5.0 and later"),
      std::string::npos)
      << old.err;
  EXPECT_EQ(Muster({"check", recipe_.path(), "--mindspore", "all", "--rewrite"}).exit_code, 2);
  EXPECT_EQ(Muster({"check", recipe_.path(), "--rewrite"}).exit_code, 2) << "without a release";
  EXPECT_EQ(Muster({"check", recipe_.path(), "--mindspore", "2.7", "--in-place"}).exit_code, 2) << "without --rewrite";
  EXPECT_EQ(Rewrite(recipe_.path(), {"--diff", "--in-place"}).exit_code, 2);
  const OneRecipe none(kOneWorker);
  EXPECT_NE(Rewrite(none.path()).err.find("the recipe names no MindSpore release, so there is nothing to rewrite"),
            std::string::npos);
  const CommandResult own = Rewrite("@torch");
  EXPECT_EQ(own.exit_code, 2);
  const OneRecipe broken("local context = require 'muster.context'\ncontext.set_context { mode = 7 }\n",
                         "mindspore = '2.3',");
  const std::string before = ContentOf(broken.path());
  const CommandResult refused = Rewrite(broken.path(), {"--in-place"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find(":5: error: mode = 7 is not"), std::string::npos) << refused.err;
  EXPECT_EQ(refused.out, "");
  EXPECT_EQ(ContentOf(broken.path()), before);
}

TEST_F(CheckRewrite, IsInTheHelpWithAnExample) {
  const std::string help = Muster({"check", "--help"}).out;
  EXPECT_NE(help.find("muster check recipes/gpt.lua --mindspore 2.7 --rewrite --diff"), std::string::npos) << help;
  EXPECT_NE(help.find("--in-place"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
