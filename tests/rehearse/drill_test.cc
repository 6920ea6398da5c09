// Tests drills on this machine, with stubs and with a real program: faults, promises that are kept, and promises that
// are not.
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "rehearse/drilled.h"

namespace muster::testing {
namespace {

constexpr const char* kRestarts = "count = 3, restart = { max = 9, scope = 'job', backoff = '50ms' }";
const std::string kNewest = "'sleep', '1000', job.checkpoint.newest";

TEST(Drill, KillsStopsAndSlowsStubsWhichContinueFromTheirCheckpoint) {
  const Drilled drill(DrillRecipe(kRestarts, kNewest),
                      {"--stub", "--step", "20ms", "--inject", "kill:worker:1@600ms", "--inject",
                       "stop:worker.2@800ms+200ms", "--inject", "slow:localhost@1200ms+200ms", "--time", "2s"});
  ASSERT_EQ(drill.result.exit_code, 0) << drill.result.out << drill.result.err;
  const auto kill = drill.Row("kill worker.1");
  EXPECT_EQ(kill["happened"], "restart 1 of 9: the job");
  EXPECT_EQ(kill["expected"], kill["happened"]);
  EXPECT_LT(kill["steps_lost"], 20) << "a checkpoint is written every 10 steps";
  EXPECT_EQ(kill["checkpoint"], "newest");
  EXPECT_EQ(drill.Row("stop worker.2")["checkpoint"], nullptr);
  EXPECT_EQ(drill.Row("stop worker.2")["happened"], "the run goes on");
  EXPECT_EQ(drill.Row("slow")["happened"], "the run goes on");
  EXPECT_EQ(drill.Row("(the end)")["happened"], "stopped, exit code 143");
  EXPECT_EQ(drill.json["decisions"], 1);
  EXPECT_EQ(drill.json["as_simulated"], 1);
}

TEST(Drill, KillsHeadAndAgentAndLetsOtherRunsContinue) {
  const Drilled drill(DrillRecipe(kRestarts, kNewest),
                      {"--stub", "--step", "20ms", "--inject", "head@500ms", "--inject", "agent:host0@1500ms", "--time",
                       "3s", "--resumes", "2"});
  ASSERT_EQ(drill.result.exit_code, 0) << drill.result.out << drill.result.err;
  EXPECT_EQ(drill.json["runs"].size(), 3U);
  EXPECT_EQ(drill.Row("head")["happened"], "every process ends");
  EXPECT_EQ(drill.Row("agent host0")["happened"], "the run ends");
  EXPECT_EQ(drill.Row("(resumed)")["outcome"], "ok");
  EXPECT_EQ(drill.Row("(resumed)")["checkpoint"], "newest");
  const auto report_of = [&](int run) {
    const auto said = drill.Muster({"report", drill.json["runs"][run]["run_dir"], "--json"});
    return nlohmann::json::parse(said.out, nullptr, false);
  };
  const auto first = report_of(0);
  EXPECT_EQ(first["outcome"], "lost");
  ASSERT_EQ(first["faults"].size(), 1U) << first;
  EXPECT_EQ(first["faults"][0]["what"], "head");
  EXPECT_EQ(report_of(1)["faults"][0]["what"], "agent host0");
  EXPECT_EQ(report_of(2)["faults"].size(), 0U);
  EXPECT_EQ(report_of(2)["drill"], true);
  EXPECT_NE(drill.Muster({"ls"}).out.find("job (drill)"), std::string::npos);
  const std::string text = drill.Muster({"report", drill.json["runs"][0]["run_dir"]}).out;
  EXPECT_TRUE(text.starts_with("drill of job lost: ")) << text;
  EXPECT_NE(text.find("  fault     head after "), std::string::npos) << text;
  EXPECT_EQ(text.find("checks"), std::string::npos) << "stubs of a drill check nothing: " << text;
  const std::string last = drill.json["runs"][2]["run_dir"];
  const auto ledger =
      nlohmann::json::parse(drill.Muster({"report", "--ledger", last, "--json"}).out, nullptr, false)["ledger"];
  EXPECT_EQ(ledger["runs"], 3) << ledger;
  EXPECT_EQ(ledger["drills"]["runs"], 3) << ledger;
  EXPECT_EQ(ledger["drills"]["rows"], ledger["rows"]);
  const std::string spent = drill.Muster({"report", "--ledger", last}).out;
  EXPECT_TRUE(spent.starts_with("ledger of 3 drills, in process slot ")) << spent;
  const CommandResult hosts = drill.Muster({"hosts"});
  EXPECT_EQ(hosts.out, "no run of yours has ended on any host yet\n") << "what was broken is no failure of a host";
}

TEST(Drill, ReportsAJobThatBeginsAgainAlthoughItHasACheckpoint) {
  const std::string forgetful =
      "for i in 1 2 3 4 5 6 7 8 9; do echo \"{\\\"step\\\": $i}\" >> \"$MUSTER_METRICS\"; mkdir -p \"$0\"; echo > "
      "\"$0/step_$i.txt\"; done; exec sleep 1000";
  const Drilled drill(DrillRecipe("count = 1, restart = { max = 3, backoff = '50ms' }",
                                  "'/bin/sh', '-c', [[" + forgetful + "]], job.checkpoint.dir"),
                      {"--inject", "kill:worker:0@500ms", "--time", "1500ms"});
  EXPECT_EQ(drill.result.exit_code, 1) << drill.result.out << drill.result.err;
  const auto kill = drill.Row("kill worker.0");
  EXPECT_EQ(kill["outcome"], "wrong");
  EXPECT_NE(kill["happened"].get<std::string>().find("it began again at step 1, and not from"), std::string::npos);
  EXPECT_EQ(kill["steps_lost"], 9);
  EXPECT_EQ(kill["checkpoint"], "none");
}

// It steps back by ten steps more than it has to.
const std::string kCautious =
    "from=0; if [ -n \"$1\" ]; then from=${1##*_}; from=$((${from%.txt} - 10)); fi; mkdir -p \"$0\"; for i in $(seq "
    "$((from + 1)) 40); do echo \"{\\\"step\\\": $i}\" >> \"$MUSTER_METRICS\"; if [ $((i % 10)) = 0 ]; then echo > "
    "\"$0/step_$i.txt\"; fi; done; exec sleep 1000";
const std::string kFromOlder = "'/bin/sh', '-c', [[" + kCautious + "]], job.checkpoint.dir, job.checkpoint.newest";

TEST(Drill, ReportsAJobThatContinuesFromAnOlderCheckpoint) {
  const Drilled drill(DrillRecipe("count = 1, restart = { max = 3, backoff = '50ms' }", kFromOlder),
                      {"--inject", "kill:worker:0@1s", "--time", "2500ms"});
  EXPECT_EQ(drill.result.exit_code, 1) << drill.result.out << drill.result.err;
  const auto kill = drill.Row("kill worker.0");
  EXPECT_EQ(kill["checkpoint"], "older");
  EXPECT_NE(kill["happened"].get<std::string>().find("/step_30.txt, and not from the newest checkpoint "),
            std::string::npos)
      << kill;
}

TEST(Drill, ReportsARunThatContinuesFromAnOlderCheckpoint) {
  const Drilled drill(DrillRecipe("count = 1", kFromOlder),
                      {"--inject", "head@1s", "--time", "2500ms", "--resumes", "1"});
  EXPECT_EQ(drill.result.exit_code, 1) << drill.result.out << drill.result.err;
  const auto resumed = drill.Row("(resumed)");
  EXPECT_EQ(resumed["outcome"], "wrong") << drill.result.out;
  EXPECT_EQ(resumed["checkpoint"], "older");
  EXPECT_EQ(drill.Row("head")["outcome"], "ok");
}

TEST(Drill, ReportsAProcessThatHangsWhileTheOthersWriteOn) {
  const Drilled drill(DrillRecipe("count = 2, limits = { silent = '1s' }, restart = { max = 3 }", kNewest),
                      {"--stub", "--step", "50ms", "--inject", "stop:worker:1@200ms", "--time", "1s"});
  EXPECT_EQ(drill.result.exit_code, 1) << drill.result.out << drill.result.err;
  EXPECT_EQ(drill.Row("stop worker.1")["happened"], "the run goes on: nobody has noticed it");
}

TEST(Drill, SeesALimitOfSilenceEndAProcessThatHangs) {
  const Drilled drill(
      DrillRecipe("count = 1, limits = { silent = '1s' }, restart = { max = 3, backoff = '50ms' }", kNewest),
      {"--stub", "--step", "50ms", "--inject", "stop:worker:0@200ms", "--inject", "kill:worker:0@8s", "--time", "9s"});
  EXPECT_EQ(drill.result.exit_code, 0) << drill.result.out << drill.result.err;
  EXPECT_EQ(drill.Row("stop worker.0")["happened"], "restart 1 of 3: the job");
  EXPECT_EQ(drill.Row("kill worker.0")["happened"], "restart 2 of 3: the job");
}

TEST(Drill, MissesFaultsAfterTheEndOfTheRun) {
  const Drilled drill(DrillRecipe("count = 2"), {"--inject", "kill:worker:0@100ms", "--inject", "kill:worker:1@10s"});
  EXPECT_EQ(drill.result.exit_code, 1) << drill.result.out << drill.result.err;
  EXPECT_EQ(drill.Row("kill worker.0")["outcome"], "ok") << "without restarts the recipe promises an end";
  EXPECT_EQ(drill.Row("kill worker.0")["happened"], "the run ends");
  EXPECT_EQ(drill.Row("kill worker.1")["outcome"], "missed");
}

TEST(Drill, RefusesEverythingBeforeTheRun) {
  const Drilled drill(DrillRecipe("count = 2"),
                      {"--inject", "kill:worker:7@1s", "--inject", "cut:host0@1s+1s", "--inject", "stop:worker:0@1s"});
  EXPECT_EQ(drill.result.exit_code, 2);
  EXPECT_EQ(drill.json["diagnostics"].size(), 3U) << drill.result.out;
  const Drilled none(DrillRecipe("count = 2"), {});
  EXPECT_NE(none.result.err.find("no fault is given"), std::string::npos) << none.result.err;
}

constexpr const char* kVerdicts =
    "count = 2, limits = { silent = '1s' }, restart = { verdict = true, scope = 'job', backoff = '1ms' }";

TEST(Drill, LetsStubsFailOfThemselvesAndFindsOutHow) {
  const Drilled drill(DrillRecipe(kVerdicts, kNewest),
                      {"--stub", "--step", "10ms", "--inject", "exception:worker:1@300ms", "--inject",
                       "memory:worker:0@700ms", "--inject", "port:worker:1@1100ms", "--inject", "exit:host0@1500ms",
                       "--inject", "hang:worker:1@2s", "--time", "5s"});
  ASSERT_EQ(drill.result.exit_code, 0) << drill.result.out << drill.result.err;
  const std::vector<std::string> all = {"exception: restart", "memory: restart", "port: restart", "exit: restart",
                                        "silent: restart"};
  EXPECT_EQ(drill.Verdicts(), all) << drill.result.out;
  EXPECT_EQ(drill.json["as_simulated"], 5);
  EXPECT_EQ(drill.Row("exit worker.0 on host0")["outcome"], "ok") << "the first process of the host";
}

TEST(Drill, StopsADefectThatRepeatsAtAStep) {
  const Drilled late(DrillRecipe(kVerdicts, kNewest),
                     {"--stub", "--step", "10ms", "--inject", "exception:worker:1@23steps", "--time", "10s"});
  EXPECT_EQ(late.result.exit_code, 0) << late.result.out << late.result.err;
  const std::vector<std::string> twice = {"exception: restart", "exception: stop"};
  EXPECT_EQ(late.Verdicts(), twice);
  const auto row = late.Row("(of itself) worker.1: exception");
  EXPECT_EQ(row["happened"], row["expected"]);
  const Drilled first(DrillRecipe(kVerdicts, kNewest),
                      {"--stub", "--step", "10ms", "--inject", "exception:worker:1@21steps", "--time", "10s"});
  EXPECT_EQ(first.Verdicts(), twice) << "the first step after a checkpoint\n" << first.result.out;
  const Drilled silent(DrillRecipe(kVerdicts, kNewest),
                       {"--stub", "--step", "10ms", "--inject", "exit:worker:1@21steps", "--time", "10s"});
  EXPECT_EQ(silent.Verdicts(), (std::vector<std::string>{"exit: restart", "exit: stop"}))
      << "the second attempt writes nothing\n"
      << silent.result.out;
  const Drilled early(DrillRecipe(kVerdicts, kNewest), {"--stub", "--inject", "exit:worker:0@0steps", "--time", "10s"});
  EXPECT_EQ(early.Verdicts(), (std::vector<std::string>{"exit: restart", "exit: stop"})) << early.result.out;
  const Drilled never(DrillRecipe(kVerdicts, kNewest),
                      {"--stub", "--step", "10ms", "--inject", "exit:worker:0@900steps", "--time", "300ms"});
  EXPECT_EQ(never.Row("exit worker.0 at step 900")["outcome"], "missed");
}

TEST(Drill, StopsForAnEngineAndContinuesFromTheCheckpoint) {
  const Drilled drill(DrillRecipe(kVerdicts, kNewest), {"--stub", "--step", "10ms", "--inject", "preempt@300ms",
                                                        "--inject", "timelimit@1s", "--time", "2s", "--resumes", "2"});
  ASSERT_EQ(drill.result.exit_code, 0) << drill.result.out << drill.result.err;
  EXPECT_EQ(drill.Row("preempt")["happened"], "the run stops");
  EXPECT_EQ(drill.Row("timelimit")["happened"], "the run stops");
  EXPECT_EQ(drill.json["runs"].size(), 3U);
  EXPECT_EQ(drill.Row("(resumed)")["outcome"], "ok");
  EXPECT_TRUE(drill.Verdicts().empty()) << "an engine's end is no failure";
}

// Words before a command that mount a small file system as this folder, for the command alone, and print afterwards how
// full it is.
std::vector<std::string> WithSmallDisk(const std::string& disk) {
  std::vector<std::string> words = {"/usr/bin/unshare", "--mount"};
  if (::geteuid() != 0) words.insert(words.end(), {"--user", "--map-root-user"});
  words.insert(words.end(), {"/bin/sh", "-c",
                             "mkdir \"$0\" && mount -t tmpfs -o size=1m,mode=700 drill \"$0\" || exit 77; : "
                             ">\"$0/muster-may-fill\"; \"$@\"; code=$?; df --output=pcent \"$0\" >&2; exit $code",
                             disk});
  return words;
}

TEST(Drill, FillsADiskAndGivesItBack) {
  const TempDir folder;
  const std::string disk = folder / "disk";
  std::string recipe = DrillRecipe("count = 2, restart = { verdict = true, scope = 'job', backoff = '1ms' }", kNewest);
  recipe.replace(recipe.find("checkpoints'"), 0, disk + "/");
  const Drilled drill(recipe, {"--stub", "--step", "10ms", "--inject", "disk:" + disk + "@200ms+10s", "--time", "8s"},
                      WithSmallDisk(disk));
  if (drill.result.exit_code == 77) GTEST_SKIP() << "a file system of its own cannot be mounted here";
  EXPECT_EQ(drill.result.exit_code, 0) << drill.result.out << drill.result.err;
  EXPECT_EQ(drill.Verdicts(), (std::vector<std::string>{"disk: restart", "disk: stop"})) << drill.result.out;
  const auto row = drill.Row("disk host0:" + disk);
  EXPECT_EQ(row["expected"], row["happened"]);
  EXPECT_NE(drill.result.err.find("Use%\n  1%"), std::string::npos) << "the space is free again\n" << drill.result.err;
}

TEST(Drill, FillsNoDiskThatOthersNeed) {
  const TempDir folder;
  const std::string recipe = DrillRecipe("count = 1");
  for (const std::string& needed :
       {std::string("/"), folder.path(), std::string("/dev/shm"), std::string("/nowhere")}) {
    const Drilled drill(recipe, {"--stub", "--inject", "disk:" + needed + "@1s+1s"});
    EXPECT_EQ(drill.result.exit_code, 2) << drill.result.out;
    EXPECT_EQ(drill.json["diagnostics"].size(), 1U) << drill.result.out;
  }
}

TEST(Drill, DrawsTheSameFaultsForASeed) {
  const std::vector<std::string> options = {"--stub", "--step", "10ms",   "--between", "400ms",
                                            "--time", "1s",     "--seed", "7"};
  const Drilled once(DrillRecipe(kRestarts, kNewest), options);
  const Drilled again(DrillRecipe(kRestarts, kNewest), options);
  ASSERT_EQ(once.result.exit_code, 0) << once.result.out << once.result.err;
  std::vector<std::string> faults[2];
  for (const auto& row : once.json["faults"]) faults[0].push_back(row["fault"]);
  for (const auto& row : again.json["faults"]) faults[1].push_back(row["fault"]);
  EXPECT_GT(faults[0].size(), 1U);
  EXPECT_EQ(faults[0], faults[1]);
}

}  // namespace
}  // namespace muster::testing
