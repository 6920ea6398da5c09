// Tests sweeps whose points come from a program: the example, one that misbehaves, and a resumed sweep.
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

class OptimizedSweep : public ::testing::Test {
 protected:
  OptimizedSweep()
      : sweep_("x = muster.float { 0.5 }, n = muster.int { 1 }",
               "job:check(p.n ~= 3, 'n = 3 brings bad luck')\n"
               "job:workers { count = 1, command = { 'muster', 'report-metric', 'loss=' .. (p.x - 0.3) ^ 2 } }") {}

  CommandResult Run(const std::string& trials, const std::string& optimizer) const {
    return sweep_.Sweep({"--grid", "x=0..1", "--grid", "n=1,2,3", "--minimize", "loss", "--slots", "1", "-q", "--pipe",
                         trials, "--optimizer", optimizer});
  }
  // Runs a sweep by a program whose lines after the first these are: `ask` answers, `results` are those so far.
  CommandResult RunWith(const std::string& lines) const {
    std::filesystem::remove_all(sweep_.home() + "/sweeps");  // of those that begin in one second none is the newest
    sweep_.Write("optimizer.py",
                 "import json, sys\nbegin = json.loads(sys.stdin.readline())\nresults = []\n"
                 "def answer(*points): print(json.dumps({'points': points}), flush=True)\n"
                 "for line in sys.stdin:\n    event = json.loads(line)\n"
                 "    if event['event'] == 'result':\n        results.append(event)\n        continue\n" +
                     lines);
    return Run("6", "/usr/bin/python3 -B optimizer.py");
  }
  std::vector<double> Tried() const {
    std::vector<double> tried;
    for (const json& record : sweep_.Records("attempt_began")) tried.push_back(record["point"]["x"].get<double>());
    return tried;
  }

  SweepCase sweep_;
};

TEST_F(OptimizedSweep, TriesThePointsOfTheExample) {
  const CommandResult run = Run("40", "/usr/bin/python3 -B " MUSTER_SOURCE_DIR "/examples/optimizer.py");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(sweep_.Wrong(40), "");
  const json best = json::parse(sweep_.Muster({"best", "--json"}).out)["trials"][0];
  EXPECT_LT(best["value"].get<double>(), 0.01) << "|x - 0.3| below 0.1";
  EXPECT_TRUE(sweep_.NothingLeft());
}

TEST_F(OptimizedSweep, HearsResultsAndTheHistoryWhenItIsResumed) {
  const std::string lines =
      "    open('heard', 'w').write(json.dumps(results))\n"
      "    answer(*[{'x': round(0.01 * (len(results) + i), 2), 'n': 3 if len(results) == 2 else 1} for i in "
      "range(event['count'])])\n";
  const CommandResult run = RunWith(lines);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Tried(), (std::vector<double>{0, 0.01, 0.03, 0.04, 0.05}));
  json heard = json::parse(ContentOf(sweep_ / "heard"));
  ASSERT_EQ(heard.size(), 5U);
  EXPECT_EQ(heard[0]["state"], "complete");
  EXPECT_NEAR(heard[0]["value"].get<double>(), 0.09, 1e-9);
  EXPECT_EQ(heard[2]["state"], "impossible");
  EXPECT_EQ(heard[2]["point"]["n"], 3);
  const CommandResult more = sweep_.Muster({"resume", "-q", "--add-trials", "2", "--try", "x=7,n=2"});
  ASSERT_EQ(more.exit_code, 0) << more.err;
  heard = json::parse(ContentOf(sweep_ / "heard"));
  ASSERT_EQ(heard.size(), 8U) << "all of the first head, and the chosen one";
  EXPECT_EQ(heard[0]["trial"], 0);
  EXPECT_EQ(heard[6]["point"]["x"], 7.0);
  EXPECT_EQ(sweep_.Wrong(9), "");
}

TEST_F(OptimizedSweep, EndsWithoutLosingResultsIfItsProgramMisbehaves) {
  const struct {
    const char* lines;
    const char* why;
  } cases[] = {
      {"    if results: sys.exit('no idea')\n    answer({'x': 0.1, 'n': 1})\n",
       "exited with code 1 while it was asked for points; its last message: no idea"},
      {"    if results: print('hello', flush=True)\n    else: answer({'x': 0.1, 'n': 1})\n",
       "wrote \"hello\": not valid JSON"},
      {"    answer({'x': 0.1 + 5 * len(results), 'n': 1})\n", "the space of the sweep has no point n=1, x=5.1"},
      {"    if results: print('x' * 2000000, flush=True)\n    else: answer({'x': 0.1, 'n': 1})\n",
       "wrote a line of more than 1048576 bytes"},
      {"    one = json.dumps({'points': [{'x': 0.1 + 0.1 * len(results), 'n': 1}]})\n"
       "    print(one + '\\n' + one if results else one, flush=True)\n",
       "and it was not asked"},
      {"    if results: answer()\n    else: answer({'x': 0.1, 'n': 1})\n", "waits for results, and no trial runs"},
  };
  for (const auto& test : cases) {
    const CommandResult run = RunWith(test.lines);
    EXPECT_EQ(run.exit_code, 2) << test.lines << run.err;
    EXPECT_TRUE(Says(run.err, test.why)) << test.lines << run.err;
    EXPECT_GE(sweep_.Records("attempt_ended").size(), 1U);
    for (const json& record : sweep_.Records("attempt_ended")) EXPECT_EQ(record["class"], "ok");
    EXPECT_EQ(sweep_.Wrong(), "");
    EXPECT_TRUE(sweep_.NothingLeft());
  }
  // A program that is repaired goes on.
  RunWith("    if results: sys.exit('no idea')\n    answer({'x': 0.1, 'n': 1})\n");
  sweep_.Write(
      "optimizer.py",
      "import json, sys\nfor line in sys.stdin:\n    event = json.loads(line)\n"
      "    if event['event'] == 'ask': print(json.dumps({'points': [{'x': 0.01 * event['first'] + 0.2, 'n': 2} "
      "]}), flush=True)\n");
  const CommandResult resumed = sweep_.Muster({"resume", "-q"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(sweep_.Wrong(6), "");
}

TEST_F(OptimizedSweep, GivesUpAProgramThatHangsAndEndsItsProcesses) {
  sweep_.Write("hang.lua",
               "local muster = require 'muster'\nreturn muster.sweep { name = 'hangs', recipe = muster.load "
               "'recipe.lua', objective = muster.minimize 'loss', space = { x = muster.uniform(0, 1) },\n"
               "sampler = muster.pipe { command = { 'sh', '-c', 'trap \"\" TERM; sleep 1000 & sleep 1000' }, trials = "
               "3, timeout = '200ms' } }\n");
  const CommandResult run = sweep_.Muster({"sweep", "hang.lua", "-q"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_TRUE(Says(run.err, "did not answer within")) << run.err;
  EXPECT_TRUE(sweep_.NothingLeft());
}

TEST_F(OptimizedSweep, IsRefusedBeforeItBegins) {
  const CommandResult missing = Run("6", "no-such-program --x");
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_TRUE(Says(missing.err, "the optimizer no-such-program --x cannot be started")) << missing.err;
  EXPECT_FALSE(std::filesystem::exists(sweep_.home())) << "nothing is created before it is checked";
  const CommandResult none = sweep_.Sweep({"--grid", "n=1,2", "--minimize", "loss", "--pipe", "6"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(Says(none.err, "--optimizer 'python3 my.py'")) << none.err;
  const CommandResult without = sweep_.Sweep({"--grid", "n=1,2", "--minimize", "loss", "--optimizer", "true"});
  EXPECT_TRUE(Says(without.err, "--pipe 30")) << without.err;
  const CommandResult preview = sweep_.Sweep(
      {"--grid", "n=1,2,3", "--minimize", "loss", "--pipe", "6", "--optimizer", "touch started", "--preview"});
  EXPECT_EQ(preview.exit_code, 0) << preview.err;
  EXPECT_TRUE(Says(preview.out, "sampler   pipe to touch started, seed 0, 6 trials\n")) << preview.out;
  EXPECT_FALSE(std::filesystem::exists(sweep_ / "started"));
}

}  // namespace
}  // namespace muster::testing
