// Tests scrolling in a log of any size.
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temp_dir.h"
#include "top/top.h"

namespace muster {
namespace {

using Lines = std::vector<std::string>;

class Log {
 public:
  explicit Log(const std::string& text) { Append(text); }
  void Append(const std::string& text) { std::ofstream(path(), std::ios::app | std::ios::binary) << text; }
  std::string path() const { return folder_ / "log"; }

 private:
  testing::TempDir folder_;
};

std::string Numbered(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i) text += std::to_string(i) + "\n";
  return text;
}

TEST(LogPager, BeginsAtTheEndAndFollowsIt) {
  Log log(Numbered(0, 100));
  LogPager pager(log.path());
  EXPECT_EQ(pager.Page(3).lines, (Lines{"97", "98", "99"}));
  log.Append("100\nunfin");
  EXPECT_EQ(pager.Page(3).lines, (Lines{"99", "100", "unfin"}));
  EXPECT_EQ(pager.Page(3).where, "its end");
}

TEST(LogPager, MovesByLines) {
  Log log(Numbered(0, 100));
  LogPager pager(log.path());
  pager.Move(-10, 3);
  EXPECT_EQ(pager.Page(3).lines, (Lines{"87", "88", "89"}));
  log.Append("more\n");
  EXPECT_EQ(pager.Page(3).lines.front(), "87") << "who has moved up stays there";
  pager.Move(2, 3);
  EXPECT_EQ(pager.Page(3).lines.front(), "89");
  pager.Move(-kWholeWay, 3);
  EXPECT_EQ(pager.Page(3).lines, (Lines{"0", "1", "2"}));
  pager.Move(-1, 3);
  EXPECT_EQ(pager.Page(3).lines.front(), "0");
  pager.Move(1'000, 3);
  log.Append("last\n");
  EXPECT_EQ(pager.Page(3).lines.back(), "last") << "who has come to the end follows it";
}

TEST(LogPager, ShowsAnEndlessLineInPieces) {
  Log log(std::string(3 << 20, 'x'));
  LogPager pager(log.path());
  EXPECT_EQ(pager.Page(4).lines.size(), 4U);
  pager.Move(-100, 4);
  const LogPage page = pager.Page(4);
  ASSERT_EQ(page.lines.size(), 4U);
  EXPECT_LE(page.lines[0].size(), 4096U);
  EXPECT_NE(page.where, "its end");
}

TEST(LogPager, EscapesControlBytes) {
  Log log(
      "\x1b]0;title\x07\x9b"
      "31m\nloading 1%\rloading 2%\r\n");
  EXPECT_EQ(LogPager(log.path()).Page(9).lines, (Lines{"\\x1b]0;title\\x07\\x9b31m", "loading 2%"}));
}

TEST(LogPager, ShowsOnlyRegularFiles) {
  const testing::TempDir folder;
  EXPECT_TRUE(LogPager(folder / "none").Page(5).lines.empty());
  EXPECT_TRUE(LogPager(folder.path()).Page(5).lines.empty());
  ASSERT_EQ(::symlink("/etc/passwd", (folder / "link").c_str()), 0);
  EXPECT_TRUE(LogPager(folder / "link").Page(5).lines.empty());
}

}  // namespace
}  // namespace muster
