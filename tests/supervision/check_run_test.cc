// Tests tests/support/check_run.py, which tools/run-tests applies to every run directory of the suite.
#include <filesystem>

#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

CommandResult Check(const std::string& run_dir) {
  Command command;
  command.argv = {"python3", "-B", MUSTER_SOURCE_DIR "/tests/support/check_run.py", run_dir};
  return RunCommand(command);
}

class CheckRun : public ::testing::Test {
 protected:
  void SetUp() override {
    muster_.Start();
    ASSERT_EQ(muster_.End(), 1) << muster_.Output();
    const CommandResult well = Check(muster_.run_dir());
    ASSERT_EQ(well.exit_code, 0) << well.out << well.err;
    // Hides the damaged directory from the suite's own check.
    std::filesystem::rename(muster_.run_dir(), spoilt_ / "run");
  }
  void TearDown() override { std::filesystem::remove(Journal()); }

  std::string Journal() const { return spoilt_ / "run/journal.jsonl"; }
  void Rewrite(const std::string& path, const std::string& from, const std::string& to) {
    std::string text = StartedMuster::Content(path);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    std::ofstream(path, std::ios::trunc) << text.replace(at, from.size(), to);
  }
  void ExpectProblem(const std::string& text) {
    const CommandResult bad = Check(spoilt_ / "run");
    EXPECT_EQ(bad.exit_code, 1);
    EXPECT_NE(bad.out.find(text), std::string::npos) << bad.out << bad.err;
  }

  StartedMuster muster_{"job:workers { count = 2, command = { probe, 'exit', '3' } }"};
  TempDir spoilt_;
};

TEST_F(CheckRun, DetectsAFlippedByte) {
  Rewrite(Journal(), "\"code\":3", "\"code\":4");
  ExpectProblem("the checksum does not fit");
}

TEST_F(CheckRun, DetectsAReportWithAnotherOutcome) {
  Rewrite(spoilt_ / "run/report.json", "\"exit_code\": 3", "\"exit_code\": 4");
  ExpectProblem("I4: the report tells another end");
}

TEST_F(CheckRun, DetectsAMissingLog) {
  std::filesystem::remove(spoilt_ / "run/logs/worker.1.0.log");
  ExpectProblem("I5: worker.1.0.log is missing");
}

TEST_F(CheckRun, DetectsAFileThatOthersCanRead) {
  std::filesystem::permissions(spoilt_ / "run/plan.json", std::filesystem::perms(0644));
  ExpectProblem("plan.json is not a file of mode 0600");
}

TEST_F(CheckRun, DetectsAnUndocumentedFile) {
  std::ofstream(spoilt_ / "run/logs/worker.0.txt") << "x";
  ExpectProblem("docs/run_directory.md does not tell of logs/worker.0.txt");
}

}  // namespace
}  // namespace muster::testing
