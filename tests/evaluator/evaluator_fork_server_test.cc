// Tests evaluators forked by a fork server: each behaves like a separately started one, and nothing blocks.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/system/clock.h"
#include "evaluator/evaluator.h"
#include "evaluator/evaluator_process.h"
#include "evaluator/small_recipes.h"

namespace muster::testing {
namespace {

class EvaluatorForkServerTest : public ::testing::Test, public SmallRecipes {
 protected:
  ~EvaluatorForkServerTest() override {
    fork_server_.reset();
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD) << "a child was left behind";
  }

  PendingEvaluation Begin(const EvaluationOptions& options) {
    if (!fork_server_) fork_server_ = std::make_shared<EvaluatorForkServer>(StartOf(options));
    if (!files_) files_.emplace(*RecipeFiles::Open(options.recipe_file));
    return *Evaluator(fork_server_, files_->Again()).Begin(options, true);
  }
  Result<Evaluation> Evaluate(const EvaluationOptions& options) { return Begin(options).Await(); }

  std::shared_ptr<EvaluatorForkServer> fork_server_;
  std::optional<RecipeFiles> files_;
};

constexpr const char* kWorkers = " job:workers { count = p.n, command = { 'x' } }";

TEST_F(EvaluatorForkServerTest, AnswersForEveryGoldenRecipeAsASeparateEvaluatorDoes) {
  const std::vector<std::string> files = RecipesWithGoldens();
  ASSERT_GT(files.size(), 50U);
  EvaluationOptions options;
  options.program = EvaluatorProgram();
  const auto with_schema = std::make_shared<EvaluatorForkServer>(StartOf(options), true);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    options.recipe_file = file;
    files_.emplace(*RecipeFiles::Open(file));
    const auto whole = EvaluateRecipe(options);
    for (const auto& forked :
         {Evaluate(options), Evaluator(with_schema, files_->Again()).Begin(options, true)->Await()}) {
      ASSERT_EQ(forked.has_value(), whole.has_value());
      if (!whole) {
        EXPECT_EQ(forked.error(), whole.error());
        continue;
      }
      EXPECT_EQ(forked->plan, whole->plan);
      EXPECT_EQ(forked->parameters, whole->parameters);
      EXPECT_EQ(forked->provenance, whole->provenance);
      EXPECT_EQ(forked->origins, whole->origins);
      EXPECT_EQ(forked->warnings, whole->warnings);
      EXPECT_EQ(forked->inputs, whole->inputs);
      EXPECT_EQ(forked->sources, whole->sources);
      EXPECT_EQ(forked->lockdown, whole->lockdown);
    }
  }
}

TEST_F(EvaluatorForkServerTest, CarriesNoStateFromOnePlanToTheNext) {
  const EvaluationOptions options = Recipe(
      "kept = kept + 1 shared = (shared or 0) + 1 string.mine = (string.mine or 0) + 1\n"
      "job:workers { count = kept + shared + (string.mine or 0), command = { 'x' } }",
      "local kept = 0");
  const auto whole = EvaluateRecipe(options);
  for (int i = 0; i < 5; ++i) {
    const auto forked = Evaluate(options);
    ASSERT_EQ(forked.has_value(), whole.has_value());
    if (whole) {
      EXPECT_EQ(forked->plan, whole->plan) << i;
    } else {
      EXPECT_EQ(forked.error(), whole.error()) << i;
    }
  }
  const EvaluationOptions counting =
      Recipe("kept = kept + 1 job:workers { count = kept, command = { 'x' } }", "local kept = 0");
  files_.reset();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Evaluate(counting)->plan.processes.size(), 1U) << i;
}

TEST_F(EvaluatorForkServerTest, ForksManyEvaluatorsAtOnce) {
  const EvaluationOptions options = Recipe(kWorkers);
  std::vector<PendingEvaluation> pending;
  for (std::int64_t n = 1; n <= 40; ++n) pending.push_back(Begin(With(options, n)));
  std::size_t n = 40;
  for (auto evaluation = pending.rbegin(); evaluation != pending.rend(); ++evaluation, --n) {
    const auto done = evaluation->Await();
    ASSERT_TRUE(done);
    EXPECT_EQ(done->plan.processes.size(), n);
  }
}

TEST_F(EvaluatorForkServerTest, DoesNotBlockOnAnEndlessEvaluation) {
  EvaluationOptions options = Recipe("while true do end");
  options.limits.wall_ms = 300;
  PendingEvaluation endless = Begin(options);
  files_.reset();
  const auto quick = Evaluate(Recipe(kWorkers));
  EXPECT_TRUE(quick);
  std::optional<Result<Evaluation>> result;
  while (!(result = endless.Continue())) {
    const std::uint64_t now = MonotonicNowNs();
    pollfd ready{endless.fd(), POLLIN, 0};
    if (now < endless.deadline_ns()) ::poll(&ready, 1, static_cast<int>((endless.deadline_ns() - now) / 1'000'000) + 1);
  }
  ASSERT_FALSE(*result);
  EXPECT_EQ(result->error().at(0).kind, "limit");
  EXPECT_NE(result->error().at(0).message.find("within 300 ms"), std::string::npos);
}

TEST_F(EvaluatorForkServerTest, AnswersQuestionsBehindAnyNumberOfPrintedLines) {
  // Lines need no reply: while the parent is busy with another evaluator, many of them and a question come together.
  Write("data", "");
  const EvaluationOptions options = Recipe(
      "for lines = 90, 110 do for _ = 1, lines do print 'x' end muster.here 'data' end\n"
      "job:workers { count = 1, command = { 'x' } }");
  files_.reset();
  std::vector<PendingEvaluation> pending;
  for (int i = 0; i < 8; ++i) pending.push_back(Begin(options));
  while (!pending.empty()) {
    for (auto evaluation = pending.begin(); evaluation != pending.end();) {
      if (const auto result = evaluation->Continue()) {
        EXPECT_TRUE(*result) << result->error().at(0).message;
        evaluation = pending.erase(evaluation);
        continue;
      }
      pollfd ready{evaluation->fd(), POLLIN, 0};
      ASSERT_EQ(::poll(&ready, 1, 20'000), 1) << "a question has got no reply";
      ++evaluation;
    }
  }
}

TEST_F(EvaluatorForkServerTest, EnforcesEachLimitAndReportsTheLastLineReached) {
  const struct {
    const char* body;
    const char* message;
  } cases[] = {
      {"local t = { 'x' } while true do t[#t + 1] = ('x'):rep(1e6) .. #t end", "MiB of memory"},
      {"local _ = ('a'):rep(3e4):find(('.-'):rep(30) .. 'b')", "did not finish within"},
      {"while true do pcall(muster.here, 'nope') end", "requested more than"},
  };
  for (const auto& test : cases) {
    SCOPED_TRACE(test.body);
    EvaluationOptions options = Recipe(test.body);
    options.limits.wall_ms = 120'000;
    options.limits.cpu_seconds = 120;
    if (std::string(test.message).find("within") != std::string::npos) options.limits.wall_ms = 400;
    files_.reset();
    const auto refused = Evaluate(options);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().at(0).kind, "limit");
    EXPECT_NE(refused.error().at(0).message.find(test.message), std::string::npos) << refused.error().at(0).message;
    EXPECT_EQ(refused.error().at(0).place.file, options.recipe_file);
  }
  EvaluationOptions options = Recipe("local _ = ('a'):rep(3e4):find(('.-'):rep(30) .. 'b')");
  options.limits.cpu_seconds = 1;
  options.limits.wall_ms = 120'000;  // on a busy machine that second takes long
  files_.reset();
  const auto refused = Evaluate(options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().at(0).message.find("of processor time"), std::string::npos);
  EXPECT_EQ(refused.error().at(0).place.line, 5U);
  files_.reset();
  EXPECT_TRUE(Evaluate(Recipe(kWorkers))) << "the stem is none the worse for it";
}

TEST_F(EvaluatorForkServerTest, KeepsTheRecipeAsFirstRead) {
  Write("lib.lua", "return 'before'");
  const EvaluationOptions options = Recipe("job:workers { count = 1, command = { require 'lib' } }");
  const auto before = Evaluate(options);
  Write("lib.lua", "return 'after'");
  Write("recipe.lua", "return nil");
  const auto after = Evaluate(options);
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->plan, before->plan);
  EXPECT_EQ(after->inputs, before->inputs);
  EXPECT_EQ(after->inputs.size(), 2U);
}

TEST_F(EvaluatorForkServerTest, RecordsTheInputsOfEachPlanSeparately) {
  Write("a.lua", "return 'a'");
  Write("b.lua", "return 'b'");
  const EvaluationOptions options = Recipe("job:workers { count = 1, command = { require(p.n == 1 and 'a' or 'b') } }");
  EXPECT_EQ(Evaluate(With(options, 1))->inputs.at(1).name, "a.lua");
  EXPECT_EQ(Evaluate(With(options, 2))->inputs.at(1).name, "b.lua");
  EXPECT_EQ(Evaluate(With(options, 2))->inputs.size(), 2U);
}

TEST_F(EvaluatorForkServerTest, IsReplacedAfterItIsKilled) {
  const EvaluationOptions options = Recipe(kWorkers);
  ASSERT_TRUE(Evaluate(options));
  for (int i = 0; i < 5; ++i) {  // the last ones run without a fork server
    const pid_t pid = fork_server_->pid();
    if (pid > 0) ::kill(pid, SIGKILL);
    EXPECT_TRUE(Evaluate(options)) << i;
  }
}

TEST_F(EvaluatorForkServerTest, DoesNotBlockTheCallerWhileStopped) {
  EvaluationOptions options = Recipe(kWorkers);
  ASSERT_TRUE(Evaluate(options));
  ::kill(fork_server_->pid(), SIGSTOP);
  options.limits.wall_ms = 100;
  const auto refused = Evaluate(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().at(0).kind, "limit");
}

TEST_F(EvaluatorForkServerTest, IsOptional) {
  // An evaluator of an older muster, without support for fork servers.
  const std::string program =
      Write("old.sh", "#!/bin/sh\n[ \"$1\" = --evaluator ] || exit 2\nexec " + EvaluatorProgram() + " \"$@\"\n");
  ::chmod(program.c_str(), 0700);
  EvaluationOptions options = Recipe(kWorkers);
  options.program = program;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Evaluate(options));
}

TEST_F(EvaluatorForkServerTest, LeavesNoProcessOfAbandonedEvaluations) {
  const EvaluationOptions options = Recipe("while true do end");
  for (int i = 0; i < 5; ++i) Begin(options);
  auto pending = Begin(options);
  pollfd ready{pending.fd(), POLLIN, 0};
  ::poll(&ready, 1, 1'000);
  EXPECT_FALSE(pending.Continue());
}

TEST_F(EvaluatorForkServerTest, ServesSuccessiveRequestsOfOneEvaluator) {
  // A long-lived evaluator that is used asynchronously.
  const EvaluationOptions options = Recipe(kWorkers);
  Evaluator evaluator;
  for (std::int64_t n = 1; n <= 3; ++n) {
    auto pending = evaluator.Begin(With(options, n));
    ASSERT_TRUE(pending);
    EXPECT_EQ(pending->Await()->plan.processes.size(), static_cast<std::size_t>(n));
  }
}

TEST_F(EvaluatorForkServerTest, RefusesToSetADerivedValue) {
  EvaluationOptions options = Recipe("job:derive { twice = 2 * p.n }" + std::string(kWorkers));
  options.overrides.push_back(ValueOverride("twice", Value(3)));
  const auto refused = Evaluate(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().at(0).kind, "derived");
}

}  // namespace
}  // namespace muster::testing
