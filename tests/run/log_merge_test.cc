// Tests reading the timestamps of logs, and merging logs into one stream.
#include <cstdint>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/system/unique_fd.h"
#include "run/directory/process_output.h"
#include "run/logs/log_follower.h"
#include "run/scratch_folder.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

class Logs : public ::testing::Test {
 protected:
  LogSpan Put(const std::string& name, const std::string& text, const std::vector<LogTime>& times) {
    PutFile(folder / name, text);
    if (!times.empty()) {
      std::string index(kTimeIndexHead);
      for (const LogTime& time : times) AppendLogTime(index, time);
      PutFile(folder / TimeIndexPath(name), index);
    }
    return {name, 0, text.size()};
  }
  // Returns pieces such as "0:text 1|more": the index of the span, and '|' for a piece that continues.
  std::string Merged(const std::vector<LogSpan>& spans, std::vector<LineCutter>* rest = nullptr) {
    std::string all;
    MergeLogs(
        at.get(), spans,
        [&](std::size_t span, std::string_view piece, bool continues) {
          all += std::to_string(span) + (continues ? "|" : ":") + std::string(piece) + " ";
          return true;
        },
        [&](std::size_t span, std::uint64_t bytes) { all += std::to_string(span) + "-" + std::to_string(bytes) + " "; },
        rest);
    return all;
  }

  ScratchFolder folder;
  UniqueFd at{::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(Logs, HaveATimeForEveryByte) {
  Put("w.log", "", {{100, 0}, {110, 4}, {200, 9}});
  auto times = LogTimeReader::Open(at.get(), "w.log");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->TimeOf(0), 110U);
  EXPECT_EQ(times->TimeOf(3), 110U);
  EXPECT_EQ(times->TimeOf(4), 200U);
  EXPECT_EQ(times->TimeOf(99), 200U) << "after the last entry: its time";
  EXPECT_EQ(times->TimeOf(0), 110U) << "and back";
  EXPECT_EQ(times->End(), 200U);
}

TEST_F(Logs, FindTheFirstByteSinceAMoment) {
  Put("w.log", "", {{100, 0}, {110, 4}, {200, 9}});
  auto times = LogTimeReader::Open(at.get(), "w.log");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->OffsetAt(0), 0U);
  EXPECT_EQ(times->OffsetAt(110), 0U);
  EXPECT_EQ(times->OffsetAt(111), 4U);
  EXPECT_EQ(times->OffsetAt(200), 4U);
  EXPECT_EQ(times->OffsetAt(201), 9U);
}

TEST_F(Logs, SearchALongIndexLikeALinearScan) {
  std::vector<LogTime> entries;
  for (std::uint64_t i = 0; i < 1'000; ++i) entries.push_back({1'000 + 7 * i, 3 * i});
  Put("w.log", "", entries);
  auto times = LogTimeReader::Open(at.get(), "w.log");
  ASSERT_TRUE(times);
  for (std::uint64_t offset = 0; offset < 3'010; offset += 5) {
    const std::uint64_t entry = std::min<std::uint64_t>(offset / 3 + 1, 999);
    ASSERT_EQ(times->TimeOf(offset), 1'000 + 7 * entry) << offset;
  }
}

TEST_F(Logs, HaveNoTimesWithoutAValidIndex) {
  PutFile(folder / "a.idx", "muster-times/2\n");
  PutFile(folder / "b.idx", std::string(kTimeIndexHead));
  PutFile(folder / "c.idx", std::string(200, 'x'));
  ASSERT_EQ(::symlink((folder / "d").c_str(), (folder / "e.idx").c_str()), 0);
  for (const char* name : {"a.log", "b.log", "c.log", "e.log", "none.log"}) {
    EXPECT_FALSE(LogTimeReader::Open(at.get(), name)) << name;
  }
}

TEST_F(Logs, UseCompleteEntriesOfATruncatedIndex) {
  Put("w.log", "", {{100, 0}, {110, 4}});
  std::string index = ContentOf(folder / "w.idx") + "half an";
  PutFile(folder / "w.idx", index);
  auto times = LogTimeReader::Open(at.get(), "w.log");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->TimeOf(50), 110U);
}

TEST_F(Logs, FindTheBeginningsOfLines) {
  PutFile(folder / "w.log", "one\ntwo\nthree");
  auto opened = LogBytes::Open(AT_FDCWD, folder / "w.log");
  ASSERT_TRUE(opened);
  LogBytes& log = *opened;
  EXPECT_EQ(LineBegin(log, 0), 0U);
  EXPECT_EQ(LineBegin(log, 3), 0U);
  EXPECT_EQ(LineBegin(log, 4), 4U);
  EXPECT_EQ(LineBegin(log, 10), 8U);
  EXPECT_EQ(LineBegin(log, 999), 8U);
  EXPECT_EQ(TailBegin(log, 0), 13U);
  EXPECT_EQ(TailBegin(log, 1), 8U);
  EXPECT_EQ(TailBegin(log, 2), 4U);
  EXPECT_EQ(TailBegin(log, 9), 0U);
}

// A sparse log of 8 TiB.
TEST_F(Logs, CostOnlyTheirContentWhateverTheirLength) {
  constexpr std::uint64_t kFar = std::uint64_t{1} << 43;
  PutFile(folder / "w.log", "begin\n");
  {
    const UniqueFd file(::open((folder / "w.log").c_str(), O_WRONLY | O_CLOEXEC));
    const std::string_view end = "one\ntwo\n";
    if (::pwrite(file.get(), end.data(), end.size(), kFar) < 0) GTEST_SKIP() << "no file is that long here";
  }
  auto log = LogBytes::Open(AT_FDCWD, folder / "w.log");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->Look().end, kFar + 8);
  EXPECT_EQ(TailBegin(*log, 1), kFar + 4);
  const std::uint64_t begin = TailBegin(*log, 3);
  EXPECT_LE(begin, kFar);
  EXPECT_GE(begin, kFar - (64U << 10)) << "a tail does not go back over a hole";
  EXPECT_EQ(LastLines(AT_FDCWD, folder / "w.log").back(), "two");
  EXPECT_EQ(LineBegin(*log, kFar + 5), kFar + 4);
  std::uint64_t missed = 0;
  std::string text;
  MergeLogs(
      at.get(), {{"w.log", 0, kFar + 8}},
      [&](std::size_t, std::string_view piece, bool) {
        text += std::string(piece) + '|';
        return true;
      },
      [&](std::size_t, std::uint64_t bytes) { missed += bytes; });
  EXPECT_TRUE(text.starts_with("begin|")) << text;
  EXPECT_TRUE(text.ends_with("one|two|")) << text;
  EXPECT_GE(missed, kFar - (128U << 10));
  EXPECT_EQ(missed % 512, 0U) << "blocks that nobody wrote";
}

TEST_F(Logs, CountAWindowWithoutANewlineAsALine) {
  PutFile(folder / "w.log", std::string(1'000'000, 'x'));
  auto log = LogBytes::Open(AT_FDCWD, folder / "w.log");
  ASSERT_TRUE(log);
  EXPECT_EQ(TailBegin(*log, 1), 1'000'000U - (64U << 10));
  EXPECT_EQ(TailBegin(*log, 3), 1'000'000U - 3 * (64U << 10));
  EXPECT_EQ(TailBegin(*log, 1'000), 0U);
}

TEST_F(Logs, LimitTheSearchForALinesBeginning) {
  PutFile(folder / "w.log", std::string(200'000, 'x'));
  auto opened = LogBytes::Open(AT_FDCWD, folder / "w.log");
  ASSERT_TRUE(opened);
  LogBytes& log = *opened;
  EXPECT_EQ(LineBegin(log, 150'000), 150'000U);
}

TEST_F(Logs, AreMergedByTheCompletionTimesOfLines) {
  const std::vector<LogSpan> spans = {Put("a.log", "a1\na2\na3", {{10, 0}, {20, 3}, {40, 4}, {60, 8}}),
                                      Put("b.log", "b1\nb2\n", {{15, 0}, {30, 3}, {50, 6}})};
  EXPECT_EQ(Merged(spans), "0:a1 1:b1 1:b2 0:a2 0:a3 ") << "a2 began before b2 and was complete after it";
}

TEST_F(Logs, ComeFirstIfTheirTimesAreUnknown) {
  const std::vector<LogSpan> spans = {Put("a.log", "a1\na2\n", {{10, 0}, {20, 6}}), Put("b.log", "b1\n", {})};
  EXPECT_EQ(Merged(spans), "1:b1 0:a1 0:a2 ");
}

TEST_F(Logs, KeepTheirOrderAtEqualTimes) {
  const std::vector<LogSpan> spans = {Put("a.log", "a1\na2\n", {{10, 0}, {20, 6}}),
                                      Put("b.log", "b1\nb2\n", {{10, 0}, {20, 6}})};
  EXPECT_EQ(Merged(spans), "0:a1 0:a2 1:b1 1:b2 ");
}

TEST_F(Logs, LeaveUnfinishedLinesToTheFollower) {
  const std::vector<LogSpan> spans = {Put("a.log", "a1\nhal", {{10, 0}, {20, 6}}),
                                      Put("b.log", "b1\n", {{10, 0}, {20, 3}}), Put("c.log", "", {})};
  std::vector<LineCutter> rest;
  EXPECT_EQ(Merged(spans, &rest), "0:a1 1:b1 ");
  ASSERT_EQ(rest.size(), 3U);
  std::string line;
  rest[0].Feed("f\n", [&](std::string_view piece, bool) { line = piece; });
  EXPECT_EQ(line, "half");
}

TEST_F(Logs, AreMergedInPiecesIfALineIsEndless) {
  const std::string endless(300'000, 'x');
  std::size_t bytes = 0;
  MergeLogs(at.get(), {Put("a.log", endless, {{10, 0}, {20, endless.size()}})},
            [&](std::size_t, std::string_view piece, bool continues) {
              EXPECT_LE(piece.size(), LineCutter::kMaxPiece);
              EXPECT_EQ(continues, bytes > 0);
              bytes += piece.size();
              return true;
            },
            {});
  EXPECT_EQ(bytes, endless.size());
}

TEST_F(Logs, ReportBytesDroppedBeforeMerging) {
  PutFile(folder / "a.log", "2\n3\n");
  PutFile(folder / TimeIndexPath("a.log"), std::string(kLimitedIndexHead) + LogHeadBytes({2, 2, 0, 1U << 20}));
  const LogSpan whole = Put("b.log", "b\n", {});
  EXPECT_EQ(Merged({{"a.log", 0, 6}, whole}), "0-2 0:2 0:3 1:b ");
}

TEST_F(Logs, AreMergedOnlyUntilCancelled) {
  int lines = 0;
  MergeLogs(at.get(), {Put("a.log", "1\n2\n3\n", {})}, [&](std::size_t, std::string_view, bool) { return ++lines < 2; },
            {});
  EXPECT_EQ(lines, 2);
}

}  // namespace
}  // namespace muster
