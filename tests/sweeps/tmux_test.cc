// Tests what a user sees of a running sweep of 48 trials in a real terminal, narrow and wide: muster top, watch, and
// logs as they grow.
#include <sstream>

#include <gtest/gtest.h>

#include "base/values/utf8_text.h"
#include "sweeps/sweep_case.h"
#include "sweeps/tmux_pane.h"

namespace muster::testing {
namespace {

constexpr std::size_t kTrials = 48;
constexpr std::size_t kRows = 24;

// Trials 0 to 3 end at once. Each later one reports six steps, prints a line, and ends when the file "go" exists.
constexpr char kPanePlan[] =
    "job:workers { count = 1, stop = { grace = '1h' }, command = { 'sh', '-c', 'for i in 1 2 3 4 5 6; do echo "
    "\"{\\\\\"step\\\\\": $i, \\\\\"loss\\\\\": $((700 - 100 * i + ' .. p.x .. '))}\" >> $MUSTER_METRICS; done; "
    "exec \"$0\" \"$@\"', probe, 'print', 'hello ' .. p.x, 'file', here .. '/began.' .. p.x, "
    "p.x > 4 and { 'await', here .. '/go' } } }";

class SweepInATerminal : public ::testing::TestWithParam<std::size_t> {
 protected:
  SweepInATerminal() : sweep_("x = muster.int { 1 }", kPanePlan) {
    sweep_.WriteRecipe("x = muster.int { 1 }", kPanePlan, "cluster = { device_kind = 'cuda' },");
    sweep_.SetVariable("MUSTER_LEASES=" + sweep_ / "leases");
    sweep_.SetVariable("MUSTER_HOST_DEVICES=4");
  }
  void SetUp() override {
    if (::access("/usr/bin/tmux", X_OK) != 0) GTEST_SKIP() << "tmux is missing";
    head_.emplace(sweep_.StartSweep({"--grid", "x=1..48", "--minimize", "loss", "-q"}));
    for (const char* trial : {"began.5", "began.6", "began.7", "began.8"}) {
      EXPECT_TRUE(AwaitFile(sweep_ / trial)) << sweep_.Errors();
    }
  }

  std::size_t columns() const { return GetParam(); }

  TmuxPane Pane(const Words& words) const {
    Words command = {MusterProgram()};
    command.insert(command.end(), words.begin(), words.end());
    return {sweep_ / "",
            "pane",
            columns(),
            kRows,
            {"PATH=/usr/bin:/bin", "MUSTER_HOME=" + sweep_.home(), "SWEEP_CASE=" + sweep_ / ""},
            command};
  }

  void EndSweep() {
    sweep_.Write("go", "");
    EXPECT_EQ(head_->End(), 0) << sweep_.Errors();
    EXPECT_EQ(sweep_.Wrong(static_cast<int>(kTrials)), "");
  }

  SweepCase sweep_;
  std::optional<StartedProgram> head_;
};

// The line of the screen that begins with the text.
std::string LineWith(const std::string& screen, const std::string& begin) {
  std::istringstream lines(screen);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begin)) return line;
  }
  return "";
}

TEST_P(SweepInATerminal, IsShownByTopWithTheCurveOfEachTrial) {
  {
    const TmuxPane pane = Pane({"top"});
    const std::string screen = pane.Await({"job:4 ", "job:7 ", " left", "of 4   q quit"});
    EXPECT_TRUE(Says(LineWith(screen, "trial"), "4 running, 40 waiting, 4 ended, about ")) << screen;
    EXPECT_EQ(LineWith(screen, "best"), "best   loss 101 (trial 0)  x=1") << screen;
    EXPECT_EQ(LineWith(screen, "TRIAL").substr(0, 27), "TRIAL  STATE    STEP  loss ") << screen;
    for (const char* trial : {"4", "5", "6", "7"}) {
      const std::string number = std::to_string(101 + std::stoi(trial));
      const std::string line = LineWith(screen, std::string("job:") + trial);
      EXPECT_TRUE(line.starts_with(std::string("job:") + trial + "  running     6   " + number + "  █▇▅▄▂▁  ")) << line;
      EXPECT_TRUE(line.ends_with(std::string("  x=") + std::to_string(1 + std::stoi(trial)))) << line;
    }
    std::set<std::string> devices;
    for (const char* trial : {"job:4", "job:5", "job:6", "job:7"}) {
      const std::string line = LineWith(screen, trial);
      devices.insert(line.substr(line.find("▁") + std::string("▁  ").size(), 1));
    }
    EXPECT_EQ(devices, (std::set<std::string>{"0", "1", "2", "3"})) << screen;
    std::istringstream lines(screen);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(Columns(line), columns()) << line;
    pane.Type("\r");
    EXPECT_TRUE(Says(pane.Await({"hello 5", "log at"}), "hello 5"));
    pane.Type("q");
    pane.Await({"TRIAL"});
    pane.Type("q");
    EXPECT_TRUE(Says(pane.Await({"pane: exit 0"}), "pane: exit 0"));
  }
  EndSweep();
}

TEST_P(SweepInATerminal, IsWatchedToItsEnd) {
  const TmuxPane pane = Pane({"watch", "job"});
  const std::string screen = pane.Await({"4 of 48 trials over: 4 ok", "trial 7 "});
  EXPECT_TRUE(Says(screen, "muster: trial 0 ok in ")) << screen;
  EXPECT_TRUE(Says(LineWith(screen, "4 running"), " left")) << screen;
  EXPECT_EQ(LineWith(screen, "best"), "best  trial 0  loss 101  x=1") << screen;
  EXPECT_EQ(LineWith(screen, "trial 7"), "trial 7  step 6, loss 108 (x=8)") << screen;
  EndSweep();
  const std::string end = pane.Await({"pane: exit 0"});
  EXPECT_TRUE(Says(end, "48 of 48 trials over: 48 ok")) << end;
  EXPECT_TRUE(Says(end, "job: all trials have ended")) << end;
}

TEST_P(SweepInATerminal, HasItsLogsFollowedToTheLastTrial) {
  const TmuxPane pane = Pane({"logs", "job", "-f"});
  const std::string screen = pane.Await({"job:4 worker.0 rank 0 | hello 5", "job:7 worker.0 rank 0 | hello 8"});
  EXPECT_FALSE(Says(screen, "hello 9")) << screen;
  EndSweep();
  const std::string end = pane.Await({"pane: exit 0"});
  EXPECT_TRUE(Says(end, "job:47 worker.0 rank 0 | hello 48")) << end;
}

INSTANTIATE_TEST_SUITE_P(Of, SweepInATerminal, ::testing::Values(80U, 200U),
                         [](const auto& each) { return std::to_string(each.param) + "Columns"; });

}  // namespace
}  // namespace muster::testing
