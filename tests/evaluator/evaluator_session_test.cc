// Tests an evaluator that makes several plans: each equals that of a new evaluator.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "evaluator/evaluator.h"
#include "evaluator/small_recipes.h"
#include "plan/text/plan_text.h"

namespace muster::testing {
namespace {

class EvaluatorSession : public ::testing::Test, public SmallRecipes {};

void ExpectSame(const Result<Evaluation>& a, const Result<Evaluation>& b) {
  ASSERT_EQ(a.has_value(), b.has_value());
  if (!a) {
    EXPECT_EQ(a.error(), b.error());
    return;
  }
  EXPECT_EQ(a->plan, b->plan);
  EXPECT_EQ(a->parameters, b->parameters);
  EXPECT_EQ(a->provenance, b->provenance);
  EXPECT_EQ(a->origins, b->origins);
  EXPECT_EQ(a->warnings, b->warnings);
  EXPECT_EQ(a->inputs, b->inputs);
  EXPECT_EQ(a->sources, b->sources);
}

// Compares errors and warnings as well: those of the recipe's top level are repeated with every plan.
TEST(EvaluatorSessions, AnswerForEveryGoldenRecipeAsANewEvaluatorDoes) {
  const std::vector<std::string> files = RecipesWithGoldens();
  ASSERT_GT(files.size(), 50U);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const EvaluationOptions options = OptionsOf(file);
    const auto fresh = EvaluateRecipe(options);
    Evaluator evaluator;
    ExpectSame(evaluator.Evaluate(options), fresh);
    ExpectSame(evaluator.Evaluate(options), fresh);
  }
}

TEST_F(EvaluatorSession, PlansWithTheParametersOfEachRequest) {
  const EvaluationOptions options =
      Recipe("job:derive { twice = 2 * p.n } job:workers { count = p.n, command = { 'x' } }");
  Evaluator evaluator;
  for (const std::int64_t n : {3, 1, 7}) {
    const auto evaluation = evaluator.Evaluate(With(options, n));
    ASSERT_TRUE(evaluation);
    EXPECT_EQ(evaluation->plan.processes.size(), static_cast<std::size_t>(n));
    EXPECT_EQ(evaluation->plan.derived.at("twice"), Value(2 * n));
  }
}

TEST_F(EvaluatorSession, ContinuesAfterAPlanThatWasRefused) {
  const EvaluationOptions options =
      Recipe("job:check(p.n < 3, 'too many') job:workers { count = p.n, command = { 'x' } }");
  Evaluator evaluator;
  ExpectSame(evaluator.Evaluate(With(options, 5)), EvaluateRecipe(With(options, 5)));
  ExpectSame(evaluator.Evaluate(With(options, 2)), EvaluateRecipe(With(options, 2)));
}

TEST_F(EvaluatorSession, ContinuesAfterAPlanThatExceededItsLimits) {
  for (const char* endless :
       {"while true do end", "local t = { 'x' } while true do t[#t + 1] = ('x'):rep(1e6) .. #t end"}) {
    SCOPED_TRACE(endless);
    const EvaluationOptions options =
        Recipe("if p.n == 2 then " + std::string(endless) + " end job:workers { count = p.n, command = { 'x' } }");
    Evaluator evaluator;
    EXPECT_TRUE(evaluator.Evaluate(With(options, 1)));
    const auto refused = evaluator.Evaluate(With(options, 2));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().at(0).kind, "limit");
    ExpectSame(evaluator.Evaluate(With(options, 3)), EvaluateRecipe(With(options, 3)));
  }
}

TEST_F(EvaluatorSession, StartsAnotherProcessAfterOneThatWasKilled) {
  EvaluationOptions options = Recipe(
      "if p.n == 2 then local _ = ('a'):rep(3e4):find(('.-'):rep(30) .. 'b') end job:workers { count = p.n, command = "
      "{ 'x' } }");
  options.limits.wall_ms = 500;
  Evaluator evaluator;
  EXPECT_TRUE(evaluator.Evaluate(With(options, 1)));
  EXPECT_FALSE(evaluator.Evaluate(With(options, 2)));
  options.limits.wall_ms = 10'000;
  EXPECT_TRUE(evaluator.Evaluate(With(options, 3)));
}

TEST_F(EvaluatorSession, AppliesTheMemoryLimitToEachPlanSeparately) {
  // Fifty times 20 MB of garbage exceed the memory limit of an interpreter.
  const EvaluationOptions options = Recipe(
      "local t = {} for i = 1, 20 do t[i] = ('x'):rep(1e6) .. p.n .. i end job:workers { count = 1, command = { 'x' } "
      "}");
  Evaluator evaluator;
  for (std::int64_t n = 1; n <= 50; ++n) ASSERT_TRUE(evaluator.Evaluate(With(options, n))) << n;
}

#ifndef MUSTER_SANITIZED  // sanitizers reserve terabytes of address space
// The interpreter has one text, and the plan forty copies of it.
TEST_F(EvaluatorSession, SaysThatThePlansValuesTakeTooMuchMemory) {
  EvaluationOptions options = Recipe(
      "local text, all = ('x'):rep(2e7), {} for i = 1, 40 do all['V' .. i] = text end job:env(all)\n"
      "job:workers { count = 1, command = { 'x' } }");
  options.limits.memory_bytes = std::uint64_t{700} << 20;
  options.limits.wall_ms = 120'000;  // an emulated processor copies slowly
  options.limits.cpu_seconds = 120;
  const auto refused = EvaluateRecipe(With(options, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().message, "the plan's values take more memory than an evaluation may use");
}
#endif

TEST_F(EvaluatorSession, ReadsAFileOnce) {
  const EvaluationOptions options =
      Recipe("job:workers { count = 1, command = { muster.read_json('facts.json').word } }");
  Write("facts.json", R"({"word": "before"})");
  Evaluator evaluator;
  const auto first = evaluator.Evaluate(options);
  Write("facts.json", R"({"word": "after"})");
  const auto second = evaluator.Evaluate(options);
  ASSERT_TRUE(first);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->plan, second->plan);
  EXPECT_EQ(first->inputs, second->inputs);
}

TEST_F(EvaluatorSession, KeepsFilesShippedByTheRecipesTopLevel) {
  Write("conf.json", "{}");
  Write("lib.lua", "local muster = require 'muster' return muster.file 'other.json'");
  Write("other.json", "{}");
  const EvaluationOptions options = Recipe("job:workers { count = p.n, command = { 'x', conf, require 'lib' } }",
                                           "local conf = muster.file 'conf.json'");
  Evaluator evaluator;
  for (int i = 0; i < 3; ++i) {
    const auto evaluation = evaluator.Evaluate(options);
    ASSERT_TRUE(evaluation);
    EXPECT_EQ(evaluation->plan.files.size(), 2U) << "plan " << i;
    EXPECT_EQ(evaluation->plan, EvaluateRecipe(options)->plan);
  }
}

TEST_F(EvaluatorSession, ReportsAMissingModuleWithEveryPlan) {
  const EvaluationOptions options = Recipe("require 'gone' job:workers { count = 1, command = { 'x' } }");
  Evaluator evaluator;
  ExpectSame(evaluator.Evaluate(options), EvaluateRecipe(options));
  ExpectSame(evaluator.Evaluate(options), EvaluateRecipe(options));
}

TEST_F(EvaluatorSession, ProtectsBuiltInListsFromChanges) {
  const EvaluationOptions options = Recipe(
      "local modes = context.ParallelMode.MODE_LIST modes[#modes + 1] = 'x'\n"
      "job:workers { count = #context.ParallelMode.MODE_LIST, command = { 'x' } }",
      "local context = require 'muster.context'");
  Evaluator evaluator;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(evaluator.Evaluate(options)->plan.processes.size(), 5U);
}

// Documented in the header for recipes whose plan function is not pure.
TEST_F(EvaluatorSession, KeepsTheStateOfAnImpurePlanFunction) {
  const EvaluationOptions options =
      Recipe("kept = kept + 1 job:workers { count = kept, command = { 'x' } }", "local kept = 0");
  Evaluator evaluator;
  EXPECT_EQ(evaluator.Evaluate(options)->plan.processes.size(), 1U);
  EXPECT_EQ(evaluator.Evaluate(options)->plan.processes.size(), 2U);
  EXPECT_EQ(EvaluateRecipe(options)->plan.processes.size(), 1U);
}

Point PointOf(std::int64_t n) { return {{"n", Value(n)}}; }

TEST_F(EvaluatorSession, ReturnsTheIdsOfSeveralPlansAtOnce) {
  const EvaluationOptions options = Recipe("job:workers { count = p.n, command = { 'x' } }");
  Evaluator evaluator;
  const auto ids = evaluator.BeginPlanIds(options, {PointOf(3), PointOf(1), PointOf(3)})->Await();
  ASSERT_TRUE(ids);
  ASSERT_EQ(ids->size(), 3U);
  EXPECT_EQ(ids->at(0), PlanId(EvaluateRecipe(With(options, 3))->plan));
  EXPECT_EQ(ids->at(1), PlanId(EvaluateRecipe(With(options, 1))->plan));
  EXPECT_EQ(ids->at(2), ids->at(0));
}

TEST_F(EvaluatorSession, ReturnsIdsUpToTheFirstImpossiblePlan) {
  const EvaluationOptions options =
      Recipe("job:check(p.n < 3, 'too many') job:workers { count = p.n, command = { 'x' } }");
  Evaluator evaluator;
  const auto ids = evaluator.BeginPlanIds(options, {PointOf(1), PointOf(2), PointOf(3), PointOf(1)})->Await();
  ASSERT_TRUE(ids);
  EXPECT_EQ(ids->size(), 2U);
  const auto none = evaluator.BeginPlanIds(options, {PointOf(3), PointOf(1)})->Await();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().front().message, "too many");
  EXPECT_EQ(none.error(), EvaluateRecipe(With(options, 3)).error());
}

// The caller gets the first ids without waiting for all of them.
TEST_F(EvaluatorSession, ReturnsFewerIdsIfPlansTakeLong) {
  const EvaluationOptions options = Recipe("for i = 1, 2000000 do end job:workers { count = 1, command = { 'x' } }");
  Evaluator evaluator;
  const auto ids = evaluator.BeginPlanIds(options, std::vector<Point>(1000, PointOf(1)))->Await();
  ASSERT_TRUE(ids) << ids.error().front().message;
  EXPECT_GE(ids->size(), 1U);
  EXPECT_LT(ids->size(), 1000U);
}

TEST_F(EvaluatorSession, DescribesAJobWithAllItsProblemsWithoutPlacingProcesses) {
  EvaluationOptions options = Recipe(
      "job:derive { half = muster.exact_div { n = p.n, by = { two = 2 } } }\n"
      "job:check(p.n < 9, 'too many') job:workers { count = p.n, command = { 'x' } }");
  options.task = PlanTask{EvaluationDepth::kJob};
  Evaluator evaluator;
  const auto described = evaluator.Evaluate(With(options, 4));
  ASSERT_TRUE(described);
  EXPECT_EQ(described->plan.derived.at("half"), Value(std::int64_t{2}));
  EXPECT_EQ(described->origins.divisions.size(), 1U);
  EXPECT_TRUE(described->plan.processes.empty());
  const auto refused = evaluator.Evaluate(With(options, 10));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().at(0).message, "too many");
  EXPECT_FALSE(evaluator.Evaluate(With(options, 5)));
}

}  // namespace
}  // namespace muster::testing
