// Tests muster report-metric: lines in $MUSTER_METRICS written from a shell.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

class ReportMetric : public ::testing::Test {
 protected:
  CommandResult Report(std::vector<std::string> words, const std::string& variable = {}) {
    words.insert(words.begin(), "report-metric");
    std::vector<std::string> env;
    if (!variable.empty()) env.push_back("MUSTER_METRICS=" + variable);
    return Muster(std::move(words), std::move(env));
  }
  std::string Written() const {
    std::ifstream file(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempDir folder_;
  std::string file_ = folder_ / "m.jsonl";
};

TEST_F(ReportMetric, AppendsOneLineWithAllValues) {
  EXPECT_EQ(Report({"step=100", "loss=0.3"}, file_).exit_code, 0);
  EXPECT_EQ(Report({"loss=nan", "note=a=b c", "ok=true", "lr=1e-4", "empty="}, file_).exit_code, 0);
  EXPECT_EQ(
      Written(),
      "{\"loss\":0.3,\"step\":100}\n{\"empty\":\"\",\"loss\":null,\"lr\":0.0001,\"note\":\"a=b c\",\"ok\":true}\n");
}

TEST_F(ReportMetric, WritesToTheNamedFile) {
  EXPECT_EQ(Report({"--file", file_, "step=1"}, "/nowhere/at/all").exit_code, 0);
  EXPECT_EQ(Written(), "{\"step\":1}\n");
}

TEST_F(ReportMetric, ReportsMistakes) {
  const struct {
    std::vector<std::string> words;
    std::string variable;
    int exit_code;
    const char* said;
  } cases[] = {
      {{"step=1"}, "", 2, "MUSTER_METRICS is not set: this is no process of a run"},
      {{"step"}, file_, 2, "a metric is NAME=VALUE, got \"step\""},
      {{"=1"}, file_, 2, "NAME=VALUE"},
      {{"a=1", "a=2"}, file_, 2, "given twice"},
      {{"a=1"}, "/nowhere/at/all", 3, "No such file or directory"},
      {{}, file_, 2, "missing argument NAME=VALUE"},
  };
  for (const auto& test : cases) {
    const CommandResult result = Report(test.words, test.variable);
    EXPECT_EQ(result.exit_code, test.exit_code) << test.said << result.err;
    EXPECT_NE(result.err.find(test.said), std::string::npos) << result.err;
  }
  EXPECT_EQ(Written(), "");
}

TEST_F(ReportMetric, IsListedInTheOverviewTheManPageAndCompletion) {
  EXPECT_NE(Muster({"--help"}).out.find("  report-metric "), std::string::npos);
  EXPECT_NE(Muster({"docs", "--man"}).out.find("report\\-metric"), std::string::npos);
  EXPECT_NE(Muster({"report-metric", "--help"}).out.find("muster report-metric step=100 loss=0.3"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
