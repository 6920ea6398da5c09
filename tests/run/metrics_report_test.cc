// Tests parsing of lines that processes append to $MUSTER_METRICS.
#include "run/report/metrics_report.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(MetricsReport, HasTheLastValueOfEachName) {
  RoleMetrics metrics;
  TakeMetrics("{\"step\": 1, \"loss\": 0.5}\n{\"step\": 2}\n", metrics);
  EXPECT_EQ(metrics.last, (std::map<std::string, Value>{{"step", Value(std::int64_t{2})}, {"loss", Value(0.5)}}));
}

TEST(MetricsReport, KeepsANullInsteadOfAnEarlierStepsValue) {
  RoleMetrics metrics;
  TakeMetrics("{\"step\": 1, \"loss\": 0.5}\n{\"step\": 2, \"loss\": null}\n", metrics);
  EXPECT_EQ(metrics.last, (std::map<std::string, Value>{{"step", Value(std::int64_t{2})}}));
  TakeMetrics("{\"loss\": 0.25}\n", metrics);
  EXPECT_EQ(metrics.last.at("loss"), Value(0.25));
  EXPECT_EQ(metrics.bad_lines, 0U);
}

TEST(MetricsReport, ReadsNonJsonNumbersAsNull) {
  RoleMetrics metrics;
  TakeMetrics("{\"step\": 1, \"loss\": 0.5}\n{\"step\": 2, \"loss\": NaN}\n", metrics);
  EXPECT_EQ(metrics.last, (std::map<std::string, Value>{{"step", Value(std::int64_t{2})}}));
  EXPECT_EQ(metrics.bad_lines, 0U);
}

}  // namespace
}  // namespace muster
