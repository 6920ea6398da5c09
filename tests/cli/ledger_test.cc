// Tests muster report --ledger on real runs, against an independent computation from their journals: runs that succeed,
// fail, are restarted, resumed, stopped or lose their head, and a sweep.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>

#include "cli/muster_command.h"
#include "support/check_ledger.h"
#include "support/journal_records.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

constexpr char kCheckpoint[] = "checkpoint = { dir = 'checkpoints', latest = 'step_*.txt' },";

class LedgerOfRuns : public ::testing::Test {
 protected:
  CommandResult Call(Words words) const {
    return Muster(std::move(words),
                  {"MUSTER_HOME=" + home(), "MUSTER_HOST_DEVICES=2", "MUSTER_LEASES=" + folder_ / "leases"});
  }
  std::string home() const { return folder_ / "home"; }
  // Returns the run directory.
  std::string Run(Words words, int exit_code = 0) {
    const std::string dir = folder_ / std::to_string(++runs_);
    words.insert(words.begin(), {"run", "--run-dir", dir, "--quiet"});
    const CommandResult result = Call(std::move(words));
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return dir;
  }
  // Expects exactly these rows, in the order of the page.
  static void ExpectRows(const std::string& checked, const Words& names) {
    Words found;
    for (std::size_t at = 0; (at = checked.find(' ', at)) != std::string::npos;) {
      const std::size_t end = checked.find('=', ++at);
      if (end != std::string::npos) found.push_back(checked.substr(at, end - at));
    }
    EXPECT_EQ(found, names) << checked;
  }

  TempDir folder_;
  int runs_ = 0;
};

const Words kSuccess = {"starting_place", "starting_start", "productive_kept", "failing_stopping"};

TEST_F(LedgerOfRuns, CountsDevicesOfARunThatSucceeds) {
  const OneRecipe recipe("job:workers { count = 2, devices = 1, command = { 'true' } }",
                         "cluster = { hosts = 1, devices_per_host = 2 },");
  const std::string run = Run({recipe.path()});
  const std::string checked = CheckedLedger({run}, {run});
  EXPECT_NE(checked.find(" productive_kept="), std::string::npos) << checked;
  EXPECT_EQ(checked.find(" productive_lost="), std::string::npos) << checked;
  const json ledger = json::parse(Call({"report", "--ledger", "--json", run}).out)["ledger"];
  EXPECT_EQ(ledger["counts"], "device");
  EXPECT_EQ(ledger["runs"], 1);
  const CommandResult text = Call({"report", "--ledger", run});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.out.find("ledger of 1 run, in device "), 0U) << text.out;
  const json kept = json::parse(Call({"ls", run, "--columns", "kept", "--json"}).out)["runs"][0]["columns"]["kept"];
  EXPECT_NEAR(kept.get<double>(), ledger["rows"]["productive_kept"].get<double>() / ledger["total"].get<double>(),
              1e-9);
}

TEST_F(LedgerOfRuns, CountsProcessesOfARunThatFails) {
  const OneRecipe recipe(
      "job:role 'data' { command = muster.shell 'true', ready = { done = true } }\n"
      "job:workers { count = 2, devices = 0, after = 'data', command = muster.shell 'exit 3' }");
  const std::string run = Run({recipe.path()}, 1);
  const std::string checked = CheckedLedger({run}, {run});
  EXPECT_NE(checked.find(" productive_lost="), std::string::npos) << checked;
  EXPECT_EQ(json::parse(Call({"report", "--ledger", "--json", run}).out)["ledger"]["counts"], "process slot");
}

TEST_F(LedgerOfRuns, LosesTheWorkAfterTheCheckpointOfARestart) {
  const OneRecipe recipe(
      "job:workers { count = 2, devices = 1, restart = { max = 1, scope = 'job', backoff = '10ms' }, command = "
      "muster.shell [["
      "if [ $MUSTER_ATTEMPT = 0 ]; then mkdir -p \"$MUSTER_RUN_DIR/checkpoints\"; sleep 0.05; "
      "[ $MUSTER_RANK = 0 ] || exec sleep 1000; echo 3 > $MUSTER_RUN_DIR/checkpoints/step_3.txt; sleep 0.05; exit 1; "
      "fi]] }",
      std::string(kCheckpoint) + "cluster = { hosts = 1, devices_per_host = 2 },");
  const std::string run = Run({recipe.path()});
  ASSERT_EQ(RecordsOf(run + "/journal.jsonl", "checkpoint_seen").size(), 1U);
  EXPECT_GE(RecordsOf(run + "/journal.jsonl", "checkpoint_seen")[0]["age_ms"], 0);
  const std::string checked = CheckedLedger({run}, {run});
  for (const char* row : {" productive_kept=", " productive_lost=", " failing_stopping="}) {
    EXPECT_NE(checked.find(row), std::string::npos) << checked;
  }
  std::filesystem::remove_all(run + "/checkpoints");
  EXPECT_EQ(CheckedLedger({run}, {run}), checked) << "the journal knows when it was written";
}

TEST_F(LedgerOfRuns, CoversTheRunThatWasContinued) {
  const OneRecipe recipe(
      "job:workers { count = 1, devices = 0, command = { 'python3', '" MUSTER_SOURCE_DIR
      "/tests/cli/programs/counting.py', '--steps', 5, '--die-at', p.die_at, '--dir', job.checkpoint.dir, "
      "job.resume and { '--from', job.resume.checkpoint } or false } }",
      std::string(kCheckpoint) + "params = { die_at = muster.int { 0 } },");
  const std::string killed = Run({recipe.path(), "die_at=3"}, 1);
  const std::string alone = CheckedLedger({killed}, {killed});
  EXPECT_NE(alone.find(" productive_kept="), std::string::npos) << alone;
  const std::string resumed = Run({"--resume", killed, "die_at=0"});
  CheckedLedger({resumed}, {killed, resumed});
  CheckedLedger({killed, resumed, resumed}, {killed, resumed});
  EXPECT_EQ(json::parse(Call({"report", "--ledger", "--json", resumed}).out)["ledger"]["runs"], 2);
}

TEST_F(LedgerOfRuns, ReadsFoldersOfRuns) {
  const OneRecipe recipe("job:workers { count = 1, devices = 0, command = { 'true' } }");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Call({"run", recipe.path(), "--quiet"}).exit_code, 0);
  Words runs;
  for (const auto& run : std::filesystem::directory_iterator(home() + "/runs/t")) {
    if (!run.is_symlink()) runs.push_back(run.path());
  }
  ASSERT_EQ(runs.size(), 2U);
  CheckedLedger({home()}, runs);
  CheckedLedger({home() + "/runs"}, runs);
  CheckedLedger({home() + "/runs/t"}, runs);
  const std::string damaged = home() + "/runs/t/20260101-000000-0123456789ab";
  std::filesystem::copy(runs[0], damaged, std::filesystem::copy_options::recursive);
  std::ofstream(damaged + "/journal.jsonl") << "{";
  const json with_damage = json::parse(Call({"report", "--ledger", "--json", home()}).out);
  EXPECT_EQ(with_damage["ledger"]["runs"], 2);
  ASSERT_EQ(with_damage["missing"].size(), 1U);
  EXPECT_NE(with_damage["missing"][0].get<std::string>().find(damaged), std::string::npos);
  std::filesystem::remove_all(damaged);
  const CommandResult none = Call({"report", "--ledger", folder_.path() + "/nothing"});
  EXPECT_NE(none.exit_code, 0);
}

TEST_F(LedgerOfRuns, OfARunThatIsStoppedWaitsForItsCheckpoint) {
  const OneRecipe recipe(
      "job:workers { count = 1, devices = 0, command = { 'python3', '" MUSTER_SOURCE_DIR
      "/tests/cli/programs/counting.py', '--steps', 5, '--dir', job.checkpoint.dir, '--stop', p.muster } }",
      "checkpoint = { dir = 'checkpoints', latest = 'step_*.txt', signal = 'USR1' }, params = { muster = muster.string "
      "{ '' } },");
  const std::string run = Run({recipe.path(), "muster=" + std::string(MusterProgram())}, 128 + SIGTERM);
  const std::string checked = CheckedLedger({run}, {run});
  EXPECT_NE(checked.find(" checkpoint_stalls="), std::string::npos) << checked;
}

// Whether the log grew as often before and after, which makes it a stall, depends on the machine's load.
TEST_F(LedgerOfRuns, FindsTheTimeInWhichACheckpointWasWritten) {
  const OneRecipe recipe(
      "job:workers { count = 1, devices = 0, command = { 'python3', '-c', [[import os, time\n"
      "folder = os.environ['MUSTER_RUN_DIR'] + '/checkpoints'\n"
      "os.mkdir(folder)\n"
      "def steps():\n"
      "    for step in range(90):\n"
      "        print('step', step, flush=True)\n"
      "        time.sleep(0.02)\n"
      "steps()\n"
      "with open(folder + '/step_1.tmp', 'w') as file:\n"
      "    print('begins', file=file, flush=True)\n"
      "    time.sleep(1.5)\n"
      "    print('ends', file=file)\n"
      "os.rename(folder + '/step_1.tmp', folder + '/step_1.txt')\n"
      "steps()]] } }",
      kCheckpoint);
  const std::string run = Run({recipe.path()});
  const std::string checked = CheckedLedger({run}, {run});
  EXPECT_NE(checked.find(" checkpoint_"), std::string::npos) << checked;
}

TEST_F(LedgerOfRuns, CountsTheSilenceBeforeItsLimit) {
  const OneRecipe recipe(
      "job:workers { count = 2, devices = 0, limits = { silent = '500ms' }, command = muster.shell 'echo says; exec "
      "sleep 1000' }");
  const std::string run = Run({recipe.path()}, 1);
  ASSERT_FALSE(RecordsOf(run + "/journal.jsonl", "limit_passed").empty());
  const std::string checked = CheckedLedger({run}, {run});
  EXPECT_NE(checked.find(" silent="), std::string::npos) << checked;
}

TEST_F(LedgerOfRuns, OfARunWhoseHeadWasKilledEndsWithItsLastSign) {
  const OneRecipe recipe(
      "job:workers { count = 1, devices = 0, command = { 'python3', '-c', [[import json, os, time\n"
      "pid = json.loads(open(os.environ['MUSTER_RUN_DIR'] + '/journal.jsonl').readline())['pid']\n"
      "print('begins', flush=True)\n"
      "os.kill(pid, 9)\n"
      "time.sleep(1000)]] } }");
  const std::string run = Run({recipe.path()}, 128 + SIGKILL);
  for (const pid_t left : ProcessesWith(run)) AwaitEnd(left);
  const std::string checked = CheckedLedger({run}, {run});
  EXPECT_NE(checked.find(" productive_lost="), std::string::npos) << checked;
}

TEST_F(LedgerOfRuns, OfASweepHasItsTrialsAndTheTimeBetweenThem) {
  const OneRecipe recipe(
      "job:workers { count = 1, devices = 1, command = muster.shell('echo \"{\\\\\"loss\\\\\": ' .. p.x .. '}\" >> "
      "$MUSTER_METRICS; '"
      " .. (p.x == 3 and 'exit 3' or 'true')) }",
      "cluster = { hosts = 1, devices_per_host = 1 }, params = { x = muster.int { 1 } },");
  const CommandResult swept =
      Call({"sweep", recipe.path(), "--grid", "x=1..4", "--slots", "1", "--minimize", "loss", "--no-progress"});
  std::string sweep;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(home() + "/sweeps")) {
    if (entry.path().filename() == "sweep.json") sweep = entry.path().parent_path();
  }
  ASSERT_NE(sweep, "") << swept.err;
  const std::string checked = CheckedLedger({sweep}, {}, sweep);
  for (const char* row : {" productive_kept=", " productive_lost=", " idle_devices="}) {
    EXPECT_NE(checked.find(row), std::string::npos) << checked;
  }
  EXPECT_EQ(json::parse(Call({"report", "--ledger", "--json", sweep}).out)["ledger"]["runs"], 4);
}

// Of runs that differ by chance: devices, readiness, failures at a step, restarts of different scopes, checkpoints,
// silence, killed heads, and runs that continue them. Their steps are reported, so hardly anything is unknown.
TEST_F(LedgerOfRuns, OfManyRunsAgreesWithTheirJournals) {
  const std::string body =
      "job:workers { count = p.count, devices = p.devices,\n"
      "  ready = p.ready and { file = job.run_dir .. '/up' } or nil,\n"
      "  restart = p.restarts > 0 and { max = p.restarts, scope = p.scope, backoff = '10ms' } or nil,\n"
      "  limits = p.how == 'silence' and { silent = '400ms' } or nil,\n"
      "  command = { 'sh', '-c', [[\n"
      "from=$1 at=$2 who=$3 how=$4 checkpoints=$MUSTER_RUN_DIR/checkpoints\n"
      "mkdir -p $checkpoints; touch $MUSTER_RUN_DIR/up\n"
      "for step in 1 2 3 4 5 6; do\n"
      "  [ $step -gt $from ] || continue\n"
      "  sleep 0.02; echo step $step; echo '{\"step\": '$step'}' >> $MUSTER_METRICS\n"
      "  [ $MUSTER_RANK != 0 ] || { echo $step > $checkpoints/new.tmp; mv $checkpoints/new.tmp "
      "$checkpoints/step_$step.txt; }\n"
      "  [ $step$MUSTER_RANK$MUSTER_ATTEMPT = $at${who}0 ] || continue\n"
      "  case $how in\n"
      "    fails) exit 3;;\n"
      "    dies) kill -9 $$;;\n"
      "    silence) exec sleep 1000;;\n"
      "    head) head=$(sed -n '1s/.*\"pid\":\\([0-9]*\\).*/\\1/p' $MUSTER_RUN_DIR/journal.jsonl)\n"
      "      kill -9 $head; exec sleep 1000;;\n"
      "  esac\n"
      "done]], 'sh', job.resume and job.resume.checkpoint:match('step_(%d+)') or 0, p.at, p.who, p.how } }";
  const std::string params =
      "cluster = { hosts = 1, devices_per_host = 2 },\n"
      "params = { count = muster.int { 2 }, devices = muster.int { 0 }, ready = muster.bool { false },\n"
      "  restarts = muster.int { 0 }, scope = muster.string { 'job' }, at = muster.int { 0 },\n"
      "  who = muster.int { 0 }, how = muster.string { 'fails' } },\n";
  const OneRecipe with(body, std::string(kCheckpoint) + params);
  const OneRecipe without(body, params);
  const int runs = std::getenv("MUSTER_LONG") != nullptr ? 60 : 6;
  std::map<std::string, double> sums;
  double total = 0;
  for (int number = 0; number < runs; ++number) {
    std::mt19937 random(static_cast<unsigned>(number));
    const auto below = [&](unsigned limit) { return std::to_string(random() % limit); };
    const OneRecipe& recipe = random() % 3 == 0 ? without : with;
    const std::string how = Words{"fails", "dies", "head", "silence"}[static_cast<std::size_t>(number) % 4];
    const std::string dir = folder_ / std::to_string(++runs_);
    Words words = {"run", "--run-dir", dir, "--quiet", recipe.path(), "how=" + how, "devices=" + below(2)};
    for (const std::string& word :
         {"ready=" + std::string(random() % 2 == 0 ? "true" : "false"), "restarts=" + below(2),
          "scope=" + Words{"process", "role", "job"}[random() % 3], "at=" + below(7), "who=" + below(2)}) {
      words.push_back(word);
    }
    const CommandResult result = Call(words);
    for (const pid_t left : ProcessesWith(dir)) AwaitEnd(left);
    Words chain = {dir};
    if (result.exit_code != 0 && &recipe == &with) {
      const CommandResult resumed =
          Call({"run", "--run-dir", folder_ / std::to_string(++runs_), "--quiet", "--resume", dir, "at=0"});
      if (resumed.exit_code == 0) chain.push_back(folder_ / std::to_string(runs_));
    }
    const std::string checked = CheckedLedger({chain.back()}, chain);
    std::istringstream rows(checked);
    for (std::string row; rows >> row;) {
      const std::size_t equals = row.find('=');
      ASSERT_NE(equals, std::string::npos) << checked;
      sums[row.substr(0, equals)] += std::stod(row.substr(equals + 1));
      total += std::stod(row.substr(equals + 1));
    }
    if (HasFailure()) FAIL() << "run " << number << ": " << result.err;
  }
  double unknown = 0;
  for (const char* why : {"unrecorded", "active", "checkpoint_time", "stopped", "checkpoint_writing"})
    unknown += sums[why];
  EXPECT_LE(unknown, total / 100);
  for (const char* row : {"productive_kept", "productive_lost", "failing_stopping"}) EXPECT_GT(sums[row], 0) << row;
  for (const auto& [row, ns] : sums) std::printf("%-24s %6.2f %%\n", row.c_str(), 100 * ns / total);
}

TEST_F(LedgerOfRuns, IsABarOnThePage) {
  const OneRecipe recipe("job:workers { count = 1, devices = 0, command = { 'true' } }");
  const std::string run = Run({recipe.path()});
  const CommandResult page = Call({"report", run, "--html", "-"});
  EXPECT_NE(page.out.find("\"ledger\":{\"counts\":\"process slot\""), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
