// Tests reports of run directories that are created here record by record, for all kinds of outcomes.
#include "run/report/report.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "plan/plan/roles.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "run/directory/run_directory.h"
#include "run/directory/usage_history.h"
#include "run/journal/journal.h"
#include "run/journal/run_summary.h"
#include "run/milliseconds.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

constexpr std::uint64_t kWall = 1'795'176'376'000'000'000;  // 2026-11-20T12:06:16Z

ProcessStarted StartedAt(ProcessId process, MonotonicNs at) {
  return {process, 0, 1000 + static_cast<int>(process), 5, at};
}
ProcessExited ExitedAt(ProcessId process, int code, bool signalled, MonotonicNs at) {
  ProcessExited exited;
  exited.process = process;
  exited.code = code;
  exited.signalled = signalled;
  exited.user_us = 1'500'000;
  exited.max_rss_kib = 2048;
  exited.at = at;
  return exited;
}

class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(scratch / "run/logs"); }

  std::string folder() const { return scratch / "run"; }
  void PutPlan(Plan plan) {
    Fold(plan);
    PutFile(folder() + "/plan.json", PlanToJson(plan));
  }
  // `at_ms`: milliseconds after the beginning.
  void Say(MonotonicNs at_ms, JournalEntry entry) {
    const MonotonicNs at = 1'000 * kMs + at_ms * kMs;
    journal += JournalLine({++seq, UtcText(kWall + at_ms * kMs), at, std::move(entry)});
    PutFile(folder() + "/journal.jsonl", journal);
  }
  void SayBegun(std::size_t processes) {
    RunBegan began;
    began.run_id = "3f9a1c2b4d5e";
    began.plan_id = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab";
    began.name = "sample";
    began.plan_ns = 12 * kMs;
    began.evaluate_ns = 9 * kMs;
    Say(0, began);
    Say(2, AgentConnected{0, 500, 7, "node-1", {"pidfd"}, "", 8, 4096});
    Say(3, PlanBound{"/gone/elsewhere", {{"node-1", "127.0.0.1"}}, {}});
    Say(4, PhaseChanged{Phase::kPreparing, Phase::kStarting});
    for (ProcessId process = 0; process < processes; ++process) Say(4, StartOrdered{process, 0});
    for (ProcessId process = 0; process < processes; ++process) Say(6, StartedAt(process, 1'005 * kMs));
    Say(6, PhaseChanged{Phase::kStarting, Phase::kRunning});
  }
  void SayEnded(MonotonicNs at, RunEnded ended, std::uint32_t processes) {
    Say(at, PhaseChanged{Phase::kStopping, Phase::kFinishing});
    Say(at, FinishOrdered{});
    Say(at + 1, AgentEmpty{0, processes, processes, 0, {"pidfd", "process-group"}});
    Say(at + 1, PhaseChanged{Phase::kFinishing, Phase::kDone});
    Say(at + 1, std::move(ended));
  }
  void SayWorkerOneKilled() {
    PutPlan(SamplePlan({{"server", 1, Ending::kNever}, {"worker", 3}}));
    SayBegun(4);
    Say(2'006, ExitedAt(2, SIGKILL, true, 3'005 * kMs));
    Say(2'006, FirstFailure{2, 0});
    Say(2'006, PhaseChanged{Phase::kRunning, Phase::kStopping});
    Say(2'006, StopOrdered{{0}, SIGTERM, 10'000});
    Say(2'006, StopOrdered{{1, 3}, SIGTERM, 10'000});
    Say(2'007, ExitedAt(1, 1, false, 3'006 * kMs));
    Say(2'008, SignalSent{0, 0, SIGTERM, 0, 3'006 * kMs});
    Say(2'046, ExitedAt(0, SIGTERM, true, 3'040 * kMs));
    Say(2'046, ExitedAt(3, 0, false, 3'040 * kMs));
    SayEnded(2'046, {Cause::kFailed, 1, "worker.1 was killed by SIGKILL"}, 4);
    PutFile(folder() + "/logs/worker.1.0.log", "step 40\nstep 41\n");
  }
  Report Made() {
    const Result<Report> report = MakeReport(folder());
    EXPECT_TRUE(report) << (report ? "" : report.error().front().message);
    return report.value_or(Report{});
  }
  std::vector<std::string> Verdicts() {
    std::vector<std::string> verdicts;
    for (const ProcessReport& process : Made().processes) verdicts.push_back(process.verdict);
    return verdicts;
  }

  ScratchFolder scratch;
  std::string journal;
  std::uint64_t seq = 0;
};

using Words = std::vector<std::string>;

TEST_F(ReportTest, ShowsTheHostOfEachAttemptAndReplacements) {
  PutPlan(SamplePlan({{"worker", 2}}, 2));
  RunBegan began;
  began.run_id = "3f9a1c2b4d5e";
  Say(0, began);
  for (std::uint32_t host = 0; host < 3; ++host) Say(2, HostReached{host, "n" + std::to_string(host + 1), "", false});
  Say(3, PlanBound{"/gone", {{"n1", "10.0.0.1", {"0"}}, {"n2", "10.0.0.2", {"0"}}}, {}});
  Say(4, StartOrdered{0, 0});
  Say(4, StartOrdered{1, 0});
  Say(5, StartedAt(0, 1'005 * kMs));
  Say(5, StartedAt(1, 1'005 * kMs));
  Say(100, AgentLost{1, "no heartbeat for 10 s", 0});
  Say(100, RestartPlanned{1, 0, "process", {1}, 1, 3, 0, "the agent of n2 was lost"});
  Say(100, ReplaceOrdered{1, 2});
  Say(110, HostReplaced{1, 2, "n3", "10.0.0.3", {"4"}, {}, {}, ""});
  Say(110, StartOrdered{1, 1});
  ProcessStarted again = StartedAt(1, 1'111 * kMs);
  again.attempt = 1;
  Say(111, again);
  const Report report = Made();
  ASSERT_EQ(report.processes[1].attempts.size(), 2U);
  EXPECT_EQ(report.processes[1].attempts[0].host, "n2");
  EXPECT_EQ(report.processes[1].attempts[1].host, "n3");
  EXPECT_EQ(report.processes[1].host, "n3");
  EXPECT_EQ(report.processes[0].host, "n1");
  ASSERT_EQ(report.replacements.size(), 1U);
  EXPECT_EQ(report.replacements[0].host, "n2");
  EXPECT_EQ(report.replacements[0].by, "n3");
  EXPECT_NE(ReportText(report).find("  host      n3 replaced n2, which was lost: no heartbeat for 10 s\n"),
            std::string::npos)
      << ReportText(report);
}

TEST_F(ReportTest, ShowsTheTimeOfTheFirstFailureByTheHeadsClock) {
  PutPlan(SamplePlan({{"worker", 2}}, 2));
  RunBegan began;
  began.run_id = "3f9a1c2b4d5e";
  Say(0, began);
  for (std::uint32_t host = 0; host < 2; ++host) Say(2, HostReached{host, "n" + std::to_string(host + 1), "", false});
  Say(3, PlanBound{"/gone", {{"n1", "10.0.0.1"}, {"n2", "10.0.0.2"}}, {}});
  Say(4, ClockCompared{0, 0, kMs / 2});
  Say(4, ClockCompared{1, static_cast<std::int64_t>(500 * kMs), kMs / 4});  // the host's clock is half a second behind
  for (ProcessId process : {0U, 1U}) Say(5, StartOrdered{process, 0});
  for (ProcessId process : {0U, 1U}) Say(6, StartedAt(process, 1'006 * kMs));
  // The message took 20 ms; by the head's clock the exit was half a millisecond later.
  Say(50, ExitedAt(1, 7, false, 530 * kMs));
  Say(50, FirstFailure{1, 0});
  Say(51, ExitedAt(0, 1, false, 1'030 * kMs + kMs / 2));
  const Report report = Made();
  ASSERT_TRUE(report.first_failure);
  EXPECT_EQ(report.first_failure->at, UtcText(kWall + 30 * kMs));
  ASSERT_TRUE(report.first_failure->at_error);
  EXPECT_DOUBLE_EQ(*report.first_failure->at_error, 0.000'25);
  const std::string text = ReportText(report);
  EXPECT_NE(text.find("  at        2026-11-20T12:06:16.030000Z by the head's clock, ± 0.2 ms\n"), std::string::npos)
      << text;
  EXPECT_NE(text.find("  order     unknown whether worker.0 on n1 failed first: seen 0.5 ms later, and the order is "
                      "certain only beyond 2.7 ms\n"),
            std::string::npos)
      << text;
  EXPECT_NE(ReportJson(report).find("\"at_error\": 0.00025,"), std::string::npos);
  EXPECT_NE(ReportJson(report).find("\"within\": 0.002727"), std::string::npos) << ReportJson(report);
}

TEST_F(ReportTest, ShowsTheFaultsOfADrillAndTheFailuresThatTheyMade) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(2);
  Say(500, FaultInjected{FaultKind::kStop, "worker.0", 0, "node-1", 200, 0});
  Say(900, ExitedAt(0, 1, false, 1'900 * kMs));
  Say(900, RestartPlanned{0, 0, "process", {0}, 1, 3, 0, "worker.0 exited with code 1"});
  Say(901, StartOrdered{0, 1});
  Say(2'000, FaultInjected{FaultKind::kKill, "worker.1", 0, "node-1", 0, 0});
  Say(2'006, ExitedAt(1, SIGKILL, true, 3'005 * kMs));
  Say(2'006, FirstFailure{1, 0});
  Say(2'006, PhaseChanged{Phase::kRunning, Phase::kStopping});
  SayEnded(2'010, {Cause::kFailed, 1, "worker.1 was killed by SIGKILL"}, 2);
  const Report report = Made();
  EXPECT_TRUE(report.drill) << "also in journals without the mark of a drill";
  ASSERT_EQ(report.failures.size(), 2U);
  EXPECT_EQ(report.failures[0].fault, "") << "the stop was over by then";
  EXPECT_EQ(report.failures[1].fault, "kill worker.1 on node-1");
  const std::string text = ReportText(report);
  EXPECT_TRUE(text.starts_with("drill of sample failed: worker.1 (rank 1) on node-1 was killed by SIGKILL")) << text;
  EXPECT_NE(text.find("  fault     stop worker.0 on node-1 for 200 ms after 500 ms, by the drill\n"
                      "  fault     kill worker.1 on node-1 after 2.0 s, by the drill\n"),
            std::string::npos)
      << text;
  const std::string json = ReportJson(report);
  EXPECT_NE(json.find(R"( "drill": true,)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"(   "what": "stop worker.0 on node-1 for 200 ms",
   "kind": "stop",
   "process": "worker.0",
   "attempt": 0,
   "host": "node-1",
   "lasts_seconds": 0.2,
   "at": "2026-11-20T12:06:16.500000Z"
)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"(   "fault": "kill worker.1 on node-1")"), std::string::npos) << json;
}

TEST_F(ReportTest, AttributesALostHostToTheFaultThatHitIt) {
  PutPlan(SamplePlan({{"worker", 2}}, 2));
  RunBegan began;
  began.run_id = "3f9a1c2b4d5e";
  began.drill = true;
  Say(0, began);
  for (ProcessId process : {0U, 1U}) Say(5, StartOrdered{process, 0});
  Say(1'000, FaultInjected{FaultKind::kAgent, "", 0, "n2", 0, 1});
  Say(1'100, AgentLost{1, "its agent was killed", 0});
  Say(1'100, RunEnded{Cause::kLost, 3, "the agent of n2 was lost"});
  const Report report = Made();
  ASSERT_EQ(report.failures.size(), 1U) << ReportText(report);
  EXPECT_EQ(report.failures[0].machine, 1U);
  EXPECT_EQ(report.failures[0].fault, "agent n2");
}

TEST_F(ReportTest, DistinguishesTheFirstFailureFromItsConsequences) {
  SayWorkerOneKilled();
  EXPECT_EQ(Verdicts(), (Words{"victim", "victim", "origin", "victim"}));
}

TEST_F(ReportTest, IsAvailableAsJson) {
  SayWorkerOneKilled();
  const std::string begin = R"({
 "format": 1,
 "run": "3f9a1c2b4d5e",
 "plan": "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab",
 "parent": null,
 "resumed": null,
 "checkpoint": null,
 "no_checkpoint": null,
 "tags": [],
 "note": null,
 "metrics": [],
 "rehearsal": false,
 "drill": false,
 "outcome": "failed",
 "exit_code": 1,
 "why": "worker.1 was killed by SIGKILL",
 "job": null,
 "first_failure": {
  "role": "worker",
  "index": 1,
  "rank": 1,
  "host": "node-1",
  "exit_code": null,
  "signal": "SIGKILL",
  "at": "2026-11-20T12:06:18.006000Z",
  "at_error": 0.0,
  "spawn_stage": null,
  "last_lines": [
   "step 40",
   "step 41"
  ],
  "why": "was killed by SIGKILL",
  "hint": null,
  "error": null,
  "evidence": [],
  "others": [
   {
    "role": "worker",
    "indices": [
     0
    ],
    "ranks": [
     0
    ],
    "why": "exited with code 1",
    "last_lines": [],
    "alike": false,
    "hint": null,
    "error": null,
    "evidence": []
   }
  ],
  "unordered": [],
  "doubts": [],
  "signs": [],
  "timeline": [
   {
    "from": 0.0,
    "to": 0.0,
    "what": "was killed by SIGKILL",
    "who": [
     {
      "role": "worker",
      "indices": [
       1
      ],
      "ranks": [
       1
      ]
     }
    ]
   },
)";
  const std::string json = ReportJson(Made());
  EXPECT_EQ(json.substr(0, begin.size()), begin);
  const std::string middle = R"(
 "restarts": [],
 "replacements": [],
 "dumps": [],
 "processes": [
  {
   "role": "server",
   "index": 0,
   "rank": null,
   "host": "node-1",
   "devices": [],
   "cores": null,
   "attempts": [
    {
     "attempt": 0,
     "host": "node-1",
     "pid": 1000,
     "started_at": "2026-11-20T12:06:16.006000Z",
     "ended_at": "2026-11-20T12:06:18.046000Z",
     "exit_code": null,
     "signal": "SIGTERM",
     "core_dumped": false,
     "spawn_stage": null,
     "user_seconds": 1.5,
     "system_seconds": 0.0,
     "max_rss_kib": 2048,
     "evidence": []
    }
   ],
   "verdict": "victim"
  },
)";
  EXPECT_NE(json.find(middle), std::string::npos) << json;
  const std::string end = R"( "receipt": {
  "started": 4,
  "reaped": 4,
  "left": 0,
  "attested": true,
  "adopted": 0,
  "by": [
   "pidfd",
   "process-group"
  ]
 },
 "timings": {
  "plan": 0.012,
  "connect": 0.004,
  "spawn": 0.002,
  "run": 2.0,
  "linger": 0.0,
  "stop": 0.04,
  "finish": 0.001,
  "total": 2.047,
  "startup": {
   "evaluate": 0.009,
   "plan": 0.003,
   "agent": 0.002,
   "activate": 0.0,
   "wait": 0.0,
   "bind": 0.002,
   "roles": [
    {
     "role": "server",
     "processes": 1,
     "ordered": 0.004,
     "spawn": {
      "processes": 1,
      "median": 0.001,
      "slowest": 0.001,
      "index": 0
     },
     "ready": null,
     "first_output": null
    },
    {
     "role": "worker",
     "processes": 3,
     "ordered": 0.004,
     "spawn": {
      "processes": 3,
      "median": 0.001,
      "slowest": 0.001,
      "index": 0
     },
     "ready": null,
     "first_output": null
    }
   ]
  }
 }
}
)";
  ASSERT_GT(json.size(), end.size());
  EXPECT_EQ(json.substr(json.size() - end.size()), end);
  EXPECT_TRUE(ValueFromJsonText(json));
}

TEST_F(ReportTest, ShowsTheFirstFailureFirst) {
  SayWorkerOneKilled();
  EXPECT_EQ(ReportText(Made()),
            "sample failed: worker.1 (rank 1) on node-1 was killed by SIGKILL after 2.0 s\n"
            "  last lines of logs/worker.1.0.log:\n"
            "    step 40\n"
            "    step 41\n"
            "  no last lines of worker.0, which exited with code 1\n"
            "  around the first failure, that of worker.1:\n"
            "    0         worker.1 was killed by SIGKILL\n"
            "    +1.0 ms   worker.0 exited with code 1\n"
            "    +1.0 ms   server.0 was sent SIGTERM\n"
            "    +35 ms    server.0 was killed by SIGTERM\n"
            "    +35 ms    worker.2 exited with code 0\n"
            "  server    1 ended because of it\n"
            "  worker    1 failed first, 2 ended because of it\n"
            "  receipt   4 started, 4 exited, 0 left (by pidfd, process-group)\n"
            "  time      plan 12 ms, connect 4.0 ms, spawn 2.0 ms, run 2.0 s, stop 40 ms, finish 1.0 ms\n"
            "  start-up  evaluate 9.0 ms, plan 3.0 ms, agent 2.0 ms, bind 2.0 ms; slowest process of each role:\n"
            "            role    ordered at  spawn\n"
            "            server  4.0 ms      1.0 ms\n"
            "            worker  4.0 ms      1.0 ms (worker.0)\n"
            "  run       " +
                folder() +
                "\n"
                "  exit code 1\n");
}

TEST_F(ReportTest, NamesTheSlowestOfEachStep) {
  PutPlan(SamplePlan({{"server", 1, Ending::kNever}, {"worker", 3}}));
  SayBegun(4);
  Say(30, FirstOutput{2, 0, 1'030 * kMs});
  Say(40, FirstOutput{1, 0, 1'035 * kMs});
  Say(900, ProcessReady{0, 0, 1'905 * kMs});
  const Startup startup = Made().startup;
  ASSERT_EQ(startup.roles.size(), 2U);
  EXPECT_EQ(startup.roles[0].ready, (StartupStep{1, 0.9, 0.9, 0}));
  EXPECT_EQ(startup.roles[1].first_output, (StartupStep{2, 0.025, 0.03, 0}));
  EXPECT_EQ(StartupText(startup),
            "  start-up  evaluate 9.0 ms, plan 3.0 ms, agent 2.0 ms, bind 2.0 ms; slowest process of each role:\n"
            "            role    ordered at  spawn              ready   first output\n"
            "            server  4.0 ms      1.0 ms             900 ms  -\n"
            "            worker  4.0 ms      1.0 ms (worker.0)  -       30 ms (worker.0)\n");
}

TEST_F(ReportTest, IsShortForASuccess) {
  PutPlan(SamplePlan({{"server", 1, Ending::kNever}, {"worker", 2}}));
  SayBegun(3);
  Say(1'000, ExitedAt(1, 0, false, 2'000 * kMs));
  Say(1'000, ExitedAt(2, 0, false, 2'000 * kMs));
  Say(1'000, PhaseChanged{Phase::kRunning, Phase::kLingering});
  Say(36'000, StopOrdered{{0}, SIGTERM, 10'000});
  Say(36'010, ExitedAt(0, SIGTERM, true, 37'010 * kMs));
  SayEnded(36'010, {}, 3);
  const Report report = Made();
  EXPECT_EQ(Verdicts(), (Words{"stopped", "ok", "ok"}));
  EXPECT_FALSE(report.first_failure);
  EXPECT_NE(ReportJson(report).find("\"first_failure\": null"), std::string::npos);
  const std::string text = ReportText(report);
  EXPECT_TRUE(text.starts_with("sample succeeded after 36.0 s\n  server    1 stopped\n  worker    2 ok\n")) << text;
}

// Prevents: a successful run ends with a screenful of receipts, times and start-up.
TEST_F(ReportTest, OfASuccessIsOneLineWithItsPath) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(2);
  for (const ProcessId process : {0U, 1U}) Say(1'000, ExitedAt(process, 0, false, 2'000 * kMs));
  SayEnded(1'010, {}, 2);
  Report report = Made();
  const ReportView brief = {.details = false};
  EXPECT_EQ(ReportText(report, brief), "sample succeeded after 1.0 s\n  run       " + report.run_dir + "\n");
  EXPECT_EQ(ReportText(report, {.details = false, .colour = true}),
            "sample \x1b[1;32msucceeded after 1.0 s\x1b[0m\n  run       " + report.run_dir + "\n");
  // Deviations are still reported.
  RestartReport restart;
  restart.why = "worker.1 exited with code 1";
  restart.processes = 1;
  report.restarts.push_back(restart);
  EXPECT_NE(ReportText(report, brief).find("  restart   worker.1 exited with code 1\n"), std::string::npos);
  EXPECT_EQ(ReportText(report, brief).find("receipt"), std::string::npos);
  EXPECT_NE(ReportText(report).find("receipt"), std::string::npos);
}

// Prevents: a report shows the same traceback as the error and again as last lines, below the output that had it.
TEST_F(ReportTest, HasATracebackOnce) {
  Report report;
  report.name = "sample";
  report.outcome = "failed";
  FailureReport failure;
  failure.role = "worker";
  failure.why = "exited with code 1";
  failure.log = "logs/worker.0.0.log";
  ErrorNote note;
  note.message = "ValueError: bad";
  note.traceback = {"Traceback (most recent call last):", "  File \"t.py\", line 1", "ValueError: bad"};
  failure.analysis.error = note;
  failure.last_lines = {"step 1", "Traceback (most recent call last):", "  File \"t.py\", line 1", "ValueError: bad",
                        "bye"};
  report.first_failure = failure;
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const std::string whole = ReportText(report);
  EXPECT_EQ(count(whole, "Traceback"), 1U) << whole;
  EXPECT_NE(whole.find("  last lines of logs/worker.0.0.log:\n    step 1\n    bye\n"), std::string::npos) << whole;
  const std::string below = ReportText(report, {.output_shown = true});
  EXPECT_EQ(count(below, "Traceback"), 0U) << below;
  EXPECT_NE(below.find("  error     ValueError: bad\n"), std::string::npos) << below;
  EXPECT_NE(below.find("  log       logs/worker.0.0.log\n"), std::string::npos) << below;
  // The last lines begin in the middle of the traceback.
  report.first_failure->last_lines = {"  File \"t.py\", line 1", "ValueError: bad"};
  EXPECT_EQ(count(ReportText(report), "File \"t.py\""), 1U) << ReportText(report);
  EXPECT_NE(ReportText(report, {.colour = true}).find("\x1b[1;31m"), std::string::npos);
}

TEST_F(ReportTest, ShowsARunAsLostIfItsHeadWasKilled) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(2);
  Say(50, ExitedAt(0, 0, false, 1'050 * kMs));
  const Report report = Made();
  EXPECT_EQ(report.outcome, "lost");
  EXPECT_EQ(report.exit_code, 3);
  EXPECT_EQ(report.why, "muster itself exited before the run ended");
  EXPECT_EQ(Verdicts(), (Words{"ok", "lost"}));
  EXPECT_EQ(report.receipt.left, 1U);
  EXPECT_NE(ReportText(report).find("2 started, 1 exited, 1 not accounted for\n"), std::string::npos);
  EXPECT_EQ(report.journal_damage, "");
}

// Prevents: the time of a run whose head was killed ends with the last event, although its processes went on.
TEST_F(ReportTest, MeasuresARunWhoseHeadWasKilledUntilItsLastSign) {
  PutPlan(SamplePlan({{"worker", 1}}));
  SayBegun(1);
  std::filesystem::create_directory(folder() + "/metrics");
  const auto changed = [&](const std::string& name, std::uint64_t at_ms) {
    const std::uint64_t ns = kWall + at_ms * kMs;
    const timespec time = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    const timespec times[] = {time, time};
    EXPECT_EQ(::utimensat(AT_FDCWD, (folder() + name).c_str(), times, 0), 0) << name;
  };
  changed("/journal.jsonl", 6);
  EXPECT_NEAR(Made().timings.total, 0.006, 1e-9);
  for (const auto& [name, at_ms] : std::vector<std::pair<std::string, std::uint64_t>>{
           {"/logs/worker.0.0.log", 1'000}, {"/metrics/worker.0.0.jsonl", 4'506}, {"/usage.jsonl", 2'000}}) {
    PutFile(folder() + name, "{}\n");
    changed(name, at_ms);
  }
  EXPECT_NEAR(Made().timings.total, 4.506, 1e-9);
  EXPECT_NEAR(Made().timings.run, 4.5, 1e-9);
  const auto summary = SummarizeRun(folder(), false);
  ASSERT_TRUE(summary);
  EXPECT_NEAR(summary->seconds, 4.506, 1e-9);
  Say(7, RunEnded{Cause::kStopped, 130, "asked to stop"});
  EXPECT_NEAR(Made().timings.total, 0.007, 1e-9) << "it has an end";
}

// Prevents: ps shows processes as running of which nobody knows.
TEST_F(ReportTest, CountsNoProcessOfALostRunAsRunning) {
  PutPlan(SamplePlan({{"worker", 3}}));
  SayBegun(3);
  Say(50, ExitedAt(0, 0, false, 1'050 * kMs));
  const auto summary = SummarizeRun(folder(), true);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->outcome, "lost");
  EXPECT_EQ(summary->running, 0U);
  EXPECT_EQ(summary->ended, 1U);
}

// The times of the files are those of the copy.
TEST_F(ReportTest, MeasuresACopyOfARunWhoseHeadWasKilledByWhatIsInItsFiles) {
  PutPlan(SamplePlan({{"worker", 1}}));
  SayBegun(1);
  PutFile(folder() + "/logs/worker.0.0.log", "step 1\n");
  EXPECT_NEAR(Made().timings.total, 0.006, 1e-9);
  PutFile(folder() + "/usage.jsonl", UsageLine(5'000, {}) + UsageLine(10'000, {}) + "{\"at_ms\":1");
  EXPECT_NEAR(Made().timings.total, 10, 1e-9) << "the last line is not whole";
  std::string index(kTimeIndexHead);
  AppendLogTime(index, {kWall, 0});
  AppendLogTime(index, {kWall + 12'000 * kMs, 7});
  PutFile(folder() + "/logs/worker.0.0.idx", index);
  EXPECT_NEAR(Made().timings.total, 12, 1e-9);
}

// After a signal of an engine the outcome is "stopped", whether or not the agents could report their end.
TEST_F(ReportTest, CallsProcessesUnknownIfTheirAgentIsLost) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(2);
  Say(40, StopRequested{1, 15, false, ""});
  Say(50, AgentLost{0, "the agent exited with code 3: ended by SIGTERM", 0});
  Say(60, RunEnded{Cause::kStopped, 143, "ended by SIGTERM"});
  const Report report = Made();
  EXPECT_EQ(report.outcome, "stopped");
  EXPECT_FALSE(report.receipt.attested);
  EXPECT_NE(ReportText(report).find("2 started, 0 exited, 2 not accounted for\n"), std::string::npos)
      << ReportText(report);
  EXPECT_EQ(ReportText(report).find("muster clean"), std::string::npos) << "its guard has ended them";
}

TEST_F(ReportTest, NamesTheNextStepForAHostThatWasLostWithoutAWord) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(2);
  Say(50, AgentLost{0, "no heartbeat for 10 s", 0});
  Say(60, RunEnded{Cause::kLost, 3, "the agent of host0 was lost: no heartbeat for 10 s"});
  const Report report = Made();
  EXPECT_NE(ReportText(report).find(": muster clean " + report.run + " there ends what may be left\n"),
            std::string::npos)
      << ReportText(report);
}

TEST_F(ReportTest, PutsABlankBehindEveryLabel) {
  PutPlan(SamplePlan({{"parameter_server", 1}}));
  SayBegun(1);
  Say(40, CheckpointSeen{"/runs/checkpoint/step_1", ""});
  Say(60, RunEnded{Cause::kStopped, 143, "asked to stop"});
  const std::string text = ReportText(Made());
  EXPECT_NE(text.find("  checkpoint /runs/checkpoint/step_1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  parameter_server 1 "), std::string::npos) << text;
}

TEST_F(ReportTest, RecognisesALiveRun) {
  const Result<RunDirectory> held = RunDirectory::MakeAt(scratch / "live");
  ASSERT_TRUE(held);
  Plan plan = SamplePlan({{"worker", 2}});
  Fold(plan);
  SayBegun(2);
  PutFile(scratch / "live/plan.json", PlanToJson(plan));
  PutFile(scratch / "live/journal.jsonl", journal);
  const Result<Report> report = MakeReport(scratch / "live");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, "running");
  EXPECT_EQ(report->processes[0].verdict, "running");
  EXPECT_NE(ReportJson(*report).find("\"exit_code\": null"), std::string::npos);
  EXPECT_NE(ReportText(*report).find("2 started, 0 exited, 2 running\n"), std::string::npos);
}

// The journal is long, so that the run usually ends after the file was read and before it was parsed.
TEST_F(ReportTest, DoesNotShowARunAsLostThatEndsDuringReading) {
  constexpr std::size_t kRounds = 5;
  Plan plan = SamplePlan({{"worker", 300}});
  Fold(plan);
  SayBegun(300);
  const std::string begun = journal;
  SayEnded(50, {}, 300);
  const std::string end = journal.substr(begun.size());
  for (std::size_t round = 0; round < kRounds; ++round) {
    const std::string run = scratch / ("ending" + std::to_string(round));
    std::optional<Result<RunDirectory>> held = RunDirectory::MakeAt(run);
    ASSERT_TRUE(*held);
    PutFile(run + "/plan.json", PlanToJson(plan));
    PutFile(run + "/journal.jsonl", begun);
    const UniqueFd file(::open((run + "/journal.jsonl").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t head = ::fork();
    if (head == 0) {
      // Both processes hold the lock; the run lasts until both have released it.
      ::close(ready[1]);
      char byte = 0;
      static_cast<void>(!::read(ready[0], &byte, 1));
      static_cast<void>(!::write(file.get(), end.data(), end.size()));
      held.reset();
      ::_exit(0);
    }
    held.reset();
    ::close(ready[0]);
    ::close(ready[1]);  // from here on the run may end at any moment
    std::string outcome = "running";
    while (outcome == "running") outcome = MakeReport(run)->outcome;
    EXPECT_EQ(outcome, OutcomeName(Cause::kNone)) << "in round " << round;
    ASSERT_EQ(::waitpid(head, nullptr, 0), head);
  }
}

TEST_F(ReportTest, UsesTheValidPartOfADamagedJournal) {
  SayWorkerOneKilled();
  for (std::size_t cut = 0; cut < journal.size(); cut += 7) {
    PutFile(folder() + "/journal.jsonl", journal.substr(0, cut));
    const Result<Report> report = MakeReport(folder());
    if (cut <= journal.find('\n')) {
      EXPECT_FALSE(report) << "nothing has begun";
      continue;
    }
    ASSERT_TRUE(report) << "cut at " << cut;
    EXPECT_EQ(report->outcome, "lost");
    EXPECT_EQ(report->processes.size(), 4U);
    EXPECT_FALSE(ReportText(*report).empty());
  }
}

TEST_F(ReportTest, ShowsAProcessThatCouldNotBeStarted) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(1);
  Say(7, StartOrdered{1, 0});
  Say(8, SpawnFailed{1, 0, "exec", ENOENT, "/no/such", 1'007 * kMs});
  Say(8, FirstFailure{1, 0});
  Say(8, StopOrdered{{0}, SIGTERM, 10'000});
  Say(9, ExitedAt(0, SIGTERM, true, 1'008 * kMs));
  SayEnded(9, {Cause::kSpawn, 3, "worker.1 could not be started"}, 1);
  const Report report = Made();
  EXPECT_EQ(report.first_failure->spawn_stage, "exec");
  EXPECT_EQ(Verdicts(), (Words{"victim", "origin"}));
  EXPECT_EQ(report.processes[1].attempts.at(0).spawn_stage, "exec");
  const std::string text = ReportText(report);
  EXPECT_TRUE(
      text.starts_with("sample failed: worker.1 (rank 1) on node-1 could not be started: exec /no/such: No such "
                       "file or directory\n"))
      << text;
}

TEST_F(ReportTest, ListsRestartsAndEveryAttempt) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(2);
  Say(50, ExitedAt(1, 7, false, 1'050 * kMs));
  Say(50, RestartPlanned{1, 0, "role", {0, 1}, 1, 3, 1'000, "worker.1 exited with code 7"});
  Say(50, StopOrdered{{0}, SIGTERM, 10'000});
  Say(60, ExitedAt(0, SIGTERM, true, 1'060 * kMs));
  for (ProcessId process = 0; process < 2; ++process) {
    Say(70, StartOrdered{process, 1});
    Say(71, ProcessStarted{process, 1, 2'000 + static_cast<int>(process), 7, 1'071 * kMs});
    ProcessExited exited;
    exited.process = process;
    exited.attempt = 1;
    Say(80, exited);
  }
  SayEnded(90, {Cause::kNone, 0, ""}, 4);
  const Report report = Made();
  EXPECT_EQ(Verdicts(), (Words{"ok", "ok"}));
  ASSERT_EQ(report.processes[0].attempts.size(), 2U);
  EXPECT_EQ(report.processes[0].attempts[0].signal, "SIGTERM");
  EXPECT_EQ(report.processes[1].attempts[0].exit_code, 7);
  EXPECT_EQ(report.processes[1].attempts[1].exit_code, 0);
  EXPECT_EQ(report.receipt.started, 4U);
  EXPECT_EQ(report.receipt.left, 0U);
  EXPECT_FALSE(report.first_failure);
  EXPECT_NE(ReportText(report).find("  restart   worker.1 exited with code 7; all 2 of its role\n"), std::string::npos)
      << ReportText(report);
  EXPECT_NE(ReportJson(report).find("\"why\": \"worker.1 exited with code 7\""), std::string::npos);
}

TEST_F(ReportTest, NamesTheLimitThatAProcessExceeded) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(2);
  Say(50, LimitPassed{1, 0, "time", 3'000});
  Say(50, FirstFailure{1, 0});
  Say(50, StopOrdered{{0, 1}, SIGTERM, 10'000});
  Say(60, ExitedAt(0, SIGTERM, true, 1'060 * kMs));
  Say(60, ExitedAt(1, SIGTERM, true, 1'060 * kMs));
  SayEnded(70, {Cause::kFailed, 1, "worker.1 ran longer than 3.0 s"}, 2);
  const Report report = Made();
  EXPECT_EQ(report.first_failure->why, "ran longer than 3.0 s");
  EXPECT_EQ(Verdicts(), (Words{"victim", "origin"}));
}

TEST_F(ReportTest, ShowsARunThatStartedNothing) {
  PutPlan(SamplePlan({{"worker", 1}}));
  RunBegan began;
  began.run_id = "3f9a";
  Say(0, began);
  Say(1, PreparationFailed{"port rpc: 8118 is in use"});
  SayEnded(2, {Cause::kUnready, 3, "port rpc: 8118 is in use"}, 0);
  EXPECT_EQ(Verdicts(), Words{"not_started"});
  EXPECT_TRUE(ReportText(Made()).starts_with("sample failed: port rpc: 8118 is in use\n"));
  EXPECT_NE(ReportText(Made()).find("worker    1 not started"), std::string::npos);
}

TEST_F(ReportTest, CountsWhatTheUserStoppedAsStopped) {
  PutPlan(SamplePlan({{"worker", 2}}));
  SayBegun(2);
  Say(100, StopRequested{1, SIGINT});
  Say(100, StopOrdered{{0, 1}, SIGTERM, 10'000});
  Say(110, ExitedAt(0, SIGTERM, true, 1'110 * kMs));
  Say(110, ExitedAt(1, 0, false, 1'110 * kMs));
  SayEnded(110, {Cause::kStopped, 130, "ended by SIGINT"}, 2);
  EXPECT_EQ(Verdicts(), (Words{"stopped", "ok"}));
  EXPECT_TRUE(ReportText(Made()).starts_with("sample stopped: ended by SIGINT\n"));
}

TEST_F(ReportTest, EscapesHostileLogsAndNames) {
  SayWorkerOneKilled();
  PutFile(folder() + "/logs/worker.1.0.log", "\x1b]52;c;aGk=\x07\xff\xfe\nbar 1%\rbar 2%\n\xe2\x80\xaetxt\n");
  const Report report = Made();
  EXPECT_EQ(report.first_failure->last_lines,
            (Words{"\\x1b]52;c;aGk=\\x07\\xff\\xfe", "bar 2%", "\\xe2\\x80\\xaetxt"}));
  EXPECT_TRUE(IsUtf8(ReportJson(report)));
  const std::string text = ReportText(report);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(ReportTest, ReadsOnlyTheLastLinesOfALog) {
  const UniqueFd at(::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string log;
  for (int i = 0; i < 100'000; ++i) log += "line " + std::to_string(i) + "\n";
  PutFile(folder() + "/log", log + "not ended");
  const Words lines = LastLines(at.get(), "log");
  ASSERT_EQ(lines.size(), kLastLines);
  EXPECT_EQ(lines.front(), "line 99981");
  EXPECT_EQ(lines.back(), "not ended");

  PutFile(folder() + "/long", std::string(200'000, 'x') + "ä");
  const Words long_line = LastLines(at.get(), "long");
  ASSERT_EQ(long_line.size(), 1U);
  EXPECT_TRUE(long_line[0].starts_with("…x"));
  EXPECT_TRUE(long_line[0].ends_with("xä"));
  EXPECT_LE(long_line[0].size(), 2'010U);

  PutFile(folder() + "/empty", "");
  EXPECT_TRUE(LastLines(at.get(), "empty").empty());
  EXPECT_TRUE(LastLines(at.get(), "missing").empty());
  EXPECT_TRUE(LastLines(at.get(), "logs").empty()) << "a folder is no log";
}

TEST_F(ReportTest, RefusesAFolderThatIsNotARun) {
  EXPECT_FALSE(MakeReport(scratch / "none"));
  EXPECT_FALSE(MakeReport(scratch.path()));
  PutFile(folder() + "/plan.json", "{}");
  EXPECT_FALSE(MakeReport(folder()));
  PutPlan(SamplePlan({{"worker", 1}}));
  const Result<Report> no_journal = MakeReport(folder());
  ASSERT_FALSE(no_journal);
  EXPECT_EQ(no_journal.error().front().kind, "run");
}

}  // namespace
}  // namespace muster
