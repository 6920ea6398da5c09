// Tests planted leaks and their reports. Two of them need an evaluator that leaks by design.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "explain/hidden_inputs.h"
#include "support/command.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

class Deep : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories(std::filesystem::path(folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  EvaluationOptions Recipe(const std::string& body, const std::string& fields = "", const std::string& before = "") {
    EvaluationOptions options;
    options.recipe_file =
        Write("recipe.lua", "local muster = require \"muster\" " + before + "\nreturn muster.recipe { name = \"t\", " +
                                fields + "\nplan = function(p, job)\n" + body + "\nend }\n");
    options.program = EvaluatorProgram();
    return options;
  }
  static DeepCheck Check(const EvaluationOptions& options) {
    const auto as_it_is = EvaluateRecipe(options);
    EXPECT_TRUE(as_it_is) << as_it_is.error().at(0).message;
    return as_it_is ? CheckDeeply(options, *as_it_is, [](const std::string&) {}) : DeepCheck{};
  }
  // Returns entries such as "recipe.lua:3 warning: message", with their notes.
  std::vector<std::string> Reported(const DeepCheck& check) const {
    std::vector<std::string> reported;
    for (const Diagnostic& leak : check.leaks) {
      EXPECT_EQ(leak.kind, "leak");
      const std::string place = std::filesystem::path(leak.place.file).filename();
      reported.push_back(place + ":" + std::to_string(leak.place.line) + " " +
                         (leak.severity == Severity::kError ? "error" : "warning") + ": " + leak.message);
      for (const Note& note : leak.notes) reported.push_back("  " + note.message);
    }
    return reported;
  }
  // Appends this code to the prelude of evaluators that are started from now on.
  void TestPrelude(const std::string& end) {
    std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/lua/muster/prelude.lua");
    std::ostringstream text;
    text << file.rdbuf();
    std::string prelude = text.str();
    const std::size_t at = prelude.find("env._G = env");
    ASSERT_NE(at, std::string::npos);
    Write("lua/muster/prelude.lua", prelude.insert(at, end + "\n"));
    ::setenv("MUSTER_LUA_PATH", (folder_ / "lua").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("MUSTER_LUA_PATH");
    ::unsetenv("MUSTER_TEST_LR");
  }
  static constexpr const char* kLeaky = MUSTER_TESTS_DIR "/leaky_evaluator";

  TempDir folder_;
};
using Lines = std::vector<std::string>;

TEST_F(Deep, FindsNothingInARecipeThatIsPure) {
  const DeepCheck check =
      Check(Recipe("local t = {} for k in pairs { c = 1, a = 2, b = 3 } do t[#t + 1] = k end\n"
                   "job:workers { count = 2, command = { 'x', t, p.lr } }",
                   "params = { lr = muster.float { 0.5 } }, cluster = { devices_per_host = 0 },"));
  EXPECT_EQ(Reported(check), Lines{});
  EXPECT_GE(check.evaluations, 13U);
  EXPECT_EQ(check.without_effect, Lines{});
}

TEST_F(Deep, NamesAVariableThatAParameterTakesItsValueFrom) {
  ::setenv("MUSTER_TEST_LR", "0.25", 1);
  const EvaluationOptions options = Recipe(
      "job:workers { count = 2, command = { 'x', '--lr', p.lr } }",
      "cluster = { devices_per_host = 0 },\nparams = { lr = muster.float { 0.5, from_env = 'MUSTER_TEST_LR' } },");
  const Lines reported = Reported(Check(options));
  ASSERT_EQ(reported.size(), 2U) << reported[0];
  EXPECT_EQ(reported[0],
            "recipe.lua:3 warning: the plan depends on the variable MUSTER_TEST_LR of the caller: parameter lr "
            "takes its value from it");
  EXPECT_TRUE(reported[1].starts_with("  command --lr: 0.25 → ")) << reported[1];
  ::unsetenv("MUSTER_TEST_LR");
  EXPECT_EQ(Reported(Check(options)).size(), 2U) << "elsewhere it may be set";
  EvaluationOptions given = options;
  given.overrides.push_back(ValueOverride("lr", Value(0.125)));
  EXPECT_EQ(Reported(Check(given)).size(), 2U) << "others may not say it on the command line";
}

TEST_F(Deep, NamesAFactOfTheHostInALoadedFile) {
  Write("lib/batch.lua", "return function(job)\n  return math.floor(job.cluster.host_memory / 2 ^ 30)\nend\n");
  EvaluationOptions options = Recipe("job:workers { count = 1, command = { 'x', require('lib.batch')(job) } }",
                                     "cluster = { devices_per_host = 0 },");
  options.site.host_memory_bytes = std::uint64_t{64} << 30;
  EXPECT_EQ(Reported(Check(options)),
            (Lines{"batch.lua:2 warning: the plan depends on the memory of the machine on which it is made",
                   "  command command[1]: 64 → 33 (worker)"}));
}

TEST_F(Deep, NamesTheUsersFolderInAFileThatWasRead) {
  ::setenv("HOME", "/srv/home/ada", 1);
  Write("data.json", "{\n  \"data\": \"/srv/home/ada/data\"\n}\n");
  const Lines reported =
      Reported(Check(Recipe("job:env { DATA = muster.read_json('data.json').data }\n"
                            "job:workers { count = 2, command = { 'x' } }",
                            "cluster = { devices_per_host = 0 },")));
  EXPECT_EQ(reported, (Lines{"data.json:2 warning: the plan has the caller's home folder in it: \"/srv/home/ada\"",
                             "  worker 0-1: variable DATA"}));
}

TEST_F(Deep, NamesTheDevicesOfThisMachine) {
  const Lines reported = Reported(Check(Recipe("job:workers { count = 1, command = { 'x', job.cluster.devices } }")));
  ASSERT_GE(reported.size(), 2U);
  EXPECT_EQ(reported[0],
            "recipe.lua:0 warning: the plan depends on how many devices the machine has on which it is made");
}

TEST_F(Deep, FindsAClockExposedByThePrelude) {
  TestPrelude("env.clock = clock");
  EvaluationOptions options =
      Recipe("job:workers { count = 1, command = { 'x', clock() } }", "cluster = { devices_per_host = 0 },");
  options.program = kLeaky;
  const Lines reported = Reported(Check(options));
  ASSERT_EQ(reported.size(), 2U);
  EXPECT_EQ(reported[0],
            "recipe.lua:0 error: the plan is another one each time it is made: it depends on the time, or on chance");
  EXPECT_TRUE(reported[1].starts_with("  command command[1]: ")) << reported[1];
}

TEST_F(Deep, FindsUnsortedPairs) {
  TestPrelude("env.pairs = pairs");
  const Lines reported = Reported(Check(Recipe(
      "local t = {} for k in pairs { alpha = 1, beta = 2, gamma = 3, delta = 4, epsilon = 5, zeta = 6 } do t[#t + 1] "
      "= k end\njob:workers { count = 1, command = { 'x', t } }",
      "cluster = { devices_per_host = 0 },")));
  ASSERT_GE(reported.size(), 2U);
  EXPECT_EQ(
      reported[0],
      "recipe.lua:0 error: the plan is another one in each interpreter: it depends on the order of a table's keys, "
      "or on an address");
}

TEST_F(Deep, FindsStateKeptByThePlanFunction) {
  const Lines reported = Reported(Check(Recipe("calls = calls + 1 job:workers { count = 1, command = { 'x', calls } }",
                                               "cluster = { devices_per_host = 0 },", "local calls = 0")));
  EXPECT_EQ(reported,
            (Lines{"recipe.lua:0 error: the plan function keeps something from one call to the next: its second plan "
                   "differs",
                   "  command command[1]: 1 → 2 (worker)"}));
}

TEST_F(Deep, ChecksEveryProfileAndListsParametersThatChangeNothing) {
  const DeepCheck check = Check(Recipe(
      "job:check(p.n < 5, 'too many') job:workers { count = p.n, command = { 'x' } }",
      "cluster = { devices_per_host = 0 }, params = { n = muster.int { 1, min = 1 }, unused = muster.int { 3 }, "
      "key = muster.secret { from_env = 'MUSTER_TEST_LR' } },\nprofiles = { small = { n = 2 }, big = { n = 9 } },"));
  ASSERT_EQ(check.profiles.size(), 2U);
  EXPECT_EQ(check.profiles[0].name, "big");
  ASSERT_EQ(check.profiles[0].problems.size(), 1U);
  EXPECT_EQ(check.profiles[0].problems[0].message, "too many");
  EXPECT_EQ(check.profiles[1].name, "small");
  EXPECT_FALSE(check.profiles[1].plan_id.empty());
  EXPECT_EQ(check.without_effect, Lines{"unused"});
}

}  // namespace
}  // namespace muster::testing
