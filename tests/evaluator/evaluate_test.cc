// Tests evaluation in a separate process, end to end.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "base/values/fingerprint.h"
#include "evaluator/evaluator.h"
#include "plan/text/plan_text.h"
#include "support/command.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

// Each test runs twice: with a separately started evaluator, and with one forked by a fork server.
class EvaluateTest : public ::testing::TestWithParam<bool> {
 protected:
  std::string Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  EvaluationOptions Options(const std::string& body, const std::string& fields = "") {
    EvaluationOptions options;
    options.recipe_file =
        Write("recipe.lua", "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", " + fields +
                                "\nplan = function(p, job)\n" + body + "\nend }\n");
    options.program = EvaluatorProgram();
    return options;
  }

  static Result<Evaluation> Evaluate(const EvaluationOptions& options) {
    if (!GetParam()) return EvaluateRecipe(options);
    auto files = RecipeFiles::Open(options.recipe_file, options.libraries);
    if (!files) return Fail(files.error());
    return Evaluator(std::make_shared<EvaluatorForkServer>(StartOf(options)), *std::move(files))
        .Evaluate(options, true);
  }

  TempDir folder_;
};
INSTANTIATE_TEST_SUITE_P(Whole, EvaluateTest, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(OfAForkServer, EvaluateTest, ::testing::Values(true));

TEST_P(EvaluateTest, ReturnsPlanParametersInputsAndSources) {
  Write("lib.lua", "return { words = { 'a', 'b' } }");
  ::setenv("MUSTER_TEST_VARIABLE", "8", 1);
  EvaluationOptions options = Options(
      "print('hello', p.n) job:workers { count = p.n, command = { 'x', require('lib').words, muster.here 'lib.lua' } }",
      "doc = 'd', params = { n = muster.int { 1, from_env = 'MUSTER_TEST_VARIABLE' }, m = muster.int { 2, from_env = "
      "'MUSTER_TEST_UNSET' } },");
  std::vector<std::string> printed;
  options.on_print = [&](const std::string& line) { printed.push_back(line); };
  const auto evaluation = Evaluate(options);
  ::unsetenv("MUSTER_TEST_VARIABLE");
  ASSERT_TRUE(evaluation);
  EXPECT_EQ(evaluation->name, "t");
  EXPECT_EQ(evaluation->doc, "d");
  EXPECT_EQ(evaluation->plan.processes.size(), 8U);
  EXPECT_EQ(evaluation->plan.roles[0].command.back().marked, folder_ / "lib.lua");
  EXPECT_EQ(evaluation->parameters.at(1).origin, ParameterOrigin::kEnvironment);
  EXPECT_EQ(printed, std::vector<std::string>{"hello\t8"});
  ASSERT_EQ(evaluation->inputs.size(), 4U);
  EXPECT_EQ(evaluation->inputs[1], (Input{"variable", "MUSTER_TEST_UNSET", ""}));
  EXPECT_EQ(evaluation->inputs[2], (Input{"variable", "MUSTER_TEST_VARIABLE", Sha256Hex("8")}));
  EXPECT_EQ(evaluation->inputs[3].name, "lib.lua");
  EXPECT_EQ(evaluation->sources.size(), 2U);
  EXPECT_EQ(evaluation->provenance.at("worker").count("MUSTER_ROLE"), 1U);
}

TEST_P(EvaluateTest, ReportsEachSecondThatItIsStillRunning) {
  // Slow instructions: a second of fast ones would exceed the recipe's limit of instructions.
  EvaluationOptions options = Options("local long = ('x'):rep(100000) while true do long:find('y', 1, true) end");
  options.limits.wall_ms = 1'300;
  std::vector<unsigned> reported;
  options.on_wait = [&](unsigned seconds) { reported.push_back(seconds); };
  EXPECT_FALSE(Evaluate(options));
  EXPECT_EQ(reported, std::vector<unsigned>{1});
}

TEST_P(EvaluateTest, DescribesWithoutPlanning) {
  EvaluationOptions options = Options("while true do end", "params = { n = muster.int {} },");
  options.task = PlanTask{EvaluationDepth::kParameters};
  const auto evaluation = Evaluate(options);
  ASSERT_TRUE(evaluation);
  EXPECT_EQ(evaluation->parameters.size(), 1U);
  EXPECT_TRUE(evaluation->plan.processes.empty());
}

TEST_P(EvaluateTest, GivesTheSamePlanAHundredTimes) {
  const EvaluationOptions options = Options(
      "local t = {} for k, v in pairs { c = 0.1, a = 1 / 3, b = 1e-7, [2] = 5, [true] = 6 } do t[#t + 1] = tostring(k) "
      ".. v end\n"
      "job:derive { t = t } job:env { B = 1.5, A = 2.5 } job:workers { count = 3, command = { 'x', t } }");
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    const auto evaluation = Evaluate(options);
    ASSERT_TRUE(evaluation);
    ids.insert(PlanId(evaluation->plan));
  }
  EXPECT_EQ(ids.size(), 1U);
}

TEST_P(EvaluateTest, GivesTheSamePlanUnderOtherLocalesOfTheCaller) {
  const EvaluationOptions options = Options("job:workers { count = 1, command = { 'x', 0.5, ('%.2f'):format(0.5) } }");
  std::set<std::string> ids;
  for (const char* locale : {"C", "C.UTF-8", "POSIX"}) {
    ::setenv("LC_ALL", locale, 1);
    const auto evaluation = Evaluate(options);
    ASSERT_TRUE(evaluation);
    ids.insert(PlanId(evaluation->plan));
  }
  ::unsetenv("LC_ALL");
  EXPECT_EQ(ids.size(), 1U);
}

TEST_P(EvaluateTest, IsIndependentOfTheCurrentFolder) {
  // The current folder and standard input have no effect.
  const std::filesystem::path before = std::filesystem::current_path();
  const EvaluationOptions options = Options("job:workers { count = 1, command = { 'x' } }");
  std::filesystem::current_path("/");
  EXPECT_TRUE(Evaluate(options));
  std::filesystem::current_path(before);
}

TEST_P(EvaluateTest, AcceptsValuesAsDeepAsOverridesAllow) {
  EvaluationOptions options =
      Options("job:workers { count = 1, command = { 'x' } }", "params = { l = muster.list {} },");
  Override deep;
  deep.kind = Override::Kind::kValue;
  deep.name = "l";
  for (const int levels : {30, 33, 64}) {
    deep.value = Value(1);
    for (int i = 0; i < levels; ++i) deep.value = Value(Value::List{deep.value});
    options.overrides = {deep};
    const auto evaluation = Evaluate(options);
    EXPECT_EQ(evaluation.has_value(), levels <= 32) << levels;
    if (evaluation) continue;
    EXPECT_EQ(evaluation.error().at(0).kind, "parameter_value") << evaluation.error().at(0).message;
  }
}

TEST_P(EvaluateTest, DropsPlacesInFilesThatWereNotRead) {
  const auto evaluation = Evaluate(Options("error('/etc/shadow:1: look', 0)"));
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().at(0).place, (Place{folder_ / "recipe.lua", 4}));
}

TEST_P(EvaluateTest, KeepsThePlacesInModules) {
  std::filesystem::create_directory(folder_ / "lib");
  Write("lib/m.lua", "\n\nerror('here')");
  const auto evaluation = Evaluate(Options("require 'lib.m'"));
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().at(0).place, (Place{folder_ / "lib/m.lua", 3}));
  EXPECT_EQ(evaluation.error().at(0).notes.at(0).place, (Place{folder_ / "recipe.lua", 4}));
}

TEST_P(EvaluateTest, StopsARecipeThatSendsEndlessRequests) {
  const auto evaluation = Evaluate(Options("while true do pcall(muster.here, 'nope') end"));
  ASSERT_FALSE(evaluation);
  EXPECT_EQ(evaluation.error().at(0).kind, "limit");
}

}  // namespace
}  // namespace muster::testing
