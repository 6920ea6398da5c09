// Tests the checks of a stub on its own host: files of a command, and disk space.
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stub/program/stub_checks.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

using testing::TempDir;

StubReport Looked(std::vector<std::string> words, bool shell = false) {
  StubReport report;
  CheckCommandFiles({std::move(words), shell, {}, true}, report);
  return report;
}

std::string Failures(const StubReport& report) {
  std::string text;
  for (const StubFinding& finding : report.findings) {
    if (finding.outcome == StubFinding::Outcome::kFailed) text += finding.text + "\n";
  }
  return text;
}

TEST(CommandFiles, IncludeTheProgram) {
  EXPECT_EQ(Failures(Looked({"sh"})), "");
  EXPECT_NE(Failures(Looked({"no-such-program"})).find("\"no-such-program\" is not on PATH"), std::string::npos);
}

TEST(CommandFiles, IncludeTheNamedScript) {
  const TempDir folder;
  std::ofstream(folder / "train.py") << "print(1)\n";
  const StubReport there = Looked({"sh", "-u", folder / "train.py", "--lr", "0.5"});
  EXPECT_EQ(Failures(there), "");
  ASSERT_EQ(there.files.size(), 2U);
  EXPECT_EQ(there.files[1].kind, CheckedFile::Kind::kScript);
  EXPECT_EQ(there.files[1].bytes, 9U);
  EXPECT_EQ(there.files[1].hash.size(), 16U);
  EXPECT_NE(Failures(Looked({"sh", folder / "other.py"})).find("cannot be read: No such file"), std::string::npos);
}

TEST(CommandFiles, AreWordsThatLookLikePaths) {
  const TempDir folder;
  std::ofstream(folder / "data.csv") << "1\n";
  const StubReport report =
      Looked({"sh", "meta/model", "https://host/x.json", "--data=" + (folder / "data.csv"), "out.txt"});
  EXPECT_EQ(Failures(report), "") << "what may be written later is no mistake";
  ASSERT_EQ(report.files.size(), 3U);
  EXPECT_FALSE(report.files[1].path.empty());
  EXPECT_EQ(report.files[2].word, "out.txt");
  EXPECT_TRUE(report.files[2].path.empty());
}

TEST(CommandFiles, AreNotSearchedForInCode) {
  EXPECT_EQ(Looked({"sh", "-c", "/no/such/file.py"}).files.size(), 1U);
  EXPECT_EQ(Looked({"/bin/sh", "-c", "cat ./missing.sh"}, true).files.size(), 1U);
  EXPECT_EQ(Looked({"sh", "-m", "package.py"}).files.size(), 1U);
}

TEST(Places, FailIfTheyCannotBeWritten) {
  const TempDir folder;
  StubReport well;
  CheckPlaces({{"here", folder.path()}, {"nowhere", folder / "missing", true}}, well);
  EXPECT_EQ(Failures(well), "");
  StubReport missing;
  CheckPlaces({{"the run directory", folder / "missing"}}, missing);
  EXPECT_NE(Failures(missing).find("the run directory"), std::string::npos);
  StubReport unwritable;
  CheckPlaces({{"the processes", "/proc"}}, unwritable);
  EXPECT_NE(Failures(unwritable).find("/proc"), std::string::npos);
}

}  // namespace
}  // namespace muster
