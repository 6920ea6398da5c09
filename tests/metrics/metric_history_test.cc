// Tests the history of reported metrics as columns, as curves and exports use it.
#include "metrics/metric_history.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "metrics/growing_file.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

// Of the lines of the text.
MetricHistory Of(std::string_view text) {
  MetricHistory history;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    history.Take(text.substr(0, end), true);
    text.remove_prefix(end + 1);
  }
  return history;
}

TEST(MetricHistory, HasEachNumberOfEachReport) {
  const MetricHistory history =
      Of("{\"step\": 1, \"loss\": 2.5, \"note\": \"x\", \"ok\": true}\n"
         "{\"step\":2,\"acc\":1e-3}\r\n"
         "{\"loss\": -0.5, \"step\": 3}\n");
  EXPECT_EQ(history.reports, 3U);
  EXPECT_EQ(history.bad_lines, 0U);
  ASSERT_EQ(history.columns.size(), 3U);
  EXPECT_EQ(history.columns.at("step"), (MetricColumn{{0, 1, 2}, {1, 2, 3}}));
  EXPECT_EQ(history.columns.at("loss"), (MetricColumn{{0, 2}, {2.5, -0.5}}));
  EXPECT_EQ(history.columns.at("acc"), (MetricColumn{{1}, {1e-3}}));
}

TEST(MetricHistory, KeepsValuesThatAreNotFiniteAsNaN) {
  const MetricHistory history = Of("{\"loss\": null}\n{\"loss\": NaN}\n{\"loss\": -Infinity}\n{\"loss\": 1}\n");
  const MetricColumn& loss = history.columns.at("loss");
  ASSERT_EQ(loss.values.size(), 4U);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(loss.values[i])) << i;
  EXPECT_EQ(loss.values[3], 1);
  EXPECT_EQ(history.bad_lines, 0U);
}

// Prevents: one number that no double can hold drops all others of its line.
TEST(MetricHistory, KeepsTheOtherValuesOfALineWithANumberThatIsTooLarge) {
  const std::string digits(400, '9');
  const MetricHistory history = Of("{\"step\": 1, \"loss\": 1e400, \"note\": \"1e400\", \"acc\": 0.5}\n" +
                                   ("{\"loss\": -" + digits + ", \"step\": 2}\n") +
                                   "{\"loss\": 1e-400, \"step\": 3}\n"
                                   "{\"loss\": 1e400x}\n"
                                   "{\"list\": [1e999], \"step\":1e400}\n");
  EXPECT_EQ(history.bad_lines, 1U);
  const MetricColumn& loss = history.columns.at("loss");
  ASSERT_EQ(loss.values.size(), 3U);
  EXPECT_TRUE(std::isnan(loss.values[0]) && std::isnan(loss.values[1]));
  EXPECT_EQ(loss.values[2], 0);
  EXPECT_EQ(history.columns.at("acc"), (MetricColumn{{0}, {0.5}}));
  EXPECT_TRUE(std::isnan(history.columns.at("step").values[3]));
}

TEST(MetricHistory, ReadsUnusualLinesAndCountsInvalidOnes) {
  const MetricHistory history =
      Of("{\"a\\u0062\": 1, \"nested\": {\"x\": [1, 2]}}\n"  // an escape, a nested value
         "{\"\xC3\xA9\": 2}\n"
         "{\"loss\": 01}\n"
         "{\"loss\": 1.}\n"
         "{\"loss\": 1, \"loss\": 2}\n"
         "{\"loss\": 1} x\n"
         "[1]\n"
         "not JSON\n"
         "{}\n");
  EXPECT_EQ(history.bad_lines, 6U);
  EXPECT_EQ(history.reports, 3U);
  EXPECT_EQ(history.columns.at("ab"), (MetricColumn{{0}, {1}}));
  EXPECT_EQ(history.columns.at("\xC3\xA9"), (MetricColumn{{1}, {2}}));
  EXPECT_FALSE(history.columns.contains("loss"));
}

TEST(MetricHistory, HasAtMostAsManyMetricsAsAReport) {
  MetricHistory history;
  for (int i = 0; i < 300; ++i) history.Take("{\"m" + std::to_string(i) + "\": 1}", true);
  EXPECT_EQ(history.columns.size(), kMaxMetricNames);
  EXPECT_EQ(history.reports, 300U);
}

TEST(MetricHistory, GivesAMetricOverTheSteps) {
  const MetricHistory history =
      Of("{\"loss\": 9}\n"
         "{\"step\": 10, \"loss\": 8}\n"
         "{\"loss\": 7}\n"
         "{\"step\": 30}\n"
         "{\"loss\": 6}\n");
  EXPECT_EQ(SeriesOf(history, "loss", "step"), (MetricSeries{{10, 10, 30}, {8, 7, 6}}));
  EXPECT_EQ(SeriesOf(history, "loss", ""), (MetricSeries{{1, 2, 3, 5}, {9, 8, 7, 6}}));
  EXPECT_EQ(SeriesOf(history, "acc", "step"), MetricSeries{});
  EXPECT_EQ(SeriesOf(history, "loss", "epoch"), MetricSeries{});
  EXPECT_EQ(StepMetric(history.columns), "step");
  EXPECT_EQ(StepMetric(history.columns, "loss"), "loss");
  EXPECT_EQ(StepMetric(history.columns, "tokens"), "step");
  EXPECT_EQ(StepMetric(Of("{\"loss\": 1}\n").columns), "");
}

TEST(MetricHistory, JoinsTheAttemptsOfAProcess) {
  const testing::TempDir run;
  std::filesystem::create_directory(run / "metrics");
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(run / ("metrics/" + name)) << text;
  };
  EXPECT_TRUE(ReadMetricHistories(run.path()).empty());
  write("worker.1.0.jsonl", "");
  write("worker.2.0.jsonl", "{\"step\": 1}\n{\"step\": 2}\n");
  write("worker.2.1.jsonl", "{\"step\": 2}\n{\"loss\": 3}\n");
  write("worker.10.0.jsonl", "{\"step\": 7}\n");
  write("chief.0.0.jsonl", "{\"step\": 5}\n");
  const auto histories = ReadMetricHistories(run.path());
  ASSERT_EQ(histories.size(), 3U);
  EXPECT_EQ(histories[0].role, "chief");
  EXPECT_EQ(histories[1].index, 2U);
  EXPECT_EQ(histories[1].attempt_starts, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(histories[1].history.columns.at("step"), (MetricColumn{{0, 1, 2}, {1, 2, 2}}));
  EXPECT_EQ(histories[1].history.columns.at("loss"), (MetricColumn{{3}, {3}}));
  EXPECT_EQ(histories[2].index, 10U);
  const auto roles = ReadRoleHistories(run.path());
  ASSERT_EQ(roles.size(), 2U);
  EXPECT_EQ(roles[1].index, 2U);
}

TEST(MetricHistory, IsReadInPartsOfBoundedSize) {
  const testing::TempDir run;
  std::filesystem::create_directory(run / "metrics");
  std::string text;
  for (int step = 0; text.size() < 3 * GrowingFile::kMaxAtOnce; ++step) {
    text += "{\"step\": " + std::to_string(step) + ", \"loss\": 1}\n";
  }
  std::ofstream(run / "metrics/worker.0.0.jsonl") << text << "{\"step\": ";
  const MetricsFileName file = MetricsFiles(run.path()).at(0);
  std::vector<double> steps;
  std::size_t largest = 0;
  const auto bytes = ReadMetricParts(run.path(), file, text.size() * 2, [&](const MetricHistory& part) {
    const std::vector<double>& more = part.columns.at("step").values;
    steps.insert(steps.end(), more.begin(), more.end());
    largest = std::max(largest, more.size());
    return true;
  });
  EXPECT_EQ(bytes, text.size() + 9) << "the line that is being written belongs to the file";
  EXPECT_EQ(steps, Of(text).columns.at("step").values);
  EXPECT_LT(largest, steps.size() / 2);
  int parts = 0;
  const auto begin = ReadMetricParts(run.path(), file, text.size(), [&](const MetricHistory&) { return ++parts < 2; });
  EXPECT_EQ(parts, 2);
  EXPECT_LT(*begin, *bytes);
}

TEST(MetricHistory, DoesNotFollowLinks) {
  const testing::TempDir run;
  const testing::TempDir elsewhere;
  std::ofstream(elsewhere / "secret") << "{\"step\": 1}\n";
  std::filesystem::create_directory(run / "metrics");
  std::filesystem::create_symlink(elsewhere / "secret", run / "metrics/worker.0.0.jsonl");
  EXPECT_TRUE(ReadMetricHistories(run.path()).empty());
  EXPECT_FALSE(ReadMetricParts(run.path(), {"worker", 0, 0}, 100, [](const MetricHistory&) { return true; }));
  std::filesystem::remove_all(run / "metrics");
  std::filesystem::create_directory(elsewhere / "metrics");
  std::filesystem::rename(elsewhere / "secret", elsewhere / "metrics/worker.0.0.jsonl");
  std::filesystem::create_directory_symlink(elsewhere / "metrics", run / "metrics");
  EXPECT_TRUE(ReadMetricHistories(run.path()).empty());
}

}  // namespace
}  // namespace muster
