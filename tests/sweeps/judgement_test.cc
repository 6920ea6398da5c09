// Tests what a sweep concludes from its trials: values that always fail, the budget of device time, and when no gain is
// expected.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// Size 4 runs out of memory.
class FailingValue : public ::testing::Test {
 protected:
  FailingValue()
      : sweep_("lr = muster.int { 1 }, size = muster.int { 1 }",
               "local train = p.size < 4 and '" + MusterProgram() +
                   " report-metric loss=' .. p.lr or 'echo torch.cuda.OutOfMemoryError; exit 1'\n"
                   "job:workers { count = 1, command = { 'sh', '-c', train } }") {}

  static Words Call(const Words& further = {}) {
    Words words = {"--grid", "lr=1..9", "--grid", "size=1,2,4", "--minimize", "loss", "--slots", "1", "-q"};
    words.insert(words.end(), further.begin(), further.end());
    return words;
  }

  SweepCase sweep_;
};

TEST_F(FailingValue, IsSkippedAndTakenBack) {
  const CommandResult run = sweep_.Sweep(Call());
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_TRUE(Says(run.err,
                   "size=4 is skipped: 4 of 4 trials ended with oom_device; other values: 0 of 8 (5 points "
                   "so far); to try them: muster steer --unskip size=4"))
      << run.err;
  EXPECT_EQ(sweep_.Records("attempt_began").size(), 22U);
  const json skipped = sweep_.Records("value_skipped").at(0);
  EXPECT_EQ(skipped["class"], "oom_device");
  EXPECT_EQ(skipped["trials"].size(), 5U) << skipped;

  const json shown = json::parse(sweep_.Muster({"show", "--json"}).out);
  EXPECT_EQ(shown["skipped"][0]["trials"], 5) << shown;
  EXPECT_EQ(shown["findings"][0]["text"], "size=4: 4 of 4 trials ended with oom_device; other values: 0 of 18");
  EXPECT_EQ(shown["failures"]["size"]["4"], json({{"classes", {{"oom_device", 4}}}, {"failed", 4}, {"over", 4}}));
  const std::string text = sweep_.Muster({"report"}).out;
  EXPECT_TRUE(Says(text, "22 over, 0 impossible, 5 skipped, 0 running, 0 to come")) << text;
  EXPECT_TRUE(Says(text, "5  size=4 is skipped")) << text;
  const CommandResult one = sweep_.Muster({"show", "job:14"});
  EXPECT_TRUE(Says(one.out + one.err, "size=4 is skipped")) << one.out << one.err;

  const CommandResult unknown = sweep_.Muster({"resume", "--unskip", "size=2", "--no-progress"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_TRUE(Says(unknown.err, "--unskip \"size=2\" is not skipped; skipped: size=4")) << unknown.err;
  EXPECT_EQ(sweep_.Muster({"resume", "--unskip", "size=4", "--no-progress", "-q"}).exit_code, 4);
  EXPECT_EQ(sweep_.Records("attempt_began").size(), 27U);
  EXPECT_EQ(sweep_.Records("value_skipped").size(), 1U) << "not again";
  EXPECT_EQ(json::parse(sweep_.Muster({"show", "--json"}).out)["skipped"].size(), 0U);
  EXPECT_EQ(sweep_.Wrong(27), "");
}

TEST_F(FailingValue, IsTriedIfTheSweepSaysSo) {
  EXPECT_EQ(sweep_.Sweep(Call({"--skip-after-failures", "0"})).exit_code, 4);
  EXPECT_EQ(sweep_.Records("attempt_began").size(), 27U);
  sweep_.Write(
      "sweep.lua",
      "local muster = require 'muster'\nreturn muster.sweep { name = 'job', recipe = muster.load 'recipe.lua',\n"
      "space = { size = { 1, 4 } }, skip_after = { failures = -1 } }\n");
  const CommandResult refused = sweep_.Muster({"sweep", "sweep.lua", "--preview"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(Says(refused.err, "failures")) << refused.err;
}

TEST(DeviceHours, EndASweepAndCanBeRaised) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = { 'sleep', '0.1' } }");
  // The first trial takes more than the 36 ms that there are.
  const CommandResult run =
      sweep.Sweep({"--grid", "x=1..4", "--slots", "1", "--max-device-hours", "0.00001", "--name", "short"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(sweep.Records("attempt_began").size(), 1U) << run.err;
  const json ended = sweep.Records("sweep_ended").at(0);
  EXPECT_FALSE(ended["complete"].get<bool>());
  EXPECT_TRUE(Says(ended["why"].get<std::string>(), "the budget of 1e-05 device hours: ")) << ended;
  const json shown = json::parse(sweep.Muster({"show", "short", "--json"}).out)["device_hours"];
  EXPECT_EQ(shown["limit"], 0.00001);
  EXPECT_GT(shown["spent"].get<double>(), 0.00001);
  EXPECT_TRUE(Says(sweep.Muster({"show", "short"}).out, "device hours spent"));

  EXPECT_EQ(sweep.Muster({"resume", "short", "--no-progress"}).exit_code, 0);
  EXPECT_EQ(sweep.Records("attempt_began").size(), 1U) << "nothing is left";
  EXPECT_EQ(sweep.Muster({"resume", "short", "--no-progress", "--max-device-hours", "1000"}).exit_code, 0);
  EXPECT_EQ(sweep.Records("attempt_began").size(), 4U);
  EXPECT_EQ(sweep.Records("sweep_steered").back()["device_hours"], 1000);
}

TEST(NoGain, IsSaidAndEndsASweepThatAsksForIt) {
  const SweepCase sweep("x = muster.float { 0.5 }",
                        "local noise = p.x * 7919.13 * 104.729\n"
                        "local loss = (p.x - 0.4) ^ 2 + noise - math.floor(noise)\n"
                        "job:workers { count = 1, command = { 'sh', '-c', '" +
                            MusterProgram() + " report-metric loss=' .. loss } }");
  const CommandResult run = sweep.Sweep(
      {"--grid", "x=0..1", "--random", "120", "--minimize", "loss", "--stop-after-no-gain", "-q", "--name", "noisy"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ASSERT_EQ(sweep.Records("no_gain_expected").size(), 1U) << run.err;
  EXPECT_TRUE(
      Says(sweep.Records("sweep_ended").at(0)["why"].get<std::string>(), "no gain above the noise is expected"));
  EXPECT_LT(sweep.Records("attempt_began").size(), 120U);
  EXPECT_TRUE(Says(sweep.Muster({"best", "noisy"}).out, "no gain above the noise is expected: after "));
  EXPECT_GE(json::parse(sweep.Muster({"show", "noisy", "--json"}).out)["no_gain"]["results"], 20);
  const CommandResult refused = sweep.Sweep({"--grid", "x=0..1", "--random", "9", "--stop-after-no-gain"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(
      Says(refused.err, "stop_after.no_gain asks what is to be gained in one objective, and the sweep has none"))
      << refused.err;
}

}  // namespace
}  // namespace muster::testing
