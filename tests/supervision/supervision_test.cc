// Tests recipes with `after`, `ready`, `restart`, `limits` and `done`, run by the muster program with real processes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "supervision/job.h"

namespace muster::testing {
namespace {

using nlohmann::json;

using Words = std::vector<std::string>;

TEST(Order, FollowsReadiness) {
  const Job job(R"(
    job:role "prepare" { command = { probe, "print", "prepared", "exit", "0" }, ready = { done = true } }
    job:servers { count = 2, command = { probe, "listen", "0" }, ports = "rpc", after = "prepare", done = "never",
                  stop = { grace = "1s" }, ready = { port = "rpc", timeout = "60s" },
                  each = function(process) process.command = { probe, "listen", process.ports.rpc, "wait" } end }
    job:workers { count = 1, command = { probe, "exit", "0" }, after = { "server" } })");
  EXPECT_EQ(job.result.exit_code, 0) << job.result.err;
  const Words events = job.Events({"start_ordered", "process_ready"});
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[0], "start_ordered 0 0");
  EXPECT_EQ(events[1], "start_ordered 1 0");
  EXPECT_EQ(events[2], "start_ordered 2 0");
  EXPECT_EQ(events[5], "start_ordered 3 0");
}

TEST(Order, NamesAProcessThatDoesNotBecomeReady) {
  const Job job(R"(
    job:role "service" { command = { probe, "wait" }, ready = { line = "up", timeout = "200ms" }, stop = { grace = "1s" } }
    job:workers { count = 1, command = { probe, "exit", "0" }, after = "service" })");
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_EQ(job.report["first_failure"]["role"], "service");
  EXPECT_EQ(job.report["first_failure"]["why"], "was not ready within 200 ms");
  EXPECT_NE(job.result.err.find("service.0 was not ready within 200 ms"), std::string::npos) << job.result.err;
  EXPECT_EQ(job.Events({"start_ordered"}), Words{"start_ordered 0 0"});
}

// The first attempt fails; the second finds a file of the first.
constexpr const char* kSecondTime =
    R"(muster.shell 'echo attempt $MUSTER_ATTEMPT; test -e "$MUSTER_RUN_DIR/$MUSTER_ROLE.$MUSTER_INDEX" || { touch "$MUSTER_RUN_DIR/$MUSTER_ROLE.$MUSTER_INDEX"; exit 3; }')";

// Reports steps from 5 to 7 in each attempt, like a training that resumes from a checkpoint, and fails as given.
std::string FailsAtStepSeven(const std::string& how, const std::string& restart) {
  return "job:workers { count = 1, restart = " + restart +
         ", command = muster.shell 'for i in 5 6 7; do echo \\'{\"step\": \\'$i\\'}\\' >> \"$MUSTER_METRICS\"; done; " +
         how + "' }";
}

TEST(Restart, EndsByAVerdictWhenAFailureRepeats) {
  const Job job(FailsAtStepSeven("echo no such token; exit 3", "{ verdict = true, backoff = 0 }"));
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_EQ(job.Events({"start_ordered", "failure_judged"}),
            (Words{"start_ordered 0 0", "failure_judged 0 0", "start_ordered 0 1", "failure_judged 0 1"}));
  ASSERT_EQ(job.report["failures"].size(), 2U);
  EXPECT_EQ(job.report["failures"][0]["verdict"]["verdict"], "restart");
  EXPECT_EQ(job.report["failures"][1]["verdict"], json({{"verdict", "stop"},
                                                        {"rule", "same failure again"},
                                                        {"evidence", "the same failure happened 2 times at step 7"},
                                                        {"obeyed", true}}));
  EXPECT_NE(job.Text().find("  verdict   stop: the same failure happened 2 times at step 7\n"), std::string::npos)
      << job.Text();
}

// worker.1 fails after step 70, before worker.0 has completed the checkpoint of that step; its second attempt, which
// begins there, fails before it has reported a step.
TEST(Restart, EndsByAVerdictWhenTheCheckpointOfTheStepComesAfterTheFailure) {
  const Job job(R"lua(
    job:workers { count = 2, restart = { verdict = true, scope = "job", backoff = 0 }, each = function(process)
      if process.rank == 0 then
        process.command = muster.shell [[cd "$MUSTER_RUN_DIR"; mkdir -p checkpoints
          trap "echo 70 > checkpoints/step_70.txt; exit 0" TERM; touch up; while :; do sleep 0.01; done]]
      else
        process.command = muster.shell [[cd "$MUSTER_RUN_DIR"; while ! test -e up; do sleep 0.01; done
          test $MUSTER_ATTEMPT = 0 && echo '{"step": 70}' >> "$MUSTER_METRICS"; exit 3]]
      end
    end, command = { probe, "wait" } })lua",
                "checkpoint = { dir = 'checkpoints', latest = 'step_*.txt' },");
  EXPECT_EQ(job.result.exit_code, 1) << job.Text();
  ASSERT_EQ(job.report["failures"].size(), 2U) << job.Text();
  EXPECT_EQ(job.report["failures"][1]["verdict"]["evidence"], "the same failure happened 2 times at step 70");
}

TEST(Whatif, AppliesOtherRulesToTheFailuresOfARun) {
  const Job job(FailsAtStepSeven("exit 3", "{ max = 3, backoff = 0 }"));
  const CommandResult same = job.Muster({"whatif", job.RunDir()});
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_NE(same.out.find("stop, the same failure happened 2 times at step 7\n"), std::string::npos) << same.out;
  EXPECT_NE(same.out.find("without the 2 failures that followed"), std::string::npos) << same.out;
  EXPECT_NE(same.out.find("these rules give the same verdicts\n"), std::string::npos) << same.out;
  std::ofstream(job.Folder() + "/rules.json") << R"(["progress"])";
  const CommandResult other = job.Muster({"whatif", job.RunDir(), "--rules", "rules.json"});
  EXPECT_NE(other.out.find("restart, no rule says that a restart cannot help (it was: stop, same failure again)"),
            std::string::npos)
      << other.out;
  EXPECT_NE(other.out.find("3 of 4 verdicts differ\n"), std::string::npos) << other.out;
  const json printed = json::parse(job.Muster({"whatif", job.RunDir(), "--rules", "rules.json", "--json"}).out);
  EXPECT_EQ(printed["differ"], 3);
  EXPECT_EQ(printed["failures"][1]["was"], "stop");
  EXPECT_EQ(printed["failures"][1]["verdict"], "restart");
  const CommandResult of_a_sweep = job.Muster({"whatif", job.RunDir(), "--eta", "3"});
  EXPECT_EQ(of_a_sweep.exit_code, 2) << of_a_sweep.out;
  EXPECT_NE(of_a_sweep.err.find("of a run: --rules FILE"), std::string::npos) << of_a_sweep.err;
  std::ofstream(job.Folder() + "/rules.json") << R"(["progres"])";
  const CommandResult refused = job.Muster({"whatif", job.RunDir(), "--rules", "rules.json"});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_NE(refused.err.find("muster has no rule \"progres\""), std::string::npos) << refused.err;
}

TEST(Whatif, RulesOfTheSiteAreObeyed) {
  RunFolder folder;
  folder.WriteRecipe(FailsAtStepSeven("exit 3", "{ verdict = true, max = 2, backoff = 0 }"));
  std::ofstream(folder.Folder() + "/rules.json")
      << R"([{"name": "never twice", "verdict": "stop", "because": "{class}"}])";
  std::ofstream(folder.Folder() + "/muster.site.lua") << "return require('muster').site { verdicts = 'rules.json' }\n";
  const CommandResult run = folder.Muster({"run", "recipe.lua", "--run-dir", folder.RunDir()});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  ASSERT_EQ(folder.Records("failure_judged").size(), 1U);
  EXPECT_EQ(folder.Records("failure_judged")[0]["rule"], "never twice");
}

TEST(Simulate, ComparesSettings) {
  RunFolder folder;
  folder.WriteRecipe("job:workers { count = 4, devices = 0, command = { probe, 'exit', '0' } }",
                     "cluster = { hosts = 2, devices_per_host = 2 },");
  std::ofstream(folder.Folder() + "/trace") << "# seconds, host, seconds down\n90000 1 7200\n";
  const CommandResult traced =
      folder.Muster({"simulate", "recipe.lua", "--failures", "trace", "--time", "2d", "--save", "0", "--start", "1h",
                     "--interval", "1h", "--spare-hosts", "0,1", "--policy", "verdict"});
  EXPECT_EQ(traced.exit_code, 0) << traced.err;
  // 48 h: a start of 1 h, 24 h kept, the loss at 25 h, and without the spare 2 h of waiting; another start of 1 h.
  EXPECT_NE(traced.out.find("1 h 0 min      0  verdict   91.7"), std::string::npos) << traced.out;
  EXPECT_NE(traced.out.find("1 h 0 min      1  verdict   95.8"), std::string::npos) << traced.out;
  const CommandResult drawn =
      folder.Muster({"simulate", "recipe.lua", "--between", "20d", "--lives", "3", "--policy", "none,verdict"});
  EXPECT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_EQ(
      drawn.out,
      folder.Muster({"simulate", "recipe.lua", "--between", "20d", "--lives", "3", "--policy", "none,verdict"}).out);
  std::ofstream(folder.Folder() + "/trace") << "10 x\n";
  const CommandResult refused = folder.Muster({"simulate", "recipe.lua", "--failures", "trace"});
  EXPECT_NE(refused.err.find("\"10 x\" is no failure"), std::string::npos) << refused.err;
}

TEST(Simulate, SweepsAboutTheBestIntervalWithRememberedFailures) {
  RunFolder folder;
  folder.WriteRecipe("job:workers { count = 4, devices = 0, command = { probe, 'exit', '0' } }",
                     "cluster = { hosts = 2, devices_per_host = 2 },");
  const std::string state = folder.Folder() + "/state";
  const auto simulate = [&](const Words& options) {
    Words words = {MusterProgram(), "simulate", "recipe.lua", "--history", "--time", "20d"};
    words.insert(words.end(), options.begin(), options.end());
    return RunCommand({words, {"PATH=/usr/bin:/bin", "XDG_STATE_HOME=" + state}, folder.Folder()});
  };
  const Words call = {"--sweep", "--lives", "2", "--json"};
  const CommandResult unknown = simulate(call);
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.out.find("no failure of a host is remembered"), std::string::npos) << unknown.out;
  std::filesystem::create_directories(state + "/muster");
  std::ofstream history(state + "/muster/host_history.jsonl");
  for (const auto& [host, days, failures] : {std::tuple("a", 50, 1), std::tuple("b", 30, 2)}) {
    history << json{{"host", host},    {"runs", 1},      {"seconds", days * 86'400},      {"failures", failures},
                    {"first_seen", 1}, {"last_seen", 1}, {"last_failures", json::array()}}
                   .dump()
            << "\n";
  }
  history.close();
  const CommandResult swept = simulate(call);
  ASSERT_EQ(swept.exit_code, 0) << swept.err;
  const json shown = json::parse(swept.out);
  EXPECT_NEAR(shown["rate"]["between_s"].get<double>(), 80.0 / 3 * 86'400, 1);
  ASSERT_EQ(shown["settings"].size(), 5U * 4U * 2U) << "intervals, spares, policies";
  const double best = shown["best_interval_s"];
  EXPECT_NEAR(shown["settings"][2]["checkpoint_s"].get<double>(), best, 1);
  double most = 0;
  for (const auto& setting : shown["settings"]) {
    double share = 0;
    for (const auto& row : setting["rows"]) share += row["median"].get<double>();
    EXPECT_NEAR(share, 1, 0.02) << setting;
    const double kept = setting["rows"]["kept"]["median"];
    EXPECT_NEAR(setting["kept_per_host"].get<double>(), kept * 2 / (2 + setting["spares"].get<double>()), 1e-9);
    most = std::max(most, kept);
  }
  EXPECT_EQ(shown["settings"][shown["most_kept"].get<std::size_t>()]["rows"]["kept"]["median"], most);
  const CommandResult text = simulate({"--spare-hosts", "0,1"});
  EXPECT_NE(text.out.find("a host fails every 26 d 16 h (3 failures in 80 d 0 h of all 2 remembered hosts)"),
            std::string::npos)
      << text.out;
  EXPECT_NE(text.out.find("most is kept"), std::string::npos) << text.out;
  const CommandResult both = simulate({"--between", "1d"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(both.err.find("one of --between TIME, --history and --failures FILE"), std::string::npos) << both.err;
}

TEST(Restart, OnlyReportsAVerdictUnlessItIsAskedFor) {
  const Job job(FailsAtStepSeven("exit 3", "{ max = 2, backoff = 0 }"));
  EXPECT_EQ(job.report["restarts"].size(), 2U);
  EXPECT_EQ(job.report["failures"][1]["verdict"]["verdict"], "stop");
  EXPECT_EQ(job.report["failures"][1]["verdict"]["obeyed"], false);
}

TEST(Restart, ByVerdictContinuesAfterATransientFailure) {
  const Job job(FailsAtStepSeven(
      "test $MUSTER_ATTEMPT = 3 || { echo failure of kind $(printf %$((MUSTER_ATTEMPT+1))s | tr \" \" x); exit 3; }",
      "{ verdict = true, backoff = 0 }"));
  EXPECT_EQ(job.result.exit_code, 0) << job.result.err;
  EXPECT_EQ(job.report["restarts"].size(), 3U);
}

TEST(Restart, ByVerdictAllowsOneFailureBeforeReady) {
  const Job job("job:workers { count = 2, restart = 'verdict', command = { probe, 'exit', '4' } }");
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_EQ(job.report["failures"].back()["verdict"]["rule"], "not ready again") << job.report["failures"];
}

TEST(Restart, StartsAProcessAgain) {
  const Job job(std::string("job:workers { count = 1, restart = { max = 2, backoff = 0 }, command = ") + kSecondTime +
                " }");
  EXPECT_EQ(job.result.exit_code, 0) << job.result.err;
  EXPECT_EQ(job.Log("worker.0.0"), "attempt 0\n");
  EXPECT_EQ(job.Log("worker.0.1"), "attempt 1\n");
  ASSERT_EQ(job.report["restarts"].size(), 1U);
  EXPECT_EQ(job.report["restarts"][0]["why"], "worker.0 exited with code 3");
  EXPECT_EQ(job.report["processes"][0]["attempts"].size(), 2U);
  EXPECT_EQ(job.report["processes"][0]["verdict"], "ok");
  EXPECT_EQ(job.report["receipt"]["started"], 2);
  EXPECT_NE(job.result.err.find("worker.0 exited with code 3: starting it again (restart 1 of at most 2)"),
            std::string::npos)
      << job.result.err;
}

TEST(Restart, OfARoleRestartsAllItsProcessesAndKillsLeftovers) {
  const Job job(std::string("job:workers { count = 3, restart = { max = 1, backoff = 0, scope = 'role' }, "
                            "stop = { grace = '1s' }, command = { probe, 'daemon', 'wait' },"
                            "each = function(process) if process.rank == 1 then process.command = ") +
                kSecondTime +
                " else process.command = muster.shell('test $MUSTER_ATTEMPT = 1 || exec ' .. probe .. ' daemon wait')"
                " end end }");
  EXPECT_EQ(job.result.exit_code, 0) << job.result.err;
  EXPECT_EQ(job.report["restarts"][0]["processes"], 3);
  for (const json& process : job.report["processes"]) EXPECT_EQ(process["attempts"].size(), 2U);
}

TEST(Restart, EndsWhenItsBudgetIsUsedUp) {
  const Job job(
      "job:workers { count = 2, restart = { max = 2, backoff = 0 }, stop = { grace = '1s' }, "
      "command = { probe, 'wait' }, each = function(process) if process.rank == 1 then "
      "process.command = { probe, 'print', 'no luck', 'exit', '9' } end end }");
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_EQ(job.report["restarts"].size(), 2U);
  EXPECT_EQ(job.report["first_failure"]["index"], 1);
  EXPECT_EQ(job.report["first_failure"]["exit_code"], 9);
  EXPECT_EQ(job.report["first_failure"]["last_lines"], json({"no luck"}));
  EXPECT_EQ(job.report["why"], "worker.1 exited with code 9; all 2 restarts of role worker are used up");
  EXPECT_EQ(job.report["processes"][0]["verdict"], "victim");
  EXPECT_EQ(job.report["processes"][1]["attempts"].size(), 3U);
}

TEST(Limits, StopProcessesThatRunTooLong) {
  const Job job(
      "job:workers { count = 2, limits = { time = '200ms' }, stop = { grace = '1s' }, command = { probe, 'wait' } }");
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_EQ(job.report["first_failure"]["why"], "ran longer than 200 ms");
}

TEST(Limits, StopSilentProcesses) {
  const Job job("job:workers { count = 2, stop = { grace = '1s' }, command = { probe, 'print', 'x', 'wait' } }",
                "limits = { silent = '400ms' },");
  EXPECT_EQ(job.result.exit_code, 1);
  EXPECT_EQ(job.report["first_failure"]["why"], "was the first to stop writing; none of its job wrote for 400 ms");
}

TEST(Done, IsReachedByAnySuccess) {
  const Job job(
      "job:workers { count = 3, done = 'any', stop = { grace = '1s' }, command = { probe, 'wait' }, "
      "each = function(process) if process.rank == 2 then process.command = { probe, 'exit', '0' } end end }");
  EXPECT_EQ(job.result.exit_code, 0) << job.result.err;
  EXPECT_EQ(job.report["outcome"], "ok");
  EXPECT_EQ(job.report["processes"][2]["verdict"], "ok");
  EXPECT_EQ(job.report["processes"][0]["verdict"], "stopped");
}

}  // namespace
}  // namespace muster::testing
