// Tests parsing of lines that processes append to $MUSTER_METRICS.
#include "run/report/metrics_report.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/system/unique_fd.h"
#include "muster/plan.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

void TakeLines(const std::vector<std::string>& lines, RoleMetrics& metrics) {
  for (const std::string& line : lines) TakeMetrics(line, true, metrics);
}

TEST(MetricsReport, HasTheLastValueOfEachName) {
  RoleMetrics metrics;
  TakeLines({"{\"step\": 1, \"loss\": 0.5}", "{\"step\": 2}"}, metrics);
  EXPECT_EQ(metrics.last, (std::map<std::string, Value>{{"step", Value(std::int64_t{2})}, {"loss", Value(0.5)}}));
}

TEST(MetricsReport, KeepsANullInsteadOfAnEarlierStepsValue) {
  RoleMetrics metrics;
  TakeLines({"{\"step\": 1, \"loss\": 0.5}", "{\"step\": 2, \"loss\": null}"}, metrics);
  EXPECT_EQ(metrics.last, (std::map<std::string, Value>{{"step", Value(std::int64_t{2})}}));
  TakeLines({"{\"loss\": 0.25}"}, metrics);
  EXPECT_EQ(metrics.last.at("loss"), Value(0.25));
  EXPECT_EQ(metrics.bad_lines, 0U);
}

TEST(MetricsReport, ReadsNonJsonNumbersAsNull) {
  RoleMetrics metrics;
  TakeLines({"{\"step\": 1, \"loss\": 0.5}", "{\"step\": 2, \"loss\": NaN}"}, metrics);
  EXPECT_EQ(metrics.last, (std::map<std::string, Value>{{"step", Value(std::int64_t{2})}}));
  EXPECT_EQ(metrics.bad_lines, 0U);
}

TEST(MetricsReport, NamesWhatIsNotFinite) {
  RoleMetrics metrics;
  TakeLines({"{\"step\": 1, \"loss\": 1e400, \"acc\": NaN}", "{\"step\": 2, \"acc\": 0.5}"}, metrics);
  EXPECT_EQ(metrics.last, (std::map<std::string, Value>{{"step", Value(std::int64_t{2})}, {"acc", Value(0.5)}}));
  EXPECT_EQ(metrics.not_finite, std::set<std::string>{"loss"});
  EXPECT_EQ(metrics.bad_lines, 0U);
}

TEST(MetricsReport, OmitsFilesThatAreLinks) {
  Plan plan;
  plan.roles.resize(1);
  plan.roles[0].name = "worker";
  plan.processes.resize(1);
  const testing::TempDir run;
  const testing::TempDir elsewhere;
  std::ofstream(elsewhere / "secret") << "{\"step\": 1}\n";
  std::filesystem::create_directory(run / "metrics");
  const UniqueFd folder(::open(run.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::filesystem::create_symlink(elsewhere / "secret", run / "metrics/worker.0.0.jsonl");
  EXPECT_TRUE(ReadMetrics(plan, folder.get(), {0}).empty());
  std::filesystem::remove(run / "metrics/worker.0.0.jsonl");
  std::filesystem::copy_file(elsewhere / "secret", run / "metrics/worker.0.0.jsonl");
  EXPECT_EQ(ReadMetrics(plan, folder.get(), {0}).size(), 1U);
}

}  // namespace
}  // namespace muster
