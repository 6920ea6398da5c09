// Tests job:activate, and the sources of variables.
#include <gtest/gtest.h>

#include "lua/evaluated.h"

namespace muster::testing {
namespace {

using Kind = ActivationStep::Kind;
using Steps = std::vector<ActivationStep>;

constexpr const char* kWorkers =
    " job:workers { count = 3, command = { 'x' }, each = function(process)\n"
    "if process.index == 2 then process.env.LATE = 'each' end end, env = { A = 'role' } }";

TEST(Activate, IsExecutedInTheOrderOfKindsAndCalls) {
  EXPECT_EQ(PlanOf(std::string("job:activate { conda = 'train', module = { 'cuda/12', 'gcc' }, source = '/a.sh' }\n"
                               "job:activate { source = { '/b c.sh', '/d.sh' }, conda = '/envs/x' }") +
                   kWorkers)
                .activation,
            (Steps{{Kind::kSource, "/a.sh"},
                   {Kind::kModule, "cuda/12"},
                   {Kind::kModule, "gcc"},
                   {Kind::kConda, "train"},
                   {Kind::kSource, "/b c.sh"},
                   {Kind::kSource, "/d.sh"},
                   {Kind::kConda, "/envs/x"}}));
}

TEST(Activate, SkipsFalseSteps) {
  EXPECT_EQ(PlanOf(std::string("job:activate { module = { false, 'gcc' }, conda = false }") + kWorkers).activation,
            (Steps{{Kind::kModule, "gcc"}}));
  EXPECT_EQ(PlanOf(kWorkers).activation, Steps{});
}

TEST(Activate, RefusesInvalidSteps) {
  const std::pair<const char*, const char*> cases[] = {
      {"{ source = 'set_env.sh' }", "activation"},
      {"{ source = '' }", "activation"},
      {"{ source = job.run_dir .. '/x' }", "activation"},
      {"{ source = 7 }", "type"},
      {"{ source = { '/a', {} } }", "type"},
      {"{ module = '' }", "activation"},
      {"{ module = '--force' }", "activation"},
      {"{ module = { a = 'b' } }", "type"},
      {"{ module = { [2] = 'b' } }", "type"},
      {"{ module = 'a\\0b' }", "text"},
      {"{ conda = { 'a' } }", "type"},
      {"{ conda = '\\255' }", "text"},
      {"{}", "missing"},
      {"{ modules = 'cuda' }", "unknown_key"},
      {"'cuda'", "type"},
  };
  for (const auto& [steps, kind] : cases) {
    const Evaluated evaluated = Evaluate({Recipe("job:activate " + std::string(steps) + kWorkers)});
    ASSERT_FALSE(evaluated.answer.diagnostics.empty()) << steps;
    EXPECT_EQ(evaluated.answer.diagnostics[0].kind, kind) << steps;
    EXPECT_EQ(evaluated.answer.diagnostics[0].place, (Place{"recipe.lua", kBodyLine})) << steps;
  }
}

TEST(Activate, IsNotAvailableForOneProcess) {
  const Lines problems =
      ProblemsOf("job:workers { command = { 'x' }, each = function() job:activate { conda = 'a' } end }");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems[0].find("error order: job:activate cannot be called inside each"), std::string::npos);
}

TEST(Provenance, IsThatOfTheFirstProcessOfARoleByDefault) {
  const Evaluated first = Evaluate({Recipe(std::string("job:env { A = 'job', B = 'job' }") + kWorkers)});
  const auto& worker = first.answer.provenance.at("worker");
  EXPECT_EQ(worker.at("A").layer, Layer::kRole);
  EXPECT_EQ(worker.at("B"), (VariableSource{Layer::kJob, {"recipe.lua", kBodyLine}}));
  EXPECT_FALSE(worker.contains("LATE"));

  Request request{Recipe(std::string("job:env { A = 'job', B = 'job' }") + kWorkers, "framework = 'mindspore',")};
  request.task = PlanTask{.explain = "worker:2"};
  const Evaluated third = Evaluate(request);
  const auto& late = third.answer.provenance.at("worker");
  EXPECT_EQ(late.at("LATE"), (VariableSource{Layer::kEach, {"recipe.lua", kBodyLine + 1}}));
  EXPECT_EQ(late.at("B").layer, Layer::kJob);
  EXPECT_EQ(late.at("RANK_ID").layer, Layer::kContract);
  EXPECT_EQ(late.at("OMPI_*").layer, Layer::kContract) << "who removes is told as well";
  EXPECT_FALSE(third.answer.provenance.at("scheduler").contains("LATE"));
}

}  // namespace
}  // namespace muster::testing
