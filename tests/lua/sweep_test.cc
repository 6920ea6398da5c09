// Tests parsing of muster.sweep { … }, and mistakes that are refused.
#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "space/space.h"

namespace muster::testing {
namespace {

// A sweep over a small recipe; its fields begin on line 8.
std::string Sweep(const std::string& fields) {
  return "local muster = require \"muster\"\n"
         "local recipe = muster.recipe { name = \"t\",\n"
         "  params = { lr = muster.float { 0.1, above = 0 }, layers = muster.int { 4, one_of = { 1, 2, 4, 8 } }, note "
         "= muster.string { \"\" },\n"
         "    memory = muster.bytes { \"1GiB\" }, key = muster.secret { from_env = \"KEY\" }, sizes = muster.list { { "
         "1 } },\n"
         "    optimizer = muster.variant { \"adam\", one_of = { adam = { beta = muster.float { 0.9 } }, sgd = {} } } "
         "},\n"
         "  plan = function(p, job) job:workers { count = 1, command = { \"true\" } } end }\n"
         "return muster.sweep { recipe = recipe,\n" +
         fields + " }\n";
}

Evaluated Described(const std::string& fields) {
  Request request{Sweep(fields)};
  request.task = SweepTask();
  return Evaluate(request);
}

SweepDescription DescriptionOf(const std::string& fields) {
  const Evaluated evaluated = Described(fields);
  EXPECT_EQ(evaluated.problems(), Lines{});
  return evaluated.answer.sweep.value_or(SweepDescription());
}

Lines PointsOf(const std::string& space) {
  const SweepDescription sweep = DescriptionOf("space = " + space);
  const auto compiled = CompiledSpace::Of(sweep.space);
  Lines points;
  if (!compiled || !compiled->size()) return points;
  for (std::uint64_t i = 0; i < *compiled->size(); ++i) points.push_back(PointText(compiled->At(i)));
  return points;
}

Lines ProblemsOfSweep(const std::string& fields) { return Described(fields).problems(); }

TEST(SweepFile, SpacesAreTablesWithTheirStructure) {
  EXPECT_EQ(PointsOf("{ lr = { 0.5, 0.25 }, layers = 2 }"), (Lines{"layers=2, lr=0.5", "layers=2, lr=0.25"}));
  EXPECT_EQ(PointsOf("muster.zip { layers = { 1, 2 }, lr = { 0.5, 0.25 } }"),
            (Lines{"layers=1, lr=0.5", "layers=2, lr=0.25"}));
  EXPECT_EQ(PointsOf("muster.union { { layers = { 1, 2 } }, { cluster = { hosts = 3 } } }"),
            (Lines{"layers=1", "layers=2", "hosts=3"}));
  EXPECT_EQ(PointsOf("{ optimizer = { variant = { \"adam\", \"sgd\" } }, muster.when({ optimizer = \"adam\" }, "
                     "{ optimizer = { beta = { 0.5, 0.75 } } }) }"),
            (Lines{"optimizer=adam, optimizer.beta=0.5", "optimizer=adam, optimizer.beta=0.75", "optimizer=sgd"}));
}

TEST(SweepFile, WeighsTheSpacesOfUnions) {
  const auto weights = [](const std::string& space) { return DescriptionOf("space = " + space).space.weights; };
  using Weights = std::vector<double>;
  EXPECT_EQ(weights("muster.union { { layers = { 1, 2 } }, { cluster = { hosts = 3 } } }"), (Weights{1, 1}));
  EXPECT_EQ(weights("muster.union { { layers = { 1, 2 } }, { cluster = { hosts = 3 } }, weights = { 3, 0.5 } }"),
            (Weights{3, 0.5}));
  const SweepDescription nested = DescriptionOf(
      "space = { lr = 1, muster.union { { layers = 1 }, muster.union { { layers = 2 }, { layers = 4 } }, "
      "weights = { 1, 2 } } }");
  EXPECT_EQ(nested.space.parts.at(1).weights, (Weights{1, 2}));
  EXPECT_EQ(nested.space.parts.at(1).parts.at(1).weights, (Weights{1, 1}));
  EXPECT_EQ(ProblemsOfSweep("space = muster.union { { layers = 1 }, { layers = 2 }, weights = 3 }"),
            Lines{"recipe.lua:8 error type: union: weights must be a list of numbers, one for each space, got 3"});
  EXPECT_EQ(
      ProblemsOfSweep("space = muster.union { { layers = 1 }, { layers = 2 }, weights = { 1, \"2\" } }"),
      Lines{"recipe.lua:8 error type: union: weights must be a list of numbers, one for each space, got {1, \"2\"}"});
}

TEST(SweepFile, ValuesHaveTheTypesOfTheirParameters) {
  EXPECT_EQ(PointsOf("{ memory = { \"1GiB\", \"2KiB\" } }"), (Lines{"memory=1073741824", "memory=2048"}));
  EXPECT_EQ(PointsOf("{ memory = muster.range(\"1KiB\", \"2KiB\", 512) }"),
            (Lines{"memory=1024", "memory=1536", "memory=2048"}));
  EXPECT_EQ(PointsOf("{ sizes = { { 1, 2 }, { 3 } } }"), (Lines{"sizes={1, 2}", "sizes={3}"}));
  const SweepDescription floats = DescriptionOf("space = { lr = muster.range(1, 2) }");
  EXPECT_NE(CompiledSpace::Of(floats.space)->At(0).at("lr").AsDouble(), nullptr);
}

TEST(SweepFile, HasObjectiveBudgetAndOtherFields) {
  const SweepDescription sweep = DescriptionOf(
      "name = \"lr\", doc = \"why\", space = { lr = muster.log_uniform(1e-4, 1) },\n"
      "sampler = muster.sobol { seed = 7, trials = 8, scramble = false }, objective = muster.maximize \"accuracy\",\n"
      "early_stop = muster.asha { resource = \"epoch\", min = 1, max = 9, eta = 3 },\n"
      "metrics = { stdout = { accuracy = [[acc (\\S+)]] }, role = \"worker\", result = \"r.json\" },\n"
      "retry = { max = 2, on = { \"timeout\", \"host_lost\" }, patterns = { oom_device = \"OOM\" } },\n"
      "budget = { devices = 4, time = \"1h\", trials = 6, slots = 2, per_device = 3 }, where = function() return true "
      "end");
  EXPECT_EQ(sweep.name, "lr");
  EXPECT_EQ(sweep.doc, "why");
  EXPECT_EQ(sweep.sampler.kind, SamplerChoice::Kind::kSobol);
  EXPECT_EQ(sweep.sampler.seed, 7U);
  EXPECT_EQ(sweep.sampler.trials, 8U);
  EXPECT_FALSE(sweep.sampler.scramble);
  ASSERT_TRUE(sweep.objective && sweep.early_stop);
  EXPECT_TRUE(sweep.objective->maximize);
  EXPECT_EQ(sweep.objective->metric, "accuracy");
  EXPECT_EQ(sweep.early_stop->resource, "epoch");
  EXPECT_EQ(sweep.early_stop->eta, 3);
  EXPECT_EQ(sweep.metrics.patterns.at("accuracy"), "acc (\\S+)");
  EXPECT_EQ(sweep.metrics.role, "worker");
  EXPECT_EQ(sweep.metrics.result_file, "r.json");
  EXPECT_EQ(sweep.retry.max, 2U);
  EXPECT_EQ(sweep.retry.on, (std::vector{TrialClass::kTimeout, TrialClass::kHostLost}));
  EXPECT_EQ(sweep.retry.patterns.at(TrialClass::kOomDevice), "OOM");
  EXPECT_EQ(sweep.budget.time_ms, 3'600'000U);
  EXPECT_EQ(sweep.budget.devices, 4U);
  EXPECT_EQ(sweep.budget.trials, 6U);
  EXPECT_EQ(sweep.budget.slots, 2U);
  EXPECT_EQ(sweep.budget.per_device, 3U);
  EXPECT_TRUE(sweep.has_where);
}

TEST(SweepFile, ReportsAllMistakesAtOnceWithTheirLines) {
  EXPECT_EQ(
      ProblemsOfSweep("space = muster.product {\n learning = { 1 }, layers = muster.choice { 3 },\n"
                      " note = muster.uniform(0, 1), lr = muster.uniform(0, 1) },\n"
                      "retry = { on = { \"timeoutt\" } }, budjet = {}"),
      (Lines{"recipe.lua:7 error unknown_key: a sweep has no option \"budjet\"",
             "recipe.lua:9 error parameter_value: parameter layers must be one of 1, 2, 4, 8, got 3 (from the sweep)",
             "recipe.lua:8 error unknown_parameter: the recipe has no parameter \"learning\" (from the sweep point)",
             "recipe.lua:10 error parameter_value: parameter lr = 0 is out of range (from the sweep)",
             "recipe.lua:10 error space: axis note: uniform is of numbers, and the parameter is a string",
             "recipe.lua:7 error enum: retry: \"timeoutt\" is not a failure class"}));
}

TEST(SweepFile, RefusesSecretsAndFractionsOfWholeNumbers) {
  EXPECT_EQ(ProblemsOfSweep("space = { key = { \"a\", \"b\" } }"),
            Lines{"recipe.lua:7 error secret: key is a secret and cannot be swept: the values of trials are stored"});
  EXPECT_EQ(
      ProblemsOfSweep("space = { memory = muster.uniform(1, 2) }"),
      Lines{"recipe.lua:8 error space: axis memory: uniform gives numbers with fractions, and the parameter is of "
            "type bytes"});
}

TEST(SweepFile, IsItsRecipeWithTheFixedValues) {
  const Evaluated evaluated = Evaluate({Sweep("fixed = { layers = 8, hosts = 2 }, space = { lr = { 1 } }")});
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.plan().params.at("layers"), Value(8));
  EXPECT_EQ(evaluated.plan().hosts.size(), 2U);
  EXPECT_EQ(Evaluate({Sweep("fixed = { layer = 8 }, space = { lr = { 1 } }")}).problems(),
            Lines{"recipe.lua:7 error unknown_parameter: the recipe has no parameter \"layer\" (from the extension)"});
}

TEST(SweepFile, IsNotARecipe) {
  Request request{Recipe("job:workers { count = 1, command = { \"true\" } }")};
  request.task = SweepTask();
  EXPECT_EQ(Evaluate(request).problems(), Lines{"recipe.lua error no_sweep: the file returns a recipe, and no sweep"});
}

// Axes of the command line over a recipe.
Lines PointsOfWords(const std::vector<std::pair<std::string, std::string>>& grids) {
  Request request{Sweep("space = {}")};
  request.text.replace(request.text.find("return muster.sweep"), std::string::npos, "return recipe\n");
  Space product;
  for (const auto& [name, text] : grids) {
    Space axis;
    axis.kind = Space::Kind::kAxis;
    axis.axis.name = name;
    axis.axis.values = {Value(text)};
    product.parts.push_back(axis);
  }
  request.task = SweepTask{product};
  const Evaluated evaluated = Evaluate(request);
  if (!evaluated.answer.sweep || !evaluated.answer.diagnostics.empty()) return evaluated.problems();
  const auto space = CompiledSpace::Of(evaluated.answer.sweep->space);
  Lines points;
  for (const Axis& axis : space->continuous()) points.push_back(axis.name + " in " + AxisText(axis));
  for (std::uint64_t i = 0; i < space->discrete_size(); ++i) points.push_back(PointText(space->DiscreteAt(i)));
  return points;
}

TEST(SweepArguments, AreParsedByTheParametersTypes) {
  EXPECT_EQ(
      PointsOfWords({{"layers", "1,2"}, {"memory", "1KiB,2KiB"}}),
      (Lines{"layers=1, memory=1024", "layers=1, memory=2048", "layers=2, memory=1024", "layers=2, memory=2048"}));
  EXPECT_EQ(PointsOfWords({{"note", "a=b,1..8"}}), (Lines{"note=a=b", "note=1..8"}));
  EXPECT_EQ(PointsOfWords({{"sizes", "[1,2],[3]"}}), (Lines{"sizes={1, 2}", "sizes={3}"}));
  EXPECT_EQ(PointsOfWords({{"beta", "0.5,0.75"}}), (Lines{"optimizer.beta=0.5", "optimizer.beta=0.75"}));
}

TEST(SweepArguments, HaveRangesOfNumbers) {
  EXPECT_EQ(PointsOfWords({{"hosts", "1..3"}}), (Lines{"hosts=1", "hosts=2", "hosts=3"}));
  EXPECT_EQ(PointsOfWords({{"lr", "0.5..1.5:0.5"}}), (Lines{"lr=0.5", "lr=1", "lr=1.5"}));
  EXPECT_EQ(PointsOfWords({{"lr", "1e-3..1:log"}}), (Lines{"lr in log_uniform(0.001, 1)", ""}));
  EXPECT_EQ(PointsOfWords({{"lr", "1..x"}}).size(), 1U);
}

}  // namespace
}  // namespace muster::testing
