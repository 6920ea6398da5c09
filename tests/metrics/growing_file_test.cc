// Tests the lines of files that grow, as they are read again and again, and of files that are read once.
#include "metrics/growing_file.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace muster::testing {
namespace {

class GrowingFileTest : public ::testing::Test {
 protected:
  GrowingFileTest() { std::filesystem::create_directory(folder_ / "metrics"); }
  void Append(const std::string& text) const {
    std::ofstream(folder_ / "metrics/worker.0.0.jsonl", std::ios::binary | std::ios::app) << text;
  }
  // New lines; one that is not whole is marked.
  std::vector<std::string> Read(std::uint64_t most = 1U << 20) {
    lines_.clear();
    file_.ReadToEnd(take_, most);
    return lines_;
  }

  using Lines = std::vector<std::string>;
  TempDir folder_;
  Lines lines_;
  GrowingFile::Take take_ = [this](std::string_view line, bool whole) {
    lines_.push_back((whole ? "" : "…") + std::string(line));
  };
  GrowingFile file_{GrowingFile::Kind::kMetrics, folder_ / "metrics/worker.0.0.jsonl"};
};

TEST_F(GrowingFileTest, ContinuesALineThatWasIncomplete) {
  EXPECT_EQ(Read(), Lines{}) << "there is no file yet";
  Append("one\n\ntw");
  EXPECT_EQ(Read(), Lines{"one"});
  Append("o\nthr");
  EXPECT_EQ(Read(), Lines{"two"});
  file_.Flush(take_);
  EXPECT_EQ(lines_, (Lines{"two", "…thr"}));
}

TEST_F(GrowingFileTest, PassesOnTheLastLinesIfTheRestIsTooLong) {
  Append("first\nsecond\nthird\n");
  EXPECT_EQ(Read(10), Lines{"third"}) << "the line in which the bytes begin is skipped";
  Append("fourth\n");
  EXPECT_EQ(Read(10), Lines{"fourth"});
}

TEST_F(GrowingFileTest, CutsLinesThatAreTooLong) {
  Append(std::string(kMaxMetricsLine, 'a') + "\n" + std::string(3U << 20, 'b') + "\nc\n");
  const Lines read = Read(8U << 20);
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].size(), kMaxMetricsLine);
  EXPECT_EQ(read[1], "…" + std::string(kMaxMetricsLine, 'b'));
  EXPECT_EQ(read[2], "c");
}

TEST_F(GrowingFileTest, ReadsAFileThatBecameShorterFromItsBeginning) {
  Append("one\ntwo\nthr");
  EXPECT_EQ(Read().size(), 2U);
  std::filesystem::resize_file(folder_ / "metrics/worker.0.0.jsonl", 4);
  EXPECT_EQ(Read(), Lines{"one"});
}

TEST_F(GrowingFileTest, FollowsNoLink) {
  Append("secret\n");
  std::filesystem::create_directory_symlink(folder_ / "metrics", folder_ / "linked");
  GrowingFile(GrowingFile::Kind::kMetrics, folder_ / "linked/worker.0.0.jsonl").ReadToEnd(take_, 100);
  std::filesystem::create_symlink(folder_ / "metrics/worker.0.0.jsonl", folder_ / "metrics/worker.1.0.jsonl");
  GrowingFile(GrowingFile::Kind::kMetrics, folder_ / "metrics/worker.1.0.jsonl").ReadToEnd(take_, 100);
  EXPECT_EQ(lines_, Lines{});
}

}  // namespace
}  // namespace muster::testing
