// Tests trials whose script ends them early: since the sweep asks it to, and by a rule of its own.
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

class ScriptStop : public ::testing::Test {
 protected:
  ScriptStop()
      : sweep_(
            "x = muster.int { 0 }",
            "job:workers { count = 1, command = { '/usr/bin/python3', '-B', here .. '/train.py', tostring(p.x) } }") {}

  json Ended(std::uint64_t trial) const {
    for (json record : sweep_.Records("attempt_ended")) {
      if (record["trial"] == trial) return record;
    }
    return {};
  }

  SweepCase sweep_;
};

TEST_F(ScriptStop, HappensWhereTheScriptAsks) {
  sweep_.Write("train.py",
               "import sys, time, muster_context\nx = int(sys.argv[1])\nstep = 0\n"
               "while not muster_context.should_stop() and (x > 0 or step < 9):\n"
               "    step += 1\n    muster_context.report(step=step, loss=x)\n    time.sleep(0.005)\n"
               "print('saved' if muster_context.should_stop() else 'done')\n");
  const CommandResult run =
      sweep_.Sweep({"--grid", "x=0,1", "--minimize", "loss", "--asha", "step:1..9/3", "--slots", "1", "-q"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Ended(0)["class"], "ok");
  EXPECT_EQ(Ended(1)["class"], "stopped");
  EXPECT_EQ(sweep_.Muster({"logs", "job:0"}).out, "done\n");
  EXPECT_EQ(sweep_.Muster({"logs", "job:1"}).out, "saved\n");
  EXPECT_EQ(sweep_.Wrong(2), "");
}

TEST_F(ScriptStop, ByARuleOfTheScriptIsAResult) {
  sweep_.Write("train.py",
               "import sys, muster_context\nx = int(sys.argv[1])\nmuster_context.report(step=1, loss=-x)\n"
               "if x == 1: muster_context.report(stopped='the loss explodes')\n"
               "if x == 2: muster_context.report(stopped='it lies'); sys.exit(1)\n"
               "if x == 3: muster_context.report(stopped=1)\n");
  const CommandResult run = sweep_.Sweep({"--grid", "x=0..3", "--minimize", "loss", "--slots", "1", "-q"});
  EXPECT_NE(run.exit_code, 0) << "a trial failed";
  EXPECT_EQ(Ended(0)["class"], "ok");
  EXPECT_EQ(Ended(1)["class"], "stopped");
  EXPECT_EQ(Ended(1)["why"], "its script stopped it: the loss explodes");
  EXPECT_EQ(Ended(1)["loss"], -1);
  EXPECT_EQ(Ended(2)["class"], "crash");
  EXPECT_EQ(Ended(3)["class"], "ok") << "a number is no reason";
  EXPECT_EQ(sweep_.Wrong(4), "");
  const std::size_t before = sweep_.Records("attempt_began").size();
  sweep_.Muster({"resume", "-q"});
  EXPECT_EQ(sweep_.Records("attempt_began").size(), before) << "it is not repeated";
}

}  // namespace
}  // namespace muster::testing
