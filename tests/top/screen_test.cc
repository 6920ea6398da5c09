// Tests the screen of muster top as lines: a pure function of state, view and size.
#include "top/screen.h"

#include <string>

#include <gtest/gtest.h>

#include "base/values/utf8_text.h"
#include "top/sample_state.h"

namespace muster {
namespace {

using Look = ScreenLine::Look;

std::string Text(const std::vector<ScreenLine>& lines) {
  std::string text;
  for (const ScreenLine& line : lines) text += line.text + "\n";
  return text;
}

std::string Screen(const TopState& state, const TopView& view, TopSize size, const LogPage& page = {}) {
  return Text(TopScreen(state, Fitted(view, state, size), size, page));
}

TEST(TopScreen, ShowsRolesAndProcesses) {
  EXPECT_EQ(Screen(SampleState(), {}, {12, 100}),
            R"(job  run 3f9a1c2b4d5e  running  1 min 3 s
scheduler  1 running  cpu 12%  memory 1.5M
server     0 running, 1 waiting
worker     3 running, 1 ended, 1 failed, 2 restarts  cpu 74%  memory 8.8M
PROCESS      RANK  STATE    CPU  MEMORY  RESTARTS       TIME  LAST LINE
scheduler.0     -  running  12%    1.5M         0  1 min 1 s  listening
server.0        -  waiting    -       -         0          -
worker.0        0  running  12%    1.5M         0  1 min 1 s  step 0
worker.1        1  running  25%    2.9M         2  1 min 1 s  step 1
worker.2        2  running  37%    4.4M         0  1 min 1 s  step 2
worker.3        3  SIGSEGV    -       -         0     250 ms  Loss is NaN
6 of 6   q quit  enter log  r role  o outliers  / text  esc all
)");
}

TopState SampleSweep() {
  TopState state;
  state.is_sweep = state.live = true;
  state.name = "digits";
  state.run = "3f9a1c2b4d5e";
  state.phase = "running";
  state.seconds = 63.2;
  state.objective = "loss";
  state.best = "loss 0.0312 (trial 4)  lr=0.1";
  state.seconds_left = 125;
  for (std::uint32_t number : {5U, 12U}) {
    TopProcess& row = state.processes.emplace_back(SampleProcess("trial", number, "running", ""));
    row.name = "digits:" + std::to_string(number);
    row.trial = TopTrial{120.0 * number, 0.25 / number, {8, 6, 4, 2, 1}, number == 5 ? "0,1" : "", "lr=0.01"};
  }
  state.processes[1].trial->value.reset();
  state.processes[1].trial->curve.clear();
  CountRoles(state);
  state.roles[0].ended = 4;
  return state;
}

TEST(TopScreen, ShowsTheTrialsOfASweepWithTheirCurves) {
  EXPECT_EQ(Screen(SampleSweep(), {}, {9, 80}),
            R"(digits  sweep 3f9a1c2b4d5e  running  1 min 3 s
trial  2 running, 4 ended, about 2 min 5 s left
best   loss 0.0312 (trial 4)  lr=0.1
TRIAL      STATE    STEP  loss  CURVE  DEVICES       TIME  POINT
digits:5   running   600  0.05  █▆▄▂▁  0,1      1 min 1 s  lr=0.01
digits:12  running  1440     -  -      -        1 min 1 s  lr=0.01


2 of 2   q quit  enter log  r role  o outliers  / text  esc all
)");
  TopView view;
  view.glyphs = PlotGlyphs::kAscii;
  EXPECT_NE(Screen(SampleSweep(), view, {9, 80}).find("  #+~._  "), std::string::npos);
  EXPECT_NE(TopTable(SampleSweep()).find("\nbest   loss 0.0312 (trial 4)  lr=0.1\nTRIAL "), std::string::npos);
  TopState wide = SampleSweep();
  wide.processes[0].trial->curve.assign(100, 1);
  EXPECT_EQ(Columns(TopScreen(wide, {}, {9, 200}, {})[4].text) - Columns(TopScreen(wide, {}, {9, 119}, {})[4].text),
            14U)
      << "a wide terminal has a wider curve";
}

TEST(TopScreen, IsNeverLargerThanTheTerminal) {
  TopState state = SampleState();
  state.name = std::string(300, 'n');
  state.processes[2].last_line = "日本語" + std::string(300, 'x');
  for (const TopSize size : {TopSize{24, 80}, {5, 20}, {3, 7}, {2, 1}, {1, 1}, {200, 400}}) {
    for (const TopView::Mode mode : {TopView::Mode::kProcesses, TopView::Mode::kText, TopView::Mode::kLog}) {
      TopView view;
      view.mode = mode;
      const auto lines = TopScreen(state, Fitted(view, state, size), size, {{"日本語", "text"}, "its end"});
      EXPECT_LE(lines.size(), size.rows);
      for (const ScreenLine& line : lines) EXPECT_LE(Columns(line.text), size.columns) << line.text;
    }
  }
}

TEST(TopScreen, MarksTheCursorAndFailedProcesses) {
  TopView view;
  view.cursor = 1;
  const auto lines = TopScreen(SampleState(), view, {12, 100}, {});
  EXPECT_EQ(lines[6].look, Look::kCursor);
  EXPECT_EQ(lines[7].look, Look::kPlain);
  EXPECT_EQ(lines[10].look, Look::kBad);
  EXPECT_EQ(lines[3].look, Look::kBad);
}

TEST(TopScreen, ReportsHowMuchItOmits) {
  TopView view;
  view.role = "worker";
  view.outliers_only = true;
  view.text = "nan";
  EXPECT_EQ(Screen(SampleState(), view, {8, 100}),
            R"(job  run 3f9a1c2b4d5e  running  1 min 3 s
scheduler  1 running  cpu 12%  memory 1.5M
… and 2 more roles
PROCESS   RANK  STATE    CPU  MEMORY  RESTARTS    TIME  LAST LINE
worker.3     3  SIGSEGV    -       -         0  250 ms  Loss is NaN


1 of 6  role worker  outliers only  /nan   q quit  enter log  r role  o outliers  / text  esc all
)");
  view.mode = TopView::Mode::kText;
  EXPECT_NE(Screen(SampleState(), view, {8, 100}).find("/nan_   enter keeps it"), std::string::npos);
}

TEST(TopScreen, ScrollsALogHorizontally) {
  TopView view;
  view.mode = TopView::Mode::kLog;
  view.process = 3;
  view.attempt = 1;
  view.column = 4;
  EXPECT_EQ(Screen(SampleState(), view, {5, 60}, {{"0123456789", "abc"}, "37%"}),
            R"(worker.1 rank 1 attempt 1 of 2  running  log at 37%
456789


q back  arrows, space, b, g, G move  [ ] attempts  end foll…
)");
}

TEST(TopScreen, PrintsATableWithoutATerminal) {
  TopState state = SampleState();
  state.live = false;
  state.phase = "failed";
  state.why = "worker.3 failed";
  EXPECT_TRUE(TopTable(state).starts_with("job  run 3f9a1c2b4d5e  failed  1 min 3 s: worker.3 failed\n"));
  EXPECT_NE(TopTable(state).find("\nworker.3        3  SIGSEGV    -       -         0     250 ms  Loss is NaN\n"),
            std::string::npos);
}

TEST(FrameBytes, SendsOnlyChanges) {
  const std::vector<ScreenLine> before = {{"one"}, {"two"}, {"three", Look::kBold}};
  EXPECT_EQ(FrameBytes(before, before), "");
  EXPECT_EQ(FrameBytes(before, {{"one"}, {"zwei"}, {"three", Look::kBold}}), "\x1b[2;1H\x1b[2Kzwei");
  EXPECT_EQ(FrameBytes(before, {{"one"}, {"two", Look::kBad}}), "\x1b[2;1H\x1b[2K\x1b[31mtwo\x1b[0m\x1b[3;1H\x1b[J");
  EXPECT_EQ(FrameBytes({}, {{"one"}}), "\x1b[1;1H\x1b[2Kone");
}

TEST(FrameBytes, AreFewHoweverManyProcessesThereAre) {
  TopState state;
  for (std::uint32_t i = 0; i < 10'000; ++i) state.processes.push_back(SampleProcess("worker", i, "running", "step"));
  CountRoles(state);
  const TopSize size{50, 120};
  const auto first = TopScreen(state, {}, size, {});
  EXPECT_LT(FrameBytes({}, first).size(), 50U * 160);
  state.processes[3].last_line = "step 4";
  state.processes[9'000].last_line = "not on the screen";
  EXPECT_LT(FrameBytes(first, TopScreen(state, {}, size, {})).size(), 160U);
}

TEST(Columns, CountsWideCharactersTwiceAndCombiningMarksNot) {
  EXPECT_EQ(Columns("abc"), 3U);
  EXPECT_EQ(Columns("日本"), 4U);
  EXPECT_EQ(Columns("e\xcc\x81"), 1U);
  EXPECT_EQ(InColumns("日本語", 5), "日本…");
  EXPECT_EQ(InColumns("日本語", 4), "日… ");
  EXPECT_EQ(InColumns("ab", 4), "ab  ");
  EXPECT_EQ(InColumns("abc", 0), "");
  EXPECT_EQ(FirstColumns("日本", 3), "日");
}

}  // namespace
}  // namespace muster
