// Tests the latest metrics of running processes, as shown in rows.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "metrics/metric_history.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

TEST(NewestMetrics, ShowStepsFirstAndAtMostFourNumbers) {
  EXPECT_EQ(MetricsText(MetricValues{{"a", 1}, {"loss", 0.25}, {"name", "x"}, {"step", 100}, {"u", 2}, {"z", 3}}),
            "step 100, a 1, loss 0.25, u 2");
  EXPECT_EQ(MetricsText(MetricValues{{"l\x1b[2J", 1}}), "l\\x1b[2J 1");
  EXPECT_EQ(MetricsText(RoleReports{}), "");
  EXPECT_EQ(MetricsText(RoleReports{{"chief", {{"step", 1}}}, {"worker", {{"step", 2}}}}),
            "chief: step 1; worker: step 2");
}

TEST(NewestMetrics, AreThoseOfTheFirstProcessInItsLatestAttempt) {
  const testing::TempDir run;
  std::filesystem::create_directory(run / "metrics");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(run / ("metrics/" + name)) << text;
  };
  EXPECT_TRUE(NewestReports(run.path()).empty());
  write("worker.10.0.jsonl", "{\"step\": 10}\n");
  write("worker.2.0.jsonl", "{\"step\": 20}\n");
  write("worker.2.1.jsonl", "{\"step\": 21}\n{\"step\": 22}\n");
  write("a.b.0.0.jsonl", "{\"loss\": 1}\n");
  write("notes.txt", "{\"step\": 9}\n");
  const RoleReports reports = NewestReports(run.path());
  EXPECT_EQ(reports, (RoleReports{{"a.b", {{"loss", 1}}}, {"worker", {{"step", 22}}}}));
}

TEST(NewestMetrics, IgnoreFilesWithOtherNames) {
  EXPECT_EQ(ParseMetricsFileName("worker.2.0.jsonl"), (MetricsFileName{"worker", 2, 0}));
  for (const char* name : {"", ".jsonl", "worker.jsonl", "worker.2.jsonl", ".2.0.jsonl", "worker.2.x.jsonl",
                           "worker.2.0.json", "worker.99999999999.0.jsonl"}) {
    EXPECT_EQ(ParseMetricsFileName(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace muster
