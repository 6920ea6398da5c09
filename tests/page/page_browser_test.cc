// Tests the pages of muster report --html in a real browser (tests/page/check_page.py).
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "page/page_in_browser.h"
#include "page/written_sweep.h"

namespace muster {
namespace {

using testing::CommandResult;
using testing::PageInBrowser;

TEST_F(PageInBrowser, ShowsASweepOfAThousandTrials) {
  const std::string sweep = folder_ / "layout";
  std::filesystem::create_directory(sweep);
  testing::WriteSweep(sweep, {.trials = 1'000, .points = 1'000});
  Check("sweep", {sweep});
}

TEST_F(PageInBrowser, HasWhatTheDocumentationOfSweepsListsRowByRow) {
  std::filesystem::create_directory(folder_ / "layout");
  testing::WriteSweep(folder_ / "layout", {.trials = 300, .points = 200});
  Check("documented_sweep", {folder_ / "layout"}, "check_documented.py");
}

TEST_F(PageInBrowser, ShowsAFailedRunOfSixtyFourProcesses) {
  std::ofstream(folder_ / "fail.lua") << R"lua(
local muster = require "muster"
local script = [[
  echo "rank $1 </script><img src=x onerror=alert(1)>"
  for step in 1 2 3 4 5; do echo "{\"step\": $step, \"loss\": $((10 - step)).$1, \"</script>\": $step}"; done >> "$MUSTER_METRICS"
  if [ "$1" != 13 ]; then exec sleep 600; fi
  while [ "$(cat "${MUSTER_METRICS%/*}"/*.jsonl | wc -l)" -lt 320 ]; do sleep 0.1; done
  samples() { cat "$MUSTER_RUN_DIR/usage.jsonl" 2> /dev/null | wc -l; }
  before=$(samples)  # of fewer processes
  until [ "$(samples)" -gt $((before + 1)) ]; do sleep 0.1; done
  echo 'Traceback (most recent call last):'
  echo '  File "train.py", line 3, in <module>'
  echo 'RuntimeError: shapes do not fit <b>at all</b>'
  exit 7
]]
return muster.recipe {
  name = "fail",
  params = { workers = muster.int { 8 } },
  plan = function(p, job)
    job:workers { count = p.workers, each = function(process)
      process.command = { "sh", "-c", script, "sh", process.rank }
      process.env.PEER = "peer-" .. process.rank
      process.env.API_TOKEN = "do-not-show"
    end }
  end,
}
)lua";
  const CommandResult run =
      Muster({"run", "fail.lua", "workers=64", "--run-dir", folder_ / "run"}, {"MUSTER_USAGE_SECONDS=0.2"});
  ASSERT_EQ(run.exit_code, 1) << run.err;
  Check("run", {folder_ / "run"});
  Check("documented_run", {folder_ / "run"}, "check_documented.py");
}

// The processes end once there are three samples of both, of all that they use: on a busy machine the first samples may
// be from before the memory is taken, or without an answer of the tool.
TEST_F(PageInBrowser, ShowsTheUsageOfTwoProcesses) {
  std::filesystem::create_directory(folder_ / "bin");
  std::ofstream(folder_ / "bin/nvidia-smi") << "#!/bin/sh\nprintf '0, GPU-a, 1234\\n'\n";
  std::filesystem::permissions(folder_ / "bin/nvidia-smi", std::filesystem::perms::owner_all);
  std::ofstream(folder_ / "use.lua") << R"lua(
local muster = require "muster"
local script = [[
  "$1" allocate "$2" wait & child=$!
  both='$7 >= 65536 && /,1263616\]/ { found++ } END { exit found < 3 }'
  until awk -F'[^0-9]+' "$both" "$MUSTER_RUN_DIR/usage.jsonl" 2> /dev/null; do sleep 0.1; done
  kill $child
]]
return muster.recipe {
  name = "use",
  cluster = { hosts = 1, devices_per_host = 1, device_kind = "cuda" },
  plan = function(p, job)
    local probe = ")lua" MUSTER_TESTS_DIR R"lua(/probe"
    job:workers { count = 1, devices = 0, command = { "sh", "-c", script, "sh", probe, "64" } }
    job:role "gpu" { count = 1, devices = 1, command = { "sh", "-c", script, "sh", probe, "1" } }
  end,
}
)lua";
  const CommandResult run =
      Muster({"run", "use.lua", "--run-dir", folder_ / "run"},
             {"MUSTER_USAGE_SECONDS=1", "MUSTER_HOST_DEVICES=1", "MUSTER_LEASES=" + folder_ / "leases"},
             folder_ / "bin" + ":/usr/bin:/bin");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  Check("usage", {folder_ / "run"});
}

TEST_F(PageInBrowser, ComparesTwoRuns) {
  std::ofstream(folder_ / "short.lua") << R"lua(
local muster = require "muster"
return muster.recipe {
  name = "short",
  params = { loss_scale = muster.int { 1 }, steps = muster.int { 3 } },
  plan = function(p, job)
    job:workers { count = 1, command = { "sh", "-c", [[
      for step in 1 2 3; do echo "{\"step\": $step, \"loss\": $((step * $1))}"; done >> "$MUSTER_METRICS"]], "sh", p.loss_scale } }
  end,
}
)lua";
  for (const char* scale : {"1", "2"}) {
    const CommandResult run = Muster(
        {"run", "short.lua", std::string("loss_scale=") + scale, "--run-dir", folder_ / ("run" + std::string(scale))});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
  Check("compare", {folder_ / "run1", folder_ / "run2"});
}

TEST_F(PageInBrowser, RanksSweepsWithDifferentObjectivesApart) {
  for (const auto& [name, objective, after] :
       {std::tuple("loss", Objective{"loss"}, 0U), std::tuple("accuracy", Objective{"accuracy", true, {}}, 3600U)}) {
    std::filesystem::create_directory(folder_ / name);
    testing::WriteSweep(folder_ / name, {.trials = 40, .points = 1, .objective = objective, .after = after});
  }
  Check("objectives", {folder_ / "loss", folder_ / "accuracy"});
}

// Five trials, whose losses decide what ASHA does with them. Those that it stops wait for that.
TEST_F(PageInBrowser, ShowsWhatASweepStoppedEarly) {
  std::ofstream(folder_ / "trial.lua") << R"lua(
local muster = require "muster"
local script = [[
  [ "$3" = 0 ] || exit 0
  for step in 1 2 3 4; do
    echo "{\"step\": $step, \"loss\": $1}" >> "$MUSTER_METRICS"
    if [ $step = "$2" ]; then exec sleep 600; fi
  done
]]
return muster.recipe {
  name = "trial", params = { x = muster.int { 1 } }, cluster = { device_kind = "cuda" },
  plan = function(p, job)
    local stopped = ({ [5] = 1, [6] = 1, [2] = 2 })[p.x] or 0
    job:workers { count = 2, each = function(process)
      process.command = { "sh", "-c", script, "sh", p.x, stopped, process.rank }
    end }
  end,
}
)lua";
  std::ofstream(folder_ / "early.lua") << R"lua(
local muster = require "muster"
return muster.sweep {
  name = "early", recipe = muster.load "trial.lua", space = { x = muster.choice { 4, 5, 1, 6, 2 } },
  objective = muster.minimize "loss", early_stop = muster.asha { resource = "step", min = 1, max = 4, eta = 2 },
}
)lua";
  const CommandResult sweep = Muster({"sweep", "early.lua", "--slots", "1", "--no-progress"});
  ASSERT_EQ(sweep.exit_code, 0) << sweep.err;
  ASSERT_EQ(Muster({"tag", "early:2", "keep", "owner=ann"}).exit_code, 0);
  ASSERT_EQ(Muster({"tag", "early:4", "owner=ann"}).exit_code, 0);
  Check("early", {"early"}, "check_real_page.py");
  Check("trial", {"early:2"}, "check_real_page.py");
}

TEST_F(PageInBrowser, ShowsARestart) {
  std::ofstream(folder_ / "restarted.lua") << R"lua(
local muster = require "muster"
local script = [[
  if [ "$1$MUSTER_ATTEMPT" = 10 ]; then
    echo '{"step": 1, "loss": 3}' >> "$MUSTER_METRICS"
    exit 75
  fi
  echo 'trained to step 3'
  for step in 2 3; do echo "{\"step\": $step, \"loss\": $step}" >> "$MUSTER_METRICS"; done
]]
return muster.recipe {
  name = "restarted", cluster = { device_kind = "cuda" },
  plan = function(p, job)
    job:workers { count = 2, restart = { max = 1, backoff = 0 }, each = function(process)
      process.command = { "sh", "-c", script, "sh", process.rank }
    end }
  end,
}
)lua";
  const CommandResult run = Muster({"run", "restarted.lua", "--run-dir", folder_ / "run"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  Check("restarted", {folder_ / "run"}, "check_real_page.py");
}

TEST_F(PageInBrowser, CountsTheProcessesOfAWideRunThatItLeavesOut) {
  std::ofstream(folder_ / "wide.lua") << R"lua(
local muster = require "muster"
return muster.recipe { name = "wide", plan = function(p, job)
  job:workers { count = 300, each = function(process)
    process.command = { "sh", "-c", [[echo "{\"step\": 1, \"loss\": $1}" >> "$MUSTER_METRICS"; echo done]], "sh", process.rank }
    process.env.PEER = "peer-" .. process.rank * process.rank
  end }
end }
)lua";
  const CommandResult run = Muster({"run", "wide.lua", "--run-dir", folder_ / "run"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  Check("wide", {folder_ / "run"}, "check_real_page.py");
}

}  // namespace
}  // namespace muster
