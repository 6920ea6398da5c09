// Tests reports of a run while its files grow, without any process.
#include "metrics/metrics_watch.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "metrics/log_patterns.h"
#include "muster/plan.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

class Metrics : public ::testing::Test {
 protected:
  Metrics() {
    std::filesystem::create_directory(folder_ / "metrics");
    std::filesystem::create_directory(folder_ / "logs");
  }
  void Append(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::app) << text;
  }
  std::unique_ptr<WatchedMetrics> Watch(const LogPatterns* patterns = nullptr) {
    MetricsWatch::Run run;
    run.run_dir = folder_.path();
    run.patterns = patterns;
    run.log_of = "worker.0";
    run.report = [this](const MetricValues& values) { reports_.push_back(values); };
    return watch_.Watch(std::move(run));
  }
  // Handles all pending kernel events; returns the reports.
  std::vector<MetricValues> Reported() {
    io_.restart();
    io_.poll();
    return std::exchange(reports_, {});
  }

  TempDir folder_;
  boost::asio::io_context io_;
  MetricsWatch watch_{io_};
  std::vector<MetricValues> reports_;
};

using Reports = std::vector<MetricValues>;

TEST_F(Metrics, AreReportedOnceTheyAreFollowed) {
  MetricsWatch::Run later;
  later.run_dir = folder_.path();
  later.at_once = false;
  later.report = [this](const MetricValues& values) { reports_.push_back(values); };
  const auto run = watch_.Watch(std::move(later));
  Append("metrics/worker.0.0.jsonl", "{\"step\": 1}\n");
  EXPECT_EQ(Reported(), Reports{});
  run->Follow();
  EXPECT_EQ(Reported(), (Reports{{{"step", Value(1)}}}));
  run->Follow();
  Append("metrics/worker.0.0.jsonl", "{\"step\": 2}\n");
  EXPECT_EQ(Reported(), (Reports{{{"step", Value(2)}}}));
  Append("metrics/worker.0.0.jsonl", "{\"step\": 3}\n");
  run->Finish();
  EXPECT_EQ(reports_, (Reports{{{"step", Value(3)}}}));
}

TEST_F(Metrics, AreReportedLineByLineInOrder) {
  const auto run = Watch();
  EXPECT_EQ(Reported(), Reports{});
  Append("metrics/worker.0.0.jsonl", "{\"step\": 1, \"loss\": 0.5}\n{\"step\": 2, \"loss\": 0.25}\n");
  EXPECT_EQ(Reported(),
            (Reports{{{"step", Value(1)}, {"loss", Value(0.5)}}, {{"step", Value(2)}, {"loss", Value(0.25)}}}));
  Append("metrics/worker.0.0.jsonl", "{\"step\": 3}\n");
  EXPECT_EQ(Reported(), (Reports{{{"step", Value(3)}}}));
  run->Finish();
  EXPECT_EQ(reports_, Reports{});
}

TEST_F(Metrics, WrittenBeforeAreReportedToo) {
  Append("metrics/worker.0.0.jsonl", "{\"loss\": 1}\n");
  const auto run = Watch();
  EXPECT_EQ(Reported(), (Reports{{{"loss", Value(1)}}}));
}

TEST_F(Metrics, WaitForTheEndOfALine) {
  const auto run = Watch();
  Append("metrics/worker.0.0.jsonl", "{\"loss\"");
  EXPECT_EQ(Reported(), Reports{});
  Append("metrics/worker.0.0.jsonl", ": 4}\n{\"lo");
  EXPECT_EQ(Reported(), (Reports{{{"loss", Value(4)}}}));
  run->Finish();
  EXPECT_EQ(reports_, Reports{});
  EXPECT_EQ(run->bad_lines(), 1U);
}

TEST_F(Metrics, InInvalidOrTooLongLinesAreCounted) {
  const auto run = Watch();
  Append("metrics/worker.0.0.jsonl",
         "hello\n[1]\n{\"a\": \"" + std::string(kMaxMetricsLine, 'x') + "\"}\n{\"loss\": 1}\n");
  EXPECT_EQ(Reported(), (Reports{{{"loss", Value(1)}}}));
  EXPECT_EQ(run->bad_lines(), 3U);
}

TEST_F(Metrics, ReportInvalidNumbers) {
  const auto run = Watch();
  Append("metrics/worker.0.0.jsonl",
         "{\"step\": 1, \"loss\": NaN, \"note\": \"NaN\"}\n{\"loss\": null}\n{\"loss\": -Infinity}\n"
         "{\"loss\": \"high\", \"list\": [1]}\n{\"step\": 2}\n");
  const auto reported = Reported();
  ASSERT_EQ(reported.size(), 5U);
  EXPECT_EQ(reported[0].at("note"), Value("NaN"));
  for (int i = 0; i < 4; ++i) {
    const MetricValues& report = reported[static_cast<std::size_t>(i)];
    EXPECT_TRUE(report.contains("loss") && !FiniteNumber(report.at("loss"))) << i;
  }
  EXPECT_FALSE(reported[3].contains("list"));
  EXPECT_FALSE(reported[4].contains("loss"));
  EXPECT_EQ(FiniteNumber(reported[4].at("step")), 2.0);
}

TEST_F(Metrics, ComeFromTheFirstProcessOfARoleThatReports) {
  const auto run = Watch();
  Append("metrics/worker.3.0.jsonl", "{\"loss\": 3}\n");
  EXPECT_EQ(Reported(), (Reports{{{"loss", Value(3)}}}));
  Append("metrics/worker.1.0.jsonl", "{\"loss\": 1}\n");
  Append("metrics/worker.3.0.jsonl", "{\"loss\": 33}\n");
  EXPECT_EQ(Reported(), (Reports{{{"loss", Value(1)}}}));
  Append("metrics/eval.uator.0.0.jsonl", "{\"val_loss\": 9}\n");
  EXPECT_EQ(Reported(), (Reports{{{"val_loss", Value(9)}}}));
}

TEST_F(Metrics, ContinueWithTheNextAttempt) {
  const auto run = Watch();
  Append("metrics/worker.0.0.jsonl", "{\"step\": 1}\n");
  EXPECT_EQ(Reported().size(), 1U);
  Append("metrics/worker.0.1.jsonl", "{\"step\": 1}\n");
  EXPECT_EQ(Reported().size(), 1U);
}

TEST_F(Metrics, AreReadAtTheEndWithoutKernelEvents) {
  const auto run = Watch();
  Append("metrics/worker.0.0.jsonl", "{\"step\": 1}\n{\"step\": 2}\n");
  run->Finish();
  EXPECT_EQ(reports_.size(), 2U);
  run->Finish();
  EXPECT_EQ(Reported().size(), 2U);
}

TEST_F(Metrics, AreNotReportedAfterTheTrial) {
  auto run = Watch();
  Append("metrics/worker.0.0.jsonl", "{\"step\": 1}\n");
  run.reset();
  Append("metrics/worker.0.0.jsonl", "{\"step\": 2}\n");
  EXPECT_EQ(Reported(), Reports{});
}

TEST_F(Metrics, OfFilesThatAreLinksAreNotRead) {
  Append("secret", "{\"loss\": 1}\n");
  std::filesystem::create_symlink(folder_ / "secret", folder_ / "metrics/worker.0.0.jsonl");
  const auto run = Watch();
  run->Finish();
  EXPECT_EQ(reports_, Reports{});
}

TEST_F(Metrics, StartAgainWithATruncatedFile) {
  const auto run = Watch();
  Append("metrics/worker.0.0.jsonl", "{\"step\": 1}\n{\"step\": 2}\n");
  EXPECT_EQ(Reported().size(), 2U);
  std::ofstream(folder_ / "metrics/worker.0.0.jsonl") << "{\"step\": 7}\n";
  EXPECT_EQ(Reported(), (Reports{{{"step", Value(7)}}}));
}

TEST_F(Metrics, OfManyMegabytesAreAllReported) {
  const auto run = Watch();
  std::string text;
  for (int i = 0; i < 200'000; ++i) text += "{\"step\": " + std::to_string(i) + "}\n";
  Append("metrics/worker.0.0.jsonl", text);
  EXPECT_EQ(Reported().size(), 200'000U);
}

LogPatterns StepAndLoss() { return *LogPatterns::Of({{"step", R"(iteration (\d+))"}, {"loss", R"(loss: (\S+))"}}, {}); }

TEST_F(Metrics, InALogAreGroupedByLine) {
  const LogPatterns patterns = StepAndLoss();
  const auto run = Watch(&patterns);
  Append("logs/worker.0.0.log", "start\niteration 5 loss: 0.5\niteration 6 loss: nan\n");
  EXPECT_EQ(Reported(), (Reports{{{"step", Value(5)}, {"loss", Value(0.5)}}, {{"step", Value(6)}, {"loss", Value()}}}));
  Append("logs/worker.1.0.log", "iteration 9 loss: 9\n");
  EXPECT_EQ(Reported(), Reports{});
}

TEST_F(Metrics, InALogBelongToTheLastReportedStep) {
  const LogPatterns patterns = StepAndLoss();
  Append("logs/worker.0.0.log", "iteration 5\nhello\n");
  const auto run = Watch(&patterns);
  EXPECT_EQ(Reported(), Reports{});
  Append("logs/worker.0.0.log", "loss: 0.5\n");
  EXPECT_EQ(Reported(), (Reports{{{"step", Value(5)}, {"loss", Value(0.5)}}}));
  Append("logs/worker.0.1.log", "iteration 6\nloss: 0.25");
  EXPECT_EQ(Reported(), Reports{});
  run->Finish();
  EXPECT_EQ(reports_, (Reports{{{"step", Value(6)}, {"loss", Value(0.25)}}}));
}

TEST_F(Metrics, InALogMayConsistOfStepsOnly) {
  const LogPatterns patterns = *LogPatterns::Of({{"step", R"((\d+)%)"}}, {});
  const auto run = Watch(&patterns);
  Append("logs/worker.0.0.log", "10%\r20%\r");
  EXPECT_EQ(Reported(), (Reports{{{"step", Value(10)}}, {{"step", Value(20)}}}));
}

TEST_F(Metrics, InALogAreFoundInTheBeginningOfAHugeLine) {
  const LogPatterns patterns = StepAndLoss();
  const auto run = Watch(&patterns);
  Append("logs/worker.0.0.log", "loss: 1 " + std::string(3U << 20, 'x') + " iteration 4\nloss: 2\n");
  EXPECT_EQ(Reported(), (Reports{{{"loss", Value(1)}}, {{"loss", Value(2)}}}));
}

TEST_F(Metrics, InATruncatedLogAreThoseThatFollow) {
  const LogPatterns patterns = StepAndLoss();
  const auto run = Watch(&patterns);
  Append("logs/worker.0.0.log", "loss: 1\nloss: 2\n");
  EXPECT_EQ(Reported().size(), 2U);
  ASSERT_EQ(::truncate((folder_ / "logs/worker.0.0.log").c_str(), 0), 0);
  Append("logs/worker.0.0.log", "loss: 3\n");
  EXPECT_EQ(Reported(), (Reports{{{"loss", Value(3)}}}));
}

Plan TwoRoles() {
  Plan plan;
  plan.roles.resize(2);
  plan.roles[0].name = "server";
  plan.roles[1].name = "worker";
  plan.processes.resize(3);
  plan.processes[1].role = plan.processes[2].role = 1;
  plan.processes[1].rank = 0;
  plan.processes[2].index = 1;
  plan.processes[2].rank = 1;
  return plan;
}

TEST(MetricsLog, IsThatOfRank0OrOfTheNamedRole) {
  Plan plan = TwoRoles();
  LogMetrics choice;
  EXPECT_EQ(*LoggingProcess(plan, choice), 1U);
  choice.role = "server";
  EXPECT_EQ(*LoggingProcess(plan, choice), 0U);
  choice.role = "wroker";
  const Place place = {"sweep.lua", 4};
  const auto refused = LoggingProcess(plan, choice, place);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().at(0).place, place);
  EXPECT_NE(refused.error().at(0).hint.find("worker"), std::string::npos);
  choice.role = {};
  plan.processes[1].rank = plan.processes[2].rank = std::nullopt;
  EXPECT_EQ(*LoggingProcess(plan, choice), 0U);
}

}  // namespace
}  // namespace muster::testing
