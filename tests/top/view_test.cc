// Tests key sequences and their effect on a view, as tables.
#include "top/view.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "top/sample_state.h"

namespace muster {
namespace {

using Mode = TopView::Mode;

constexpr TopSize kSize{10, 100};  // room for 3 roles and 4 processes

// Returns the view after each of these bytes was typed as one key.
TopView Typed(TopView view, std::string bytes) {
  for (const KeyPress& key : TakeKeys(bytes, true)) view = Pressed(std::move(view), key, SampleState(), kSize);
  return view;
}

TEST(TopKeys, AreParsedFromBytes) {
  const struct {
    const char* bytes;
    std::vector<KeyPress> keys;
  } cases[] = {
      {"q", {{Key::kText, "q"}}},
      {"é", {{Key::kText, "é"}}},
      {"\r", {{Key::kEnter}}},
      {"\x7f", {{Key::kBackspace}}},
      {"\x1b[A\x1bOB\x1b[C\x1b[D", {{Key::kUp}, {Key::kDown}, {Key::kRight}, {Key::kLeft}}},
      {"\x1b[5~\x1b[6~\x1b[H\x1bOF", {{Key::kPageUp}, {Key::kPageDown}, {Key::kHome}, {Key::kEnd}}},
      {"\x1b", {{Key::kEscape}}},
      {"\x1b[99;5~x", {{Key::kText, "x"}}},
      {"\x0c\x01", {{Key::kRedraw}}},
      {"\xff", {}},
  };
  for (const auto& test : cases) {
    std::string bytes = test.bytes;
    EXPECT_EQ(TakeKeys(bytes, true), test.keys) << test.bytes;
    EXPECT_EQ(bytes, "");
  }
}

TEST(TopKeys, WaitForTheRestOfASequence) {
  std::string bytes = "j\x1b";
  EXPECT_EQ(TakeKeys(bytes, false), (std::vector<KeyPress>{{Key::kText, "j"}}));
  EXPECT_EQ(bytes, "\x1b");
  bytes += "[";
  EXPECT_TRUE(TakeKeys(bytes, false).empty());
  bytes += "B";
  EXPECT_EQ(TakeKeys(bytes, false), (std::vector<KeyPress>{{Key::kDown}}));
  EXPECT_EQ(bytes, "");
}

TEST(TopKeys, MoveTheCursorAndWhatIsShown) {
  const struct {
    const char* typed;
    std::size_t cursor;
    std::size_t top;
  } cases[] = {{"", 0, 0},   {"k", 0, 0},      {"jj", 2, 0},     {"jjjj", 4, 1}, {"G", 5, 2},
               {"Gk", 4, 2}, {"Gkkk", 2, 2},   {"Gg", 0, 0},     {" ", 4, 1},    {"  ", 5, 2},
               {"Gb", 1, 1}, {"\x1b[B", 1, 0}, {"\x1b[F", 5, 2}, {"x", 0, 0},    {"jjj\x1b[A", 2, 0}};
  for (const auto& test : cases) {
    const TopView view = Typed({}, test.typed);
    EXPECT_EQ(view.cursor, test.cursor) << test.typed;
    EXPECT_EQ(view.top, test.top) << test.typed;
  }
}

TEST(TopKeys, ChooseWhatIsShown) {
  const struct {
    const char* typed;
    std::vector<std::size_t> shown;
  } cases[] = {{"", {0, 1, 2, 3, 4, 5}},
               {"r", {0}},
               {"rrr", {2, 3, 4, 5}},
               {"rrrr", {0, 1, 2, 3, 4, 5}},
               {"o", {3, 5}},
               {"oo", {0, 1, 2, 3, 4, 5}},
               {"/STEP\r", {2, 3, 4}},
               {"/step 2\r", {4}},
               {"/server.0\r", {1}},
               {"/step\x1b", {0, 1, 2, 3, 4, 5}},
               {"/stepp\x7f\r", {2, 3, 4}},
               {"rrro/nan\r", {5}},
               {"rrro/nan\r\x1b", {0, 1, 2, 3, 4, 5}},
               {"Gr", {0}}};
  for (const auto& test : cases) {
    const TopView view = Typed({}, test.typed);
    EXPECT_EQ(Shown(SampleState(), view), test.shown) << test.typed;
    EXPECT_EQ(view.mode, Mode::kProcesses) << test.typed;
    EXPECT_TRUE(view.cursor < test.shown.size()) << test.typed;
  }
  EXPECT_EQ(Typed({}, "/q").mode, Mode::kText) << "while a text is typed, a letter is a letter";
}

TEST(TopKeys, OpenAndLeaveALog) {
  const TopView log = Typed({}, "jjj\r");
  EXPECT_EQ(log.mode, Mode::kLog);
  EXPECT_EQ(log.process, 3U);
  EXPECT_EQ(log.attempt, 2U);
  EXPECT_EQ(log.move, kWholeWay) << "it begins at its end";
  const struct {
    const char* typed;
    std::int64_t move;
    std::size_t column;
    std::uint32_t attempt;
  } cases[] = {{"k", -1, 0, 2},          {"kkj", -1, 0, 2},      {"b", -8, 0, 2},        {" ", 8, 0, 2},
               {"g", -kWholeWay, 0, 2},  {"\x1b[C", 0, 16, 2},   {"\x1b[D", 0, 0, 2},    {"[", kWholeWay, 0, 1},
               {"[[[", kWholeWay, 0, 0}, {"]", kWholeWay, 0, 2}, {"[]", kWholeWay, 0, 2}};
  for (const auto& test : cases) {
    TopView from = log;
    from.move = 0;  // the cursor was moved
    const TopView view = Typed(from, test.typed);
    EXPECT_EQ(view.move, test.move) << test.typed;
    EXPECT_EQ(view.column, test.column) << test.typed;
    EXPECT_EQ(view.attempt, test.attempt) << test.typed;
  }
  EXPECT_EQ(Typed(log, "q").mode, Mode::kProcesses);
  EXPECT_EQ(Typed(log, "qq").mode, Mode::kQuit);
  EXPECT_EQ(Typed(log, "\x1b").mode, Mode::kProcesses);
}

TEST(TopView, SurvivesProcessesThatDisappear) {
  const TopView fitted = Fitted(Typed({}, "G\r"), TopState{}, kSize);
  EXPECT_EQ(fitted.mode, Mode::kProcesses);
  EXPECT_EQ(fitted.cursor, 0U);
  EXPECT_EQ(fitted.top, 0U);
}

}  // namespace
}  // namespace muster
