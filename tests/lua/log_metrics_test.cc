// Tests which metrics of a log a recipe and a sweep name, and mistakes that are refused.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

Evaluated WithMetrics(const std::string& metrics, const std::string& after = "") {
  return Evaluate({"local muster = require 'muster'\nlocal base = muster.recipe { name = 't',\nmetrics = " + metrics +
                   ",\nplan = function(p, job) job:workers { count = 1, command = { 'true' } } end }\n" +
                   (after.empty() ? "return base\n" : after)});
}

using Patterns = std::map<std::string, std::string>;

TEST(LogMetrics, ArePatternsByMetric) {
  const Evaluated evaluated =
      WithMetrics("{ acc = [[acc=(\\S+)]], stdout = { role = [[role=(\\d+)]] }, role = 'worker' }");
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.answer.metrics.patterns, (Patterns{{"acc", "acc=(\\S+)"}, {"role", "role=(\\d+)"}}));
  EXPECT_EQ(evaluated.answer.metrics.role, "worker");
  EXPECT_EQ(evaluated.answer.metrics_place, (Place{"recipe.lua", 3}));
}

TEST(LogMetrics, OfAnExtensionReplaceThoseOfTheSameName) {
  const Evaluated evaluated =
      WithMetrics("{ acc = 'acc=(.*)', loss = 'loss=(.*)' }",
                  "return base:extend { metrics = { acc = 'accuracy=(.*)', step = 'step=(.*)' } }\n");
  EXPECT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.answer.metrics.patterns,
            (Patterns{{"acc", "accuracy=(.*)"}, {"loss", "loss=(.*)"}, {"step", "step=(.*)"}}));
}

TEST(LogMetrics, ReportAllMistakes) {
  EXPECT_EQ(WithMetrics("{ acc = 7, loss = 'loss', role = 1, result = 'r.json' }").problems(),
            (Lines{"recipe.lua:2 error type: metrics: the pattern of acc must be a text with one group, got 7",
                   "recipe.lua:2 error type: metrics: the pattern of loss must be a text with one group, got \"loss\"",
                   "recipe.lua:2 error unknown_key: metrics: result is a field of a sweep's metrics, not of a recipe's",
                   "recipe.lua:2 error type: metrics: role must be the name of a role, got 1"}));
  EXPECT_EQ(WithMetrics("'acc'").problems(), Lines{"recipe.lua:2 error type: metrics must be a table, got \"acc\""});
}

TEST(LogMetrics, OfASweepHaveTheSameForm) {
  Request request{
      "local muster = require 'muster'\nreturn muster.sweep { name = 's', recipe = muster.recipe { name = 't', "
      "params = { x = muster.int { 1 } }, plan = function() end },\nspace = { x = { 1, 2 } }, metrics = { acc = "
      "'acc=(.*)', stdout = { loss = 'loss=(.*)' }, role = 'server', result = 'r.json' } }\n"};
  request.task = SweepTask();
  const Evaluated evaluated = Evaluate(request);
  EXPECT_EQ(evaluated.problems(), Lines{});
  const MetricsChoice metrics = evaluated.answer.sweep.value_or(SweepDescription()).metrics;
  EXPECT_EQ(metrics.patterns, (Patterns{{"acc", "acc=(.*)"}, {"loss", "loss=(.*)"}}));
  EXPECT_EQ(metrics.role, "server");
  EXPECT_EQ(metrics.result_file, "r.json");
}

}  // namespace
}  // namespace muster::testing
