// Tests log limits: the beginning is dropped in place, or output passes through a pipe into files that replace each
// other.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/host/host_folder.h"
#include "agent/parts/process_logs.h"
#include "support/temp_dir.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

constexpr std::uint64_t kMiB = 1U << 20;

// Returns text in which each line holds its own offset.
std::string Bytes(std::uint64_t begin, std::uint64_t end) {
  std::string bytes;
  for (std::uint64_t at = begin / 16 * 16; at < end; at += 16) {
    std::string word = std::to_string(at);
    word.resize(15, '.');
    bytes += word + '\n';
  }
  return bytes.substr(begin % 16, end - begin);
}

class LogLimits : public ::testing::Test {
 protected:
  std::string Log() const { return folder / "w.0.log"; }
  FileBelow File() const { return {directory.get(), "w.0.log"}; }
  bool FolderCanCollapse() const {
    std::filesystem::create_directory(folder / "logs");
    return CanCollapse({directory.get(), "logs"});
  }
  void PutIndex(const LogHead& head) const {
    std::ofstream(folder / "w.0.idx", std::ios::binary) << kLimitedIndexHead << LogHeadBytes(head);
  }
  LogHead Head() const { return ReadLogHead(AT_FDCWD, Log()).value_or(LogHead{}); }
  void Write(int file, const std::string& bytes) const {
    ASSERT_EQ(::write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::string Content() const {
    std::ifstream file(Log(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  testing::TempDir folder;
  UniqueFd directory{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST(BytesToDrop, FreesAQuarterOfTheLimitInWholeUnits) {
  EXPECT_EQ(BytesToDrop(kMiB, kMiB), 0U);
  EXPECT_EQ(BytesToDrop(kMiB + 1, kMiB), kMiB / 4);
  EXPECT_EQ(BytesToDrop(10 * kMiB + 12345, 4 * kMiB), 7 * kMiB);
  EXPECT_EQ(BytesToDrop(0, kMiB), 0U);
}

TEST_F(LogLimits, AreEnforcedInPlaceWhileTheWriterContinues) {
  if (!FolderCanCollapse()) GTEST_SKIP() << "a file system that can collapse a range";
  auto writer = CreateLogFile(File());
  ASSERT_TRUE(writer);
  PutIndex({0, 0, 0, kMiB});
  Write(writer->get(), Bytes(0, kMiB));
  EXPECT_FALSE(CollapseLog(File())) << "within its limit";
  Write(writer->get(), Bytes(kMiB, 3 * kMiB + 100));
  EXPECT_TRUE(CollapseLog(File()));
  EXPECT_EQ(Head(), (LogHead{9 * kMiB / 4, 9 * kMiB / 4, 0, kMiB}));
  Write(writer->get(), Bytes(3 * kMiB + 100, 3 * kMiB + 200));
  EXPECT_EQ(Content(), Bytes(9 * kMiB / 4, 3 * kMiB + 200)) << "appended at the new end";
  EXPECT_EQ(LogEnd(directory.get(), "w.0.log"), 3 * kMiB + 200);
  EXPECT_FALSE(CollapseLog(File()));
}

TEST_F(LogLimits, AreEnforcedByTheSuccessorOfAKilledAgent) {
  if (!FolderCanCollapse()) GTEST_SKIP() << "a file system that can collapse a range";
  for (const bool hole : {false, true}) {
    for (const std::uint64_t moving : {std::uint64_t{0}, kCollapsing}) {
      if (!hole && moving == kCollapsing) continue;  // this state means already cut: tested below
      const UniqueFd log(::open(Log().c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600));
      Write(log.get(), Bytes(0, 2 * kMiB));
      PutIndex({0, kMiB, moving, 2 * kMiB});
      if (hole) {
        ASSERT_EQ(::fallocate(log.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kMiB), 0);
      }
      CollapseLog(File());
      EXPECT_EQ(Head(), (LogHead{kMiB, kMiB, 0, 2 * kMiB})) << hole << moving;
      EXPECT_EQ(Content(), Bytes(kMiB, 2 * kMiB)) << hole << moving;
    }
  }
  PutIndex({0, kMiB, kCollapsing, 2 * kMiB});
  CollapseLog(File());
  EXPECT_EQ(Head(), (LogHead{kMiB, kMiB, 0, 2 * kMiB})) << "it had been cut";
  EXPECT_EQ(Content(), Bytes(kMiB, 2 * kMiB));
}

TEST_F(LogLimits, AreNotEnforcedWithoutAnIndex) {
  auto writer = CreateLogFile(File());
  ASSERT_TRUE(writer);
  Write(writer->get(), Bytes(0, 2 * kMiB));
  EXPECT_FALSE(CollapseLog(File())) << "there is no index";
  std::ofstream(folder / "w.0.idx", std::ios::binary) << kTimeIndexHead << std::string(64, '\0');
  EXPECT_FALSE(CollapseLog(File())) << "an index of a log without a limit";
  EXPECT_EQ(Content(), Bytes(0, 2 * kMiB));
}

TEST_F(LogLimits, AreEnforcedThroughAPipe) {
  boost::asio::io_context io(1);
  int replaced = 0;
  LogPipes pipes(io, [&](const LogPipes::Key&) { ++replaced; });
  PutIndex({0, 0, 0, kMiB});
  auto log = CreateLogFile(File(), O_RDWR);
  ASSERT_TRUE(log);
  auto pipe = pipes.Open({0, 0}, File(), *std::move(log), kMiB);
  ASSERT_TRUE(pipe);
  const std::uint64_t size = 8 * kMiB + 333;
  for (std::uint64_t at = 0; at < size;) {
    const std::uint64_t end = std::min(at + 4096, size);
    Write(pipe->get(), Bytes(at, end));
    at = end;
    while (io.poll() > 0) {
    }
    ASSERT_LE(std::filesystem::file_size(Log()), kMiB) << at;
    ASSERT_EQ(LogEnd(directory.get(), "w.0.log"), at) << at;
  }
  EXPECT_GT(replaced, 10);
  const LogHead head = Head();
  EXPECT_EQ(head.base, head.kept);
  EXPECT_EQ(head.moving, 0U);
  EXPECT_EQ(Content(), Bytes(head.base, size));
  EXPECT_GE(Content().size(), kMiB / 2);
  pipe->reset();
  io.restart();
  io.run();  // returns because no handler is pending
  EXPECT_EQ(pipes.size(), 0U);
  EXPECT_FALSE(std::filesystem::exists(Log() + ".next"));
}

TEST_F(LogLimits, ByAPipeKeepTheLastOutputOfAnExitedProcess) {
  boost::asio::io_context io(1);
  LogPipes pipes(io, [](const LogPipes::Key&) {});
  auto log = CreateLogFile(File(), O_RDWR);
  ASSERT_TRUE(log);
  auto pipe = pipes.Open({0, 0}, File(), *std::move(log), kMiB);
  ASSERT_TRUE(pipe);
  Write(pipe->get(), "last words");
  pipes.Drain({0, 0});
  EXPECT_EQ(Content(), "last words");
  EXPECT_EQ(pipes.size(), 1U) << "somebody holds it";
  pipe->reset();
  pipes.Drain({0, 0});
  EXPECT_EQ(pipes.size(), 0U);
}

TEST_F(LogLimits, ByAPipeWaitUntilThereIsAnIndex) {
  boost::asio::io_context io(1);
  LogPipes pipes(io, [](const LogPipes::Key&) {});
  auto log = CreateLogFile(File(), O_RDWR);
  ASSERT_TRUE(log);
  auto pipe = pipes.Open({0, 0}, File(), *std::move(log), kMiB);
  ASSERT_TRUE(pipe);
  const auto write = [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t at = begin; at < end; at += 4096) {
      Write(pipe->get(), Bytes(at, at + 4096));
      pipes.Drain({0, 0});
    }
  };
  write(0, 2 * kMiB);
  EXPECT_EQ(Content(), Bytes(0, 2 * kMiB));
  PutIndex({0, 0, 0, kMiB});
  write(2 * kMiB, 4 * kMiB);
  EXPECT_LE(Content().size(), kMiB);
  EXPECT_EQ(Content(), Bytes(Head().base, 4 * kMiB));
}

}  // namespace
}  // namespace muster
