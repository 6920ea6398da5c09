// Tests the agent's timestamp index, on files that the test writes.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/parts/process_logs.h"
#include "base/system/clock.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

class LogTimesTest : public ::testing::Test {
 protected:
  void SetUp() override { log = UniqueFd(::open((folder / "w.0.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600)); }
  void Write(std::string_view text) { ASSERT_EQ(::write(log.get(), text.data(), text.size()), ssize_t(text.size())); }
  std::string Index() const {
    std::ifstream file(folder / "w.0.idx", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::uint64_t> Offsets() const {
    const std::string index = Index();
    EXPECT_TRUE(index.empty() || index.starts_with(kTimeIndexHead));
    std::vector<std::uint64_t> offsets;
    for (std::size_t at = kTimeIndexHead.size(); at < index.size(); at += kLogTimeBytes) {
      offsets.push_back(LogTimeFrom(std::string_view(index).substr(at)).offset);
    }
    return offsets;
  }

  testing::TempDir folder;
  UniqueFd directory{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  UniqueFd log;
  boost::asio::io_context io{1};
  LogTimes times{io};
  const LogTimes::Key key{0, 0};
};

using Numbers = std::vector<std::uint64_t>;

TEST_F(LogTimesTest, RecordsTheFirstWriteAfterASilence) {
  const std::uint64_t before = WallNowNs();
  times.Began(key, {directory.get(), "w.0.log"});
  EXPECT_EQ(Index(), "") << "nothing is written for who is silent";
  Write("one\n");
  io.run_one();
  EXPECT_EQ(Offsets(), (Numbers{0, 4}));
  const LogTime begin = LogTimeFrom(std::string_view(Index()).substr(kLogTimeBytes));
  const LogTime first = LogTimeFrom(std::string_view(Index()).substr(2 * kLogTimeBytes));
  EXPECT_GE(first.wall_ns, begin.wall_ns);
  // The clock of the agent does not jump, so the time of day may have been corrected since it was set.
  const auto apart = static_cast<std::int64_t>(begin.wall_ns - before);
  EXPECT_LT(std::abs(apart), 60'000'000'000) << "near the time of day";
}

TEST_F(LogTimesTest, RecordsOutputAfterTheNextPause) {
  times.Began(key, {directory.get(), "w.0.log"});
  Write("one\n");
  io.run_one();
  Write("two\n");
  while (Offsets().size() < 3) ASSERT_GT(io.run_one(), 0U);
  EXPECT_EQ(Offsets(), (Numbers{0, 4, 8}));
  // Waits for the pause without output: from here on the next write wakes the loop.
  ASSERT_GT(io.run_one(), 0U);
  Write("three\n");
  ASSERT_GT(io.run_one(), 0U);
  while (Offsets().back() != 14U) ASSERT_GT(io.run_one(), 0U);
}

TEST_F(LogTimesTest, IsNotWokenByEachWrite) {
  times.Began(key, {directory.get(), "w.0.log"});
  const std::uint64_t began = MonotonicNowNs();
  std::size_t woken = 0;
  for (int i = 0; i < 20'000; ++i) {
    Write("x\n");
    woken += io.poll();
  }
  const std::uint64_t pauses =
      (MonotonicNowNs() - began) / std::uint64_t(std::chrono::nanoseconds(LogTimes::kPause).count());
  EXPECT_LE(woken, 4 + 2 * pauses);
  EXPECT_LE(Offsets().size(), 3 + pauses);
  times.Ended(key);
  EXPECT_EQ(Offsets().back(), 40'000U);
}

TEST_F(LogTimesTest, RecordsOutputWrittenBeforeItBegan) {
  Write("early\n");
  times.Began(key, {directory.get(), "w.0.log"});
  EXPECT_EQ(Offsets(), (Numbers{0, 6}));
}

TEST_F(LogTimesTest, WatchesNoProcessThatEndsBeforeTheFirstCheck) {
  times.Began(key, {directory.get(), "w.0.log"});
  for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // argument of the iterator
    EXPECT_NE(std::filesystem::read_symlink(open.path(), gone), "anon_inode:inotify");
  }
  times.Ended(key);
  io.run();  // returns because no first check is pending
  EXPECT_EQ(Index(), "");
}

TEST_F(LogTimesTest, ChecksOnceMoreAtTheEnd) {
  times.Began(key, {directory.get(), "w.0.log"});
  Write("last words");
  times.EndAll();
  EXPECT_EQ(Offsets(), (Numbers{0, 10}));
  io.run();  // returns because no handler is pending
}

TEST_F(LogTimesTest, NeverOverwritesAnExistingFile) {
  std::ofstream(folder / "secret") << "secret";
  std::filesystem::create_symlink(folder / "secret", folder / "w.0.idx");
  times.Began(key, {directory.get(), "w.0.log"});
  Write("one\n");
  times.Ended(key);
  EXPECT_EQ(Index(), "secret");
}

TEST_F(LogTimesTest, SurvivesARemovedLog) {
  times.Began(key, {directory.get(), "w.0.log"});
  std::filesystem::remove(folder / "w.0.log");
  log.reset();
  io.poll();
  times.Ended(key);
  EXPECT_EQ(Index(), "");
}

}  // namespace
}  // namespace muster
