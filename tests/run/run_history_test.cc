// Tests the fold of a run's journal, from a journal with every entry.
#include "run/journal/run_history.h"

#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "run/history_of.h"
#include "run/sample_plan.h"

namespace muster {
namespace {

// Processes 0 (server.0) and 2 (worker.1) on host 0, 1 (worker.0) on host 1.
Plan PlanOfTheHistory() {
  Plan plan = SamplePlan({{"server", 1, Ending::kNever}, {"worker", 2}}, 2);
  plan.roles[1].stop.checkpoint_signal = "USR1";
  plan.roles[1].stop.checkpoint_ms = 5'000;
  return plan;
}

ProcessExited Exit(ProcessId process, std::uint32_t attempt, std::int32_t code, MonotonicNs at) {
  ProcessExited exited;
  exited.process = process;
  exited.attempt = attempt;
  exited.code = code;
  exited.at = at;
  return exited;
}

// Record N is written at N * 10 of the head's clock.
JournalContents JournalOfTheHistory() {
  RunBegan began;
  began.run_id = "r1";
  HostsCompared compared;
  compared.faults = {{"disk", "full", "", {0}}};
  const std::vector<JournalEntry> entries = {
      began,                                                                                                    // 1
      CodeSeen{"/home/u", "9f3c", "main", 2, 1, {}},                                                            // 2
      HostReached{0, "ann@n0", "10.0.0.1", false},                                                              // 3
      HostReached{1, "n1", "10.0.0.2", false},                                                                  // 4
      AgentConnected{0, 100, 1, "node0", {"pidfd"}, "", 9, 9},                                                  // 5
      AgentConnected{1, 200, 1, "node1", {"log-pipe"}, "", 9, 9},                                               // 6
      ClockCompared{0, 0, 0},                                                                                   // 7
      ClockCompared{1, 1'000, 5},                                                                               // 8
      compared,                                                                                                 // 9
      PathsCompared{1, {}},                                                                                     // 10
      CodeShipped{1, "ab", "/home/u", "/root/.cache", 3, 100, 7},                                               // 11
      HostActivated{1, {{"A", "1"}}, {"B"}, 1'200, 0, ""},                                                      // 12
      DevicesAwaited{0, 1, "run a1"},                                                                           // 13
      DevicesAwaited{1, 1, "run a1"},                                                                           // 14
      PlanBound{"/runs/x", {{"m0", "10.0.0.1", {"0"}}, {"m1", "10.0.0.2", {"4"}}}, {}, {{"worker.0", "0-3"}}},  // 15
      PhaseChanged{Phase::kPreparing, Phase::kStarting},                                                        // 16
      StartOrdered{0, 0},                                                                                       // 17
      StartOrdered{1, 0},                                                                                       // 18
      StartOrdered{2, 0},                                                                                       // 19
      ProcessStarted{0, 0, 300, 1, 191},                                                                        // 20
      ProcessStarted{1, 0, 301, 1, 192},                                                                        // 21
      SpawnFailed{2, 0, "exec", 2, "/no", 193},                                                                 // 22
      PtyOpened{1, 0, 194},                                                                                     // 23
      ProcessReady{1, 0, 195},                                                                                  // 24
      FirstOutput{1, 0, 196},                                                                                   // 25
      OutputSeen{0, {0, 1}, {7, 8}},                                                                            // 26
      OutputSeen{0, {0, 1}, {7, 9}},                                                                            // 27
      CheckpointSeen{"/old/step_1", "r0"},                                                                      // 28
      DumpRequested{},                                                                                          // 29
      DumpOrdered{1, "asked"},                                                                                  // 30
      ProcessDumped{1, 1, 0, 9, 0, 0, {}, 301},                                                                 // 31
      HostDumped{1, 1, {{"late", ""}}},                                                                         // 32
      DumpEnded{1, true},                                                                                       // 33
      PtyClosed{1, 0, 9, 0, 330},                                                                               // 34
      EndEvidence{1, 0, "memory", "killed", 331},                                                               // 35
      PortTaken{1, 0, "rpc", 80, "process 7", true, 332},                                                       // 36
      LimitPassed{1, 0, "silent", 900},                                                                         // 37
      FirstFailure{2, 0},                                                                                       // 38
      FailureTraced{1, 0},                                                                                      // 39
      Exit(1, 0, 1, 340),                                                                                       // 40
      RestartPlanned{1, 0, "process", {1}, 1, 2, 0, "worker.0 exited"},                                         // 41
      AgentLost{1, "no heartbeat", 3},                                                                          // 42
      RebindOrdered{},                                                                                          // 43
      PlanRebound{{}, ""},                                                                                      // 44
      ReplaceOrdered{1, 2},                                                                                     // 45
      HostReplaced{1, 2, "m2", "10.0.0.3", {"5"}, {}, {{"worker.0", "4-7"}}, ""},                               // 46
      StartOrdered{1, 1},                                                                                       // 47
      EngineAnswered{"n1", "down"},                                                                             // 48
      HostStray{0, "words"},                                                                                    // 49
      StrayEvent{"words"},                                                                                      // 50
      EndedEarly{0, 0},                                                                                         // 51
      StopRequested{1, 2, false, ""},                                                                           // 52
      StopOrdered{{1, 0}, SIGUSR1, 15'000},                                                                     // 53
      SignalSent{0, 0, 15, 0, 530},                                                                             // 54
      DeadlinePassed{16},                                                                                       // 55
      PreparationFailed{"no"},                                                                                  // 56
      FinishOrdered{},                                                                                          // 57
      AgentEmpty{0, 1, 1, 2, {"pidfd"}, 12, 4096},                                                              // 58
      RunEnded{Cause::kStopped, 130, "stopped", 12, 4096},                                                      // 59
      FailureJudged{0, 0, 0, "m0", "exit", "f", "exit (code 3)", 7, "/c/step_3", 5, true, false, "2x3x2", true,
                    RestartVerdict::kStop, "rule", "evidence", true},  // 60
      FaultInjected{FaultKind::kCut, "", 0, "m0", 2'000},              // 61
      // Without effect: numbers that the plan does not have.
      FirstFailure{7, 0},
  };
  JournalContents contents;
  for (const JournalEntry& entry : entries) {
    const std::uint64_t seq = contents.records.size() + 1;
    contents.records.push_back({seq, "w" + std::to_string(seq), 10 * seq, entry});
  }
  contents.stopped = "the last line is cut";
  return contents;
}

class RunHistoryTest : public ::testing::Test {
 protected:
  static RecordMark Mark(std::uint64_t seq) { return {seq, 10 * seq, "w" + std::to_string(seq)}; }

  const Plan plan = PlanOfTheHistory();
  const RunHistory history = HistoryOf(plan, JournalOfTheHistory());
};

TEST_F(RunHistoryTest, IsTestedWithEveryEntry) {
  std::set<std::size_t> kinds;
  for (const JournalRecord& record : JournalOfTheHistory().records) kinds.insert(record.entry.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<JournalEntry>);
}

TEST_F(RunHistoryTest, HasTheBeginningTheEndAndThePhases) {
  ASSERT_TRUE(history.began);
  EXPECT_EQ(history.began->run_id, "r1");
  ASSERT_TRUE(history.ended);
  EXPECT_EQ(history.ended->cause, Cause::kStopped);
  EXPECT_EQ(history.first, Mark(1));
  EXPECT_EQ(history.last, Mark(61)) << "records that do not fit do not count";
  EXPECT_EQ(history.damage, "the last line is cut; record 62 (first_failure) names process 7, and the plan has 3");
  ASSERT_EQ(history.phases.size(), 1U);
  EXPECT_EQ(history.phases[0], (Recorded<PhaseChanged>{{Phase::kPreparing, Phase::kStarting}, Mark(16)}));
  EXPECT_EQ(history.stop_requests, (std::vector{Recorded<StopRequested>{{1, 2, false, ""}, Mark(52)}}));
  EXPECT_EQ(history.unready, "no");
}

TEST_F(RunHistoryTest, HasTheAttemptsOfEachProcess) {
  ASSERT_EQ(history.attempts.size(), 3U);
  ASSERT_EQ(history.attempts[1].size(), 2U);
  const AttemptHistory& first = history.attempts[1][0];
  EXPECT_EQ(first.ordered, Mark(18));
  EXPECT_EQ(first.machine, 1U);
  EXPECT_EQ(first.started, (Recorded<ProcessStarted>{{1, 0, 301, 1, 192}, Mark(21)}));
  EXPECT_EQ(first.ready, (Recorded<ProcessReady>{{1, 0, 195}, Mark(24)}));
  EXPECT_EQ(first.first_output, 196U);
  EXPECT_EQ(first.exited, (Recorded<ProcessExited>{Exit(1, 0, 1, 340), Mark(40)}));
  EXPECT_FALSE(first.spawn_failed);
  EXPECT_FALSE(first.stop_ordered) << "it had ended";
  EXPECT_EQ(first.limits, (std::vector{Recorded<LimitPassed>{{1, 0, "silent", 900}, Mark(37)}}));
  EXPECT_EQ(first.evidence, (std::vector<EndEvidence>{{1, 0, "memory", "killed", 331},
                                                      {1, 0, "port", "port rpc (80) is taken by process 7", 332}}));
  EXPECT_EQ(first.silences, (std::vector<Silence>{{260, 270}, {270, {}}}));
  EXPECT_EQ(history.TimeOf(first, *first.exited), 1'340U);

  const AttemptHistory& second = history.Last(1);
  EXPECT_EQ(second.ordered, Mark(47));
  EXPECT_EQ(second.machine, 2U);
  EXPECT_FALSE(second.started);
  EXPECT_TRUE(second.stop_ordered);

  const AttemptHistory& server = history.Last(0);
  EXPECT_TRUE(server.stop_ordered);
  EXPECT_EQ(server.signals, (std::vector{Recorded<SignalSent>{{0, 0, 15, 0, 530}, Mark(54)}}));
  EXPECT_EQ(server.silences, (std::vector<Silence>{{260, {}}}));
  EXPECT_EQ(history.Last(2).spawn_failed, (Recorded<SpawnFailed>{{2, 0, "exec", 2, "/no", 193}, Mark(22)}));
}

TEST_F(RunHistoryTest, HasTheMachinesAndTheirAgents) {
  ASSERT_EQ(history.machines.size(), 3U);
  const MachineHistory& kept = history.machines.at(0);
  EXPECT_EQ(kept.name, "m0");
  EXPECT_EQ(kept.devices, std::vector<std::string>{"0"});
  ASSERT_TRUE(kept.agent);
  EXPECT_EQ(kept.agent->host_name, "node0");
  EXPECT_FALSE(kept.lost);
  ASSERT_TRUE(kept.empty);
  EXPECT_EQ(kept.empty->adopted, 2U);
  const MachineHistory& lost = history.machines.at(1);
  EXPECT_EQ(lost.lost, (Recorded<AgentLost>{{1, "no heartbeat", 3}, Mark(42)}));
  EXPECT_EQ(lost.agent->seq, 6U);
  EXPECT_EQ(history.MachineName(2), "m2");
  EXPECT_EQ(history.machines.at(2).devices, std::vector<std::string>{"5"});
  EXPECT_EQ(history.MachineName(7), "host7");
  EXPECT_EQ(history.clocks, (HostClocks{HostClock{0, 0}, HostClock{1'000, 5}}));
  EXPECT_EQ(history.cores, (std::map<std::string, std::string>{{"worker.0", "4-7"}}));
  ASSERT_EQ(history.replacements.size(), 1U);
  EXPECT_EQ(history.replacements[0].machine, 1U);
  EXPECT_EQ(history.replacements[0].by, 2U);
  EXPECT_EQ(history.replacements[0].wall, "w46");
  EXPECT_EQ(history.replacements[0].on_head, 460U);
}

TEST_F(RunHistoryTest, HasThePreparation) {
  EXPECT_EQ(history.code.seen, (CodeSeen{"/home/u", "9f3c", "main", 2, 1, {}}));
  ASSERT_EQ(history.code.shipped.size(), 1U);
  EXPECT_EQ(history.code.shipped[0].hash, "ab");
  EXPECT_EQ(history.activations,
            (std::vector{Recorded<HostActivated>{{1, {{"A", "1"}}, {"B"}, 1'200, 0, ""}, Mark(12)}}));
  ASSERT_TRUE(history.hosts_compared);
  EXPECT_EQ(history.hosts_compared->faults[0].text, "full");
  EXPECT_EQ(history.inspected, Mark(10)) << "hosts, and then the paths between them";
  EXPECT_EQ(history.prepared, Mark(12)) << "the code, and then the activation";
  EXPECT_EQ(history.devices_awaited, Mark(13)) << "the first wait";
  EXPECT_EQ(history.bound, Mark(15));
}

TEST_F(RunHistoryTest, HasVerdicts) {
  ASSERT_EQ(history.judged.size(), 1U);
  EXPECT_EQ(history.judged[0].rule, "rule");
  EXPECT_EQ(history.judged[0].seq, 60U);
}

TEST_F(RunHistoryTest, HasFailuresRestartsCheckpointsAndDumps) {
  EXPECT_EQ(history.first_failure, (Recorded<FirstFailure>{{2, 0}, Mark(38)}));
  EXPECT_EQ(history.origin, (FirstFailure{1, 0}));
  ASSERT_EQ(history.restarts.size(), 1U);
  EXPECT_EQ(history.restarts[0].why, "worker.0 exited");
  EXPECT_EQ(history.restarts[0].wall, "w41");
  EXPECT_EQ(history.checkpoints, (std::vector{Recorded<CheckpointSeen>{{"/old/step_1", "r0"}, Mark(28)}}));
  EXPECT_EQ(history.checkpoint_asked, 1U) << "the workers' role";
  ASSERT_EQ(history.dumps.size(), 1U);
  const DumpHistory& dump = history.dumps[0];
  EXPECT_EQ(dump.order, (Recorded<DumpOrdered>{{1, "asked"}, Mark(30)}));
  EXPECT_EQ(dump.running, (std::vector<ProcessId>{0, 1})) << "the other could not be started";
  ASSERT_EQ(dump.reported.size(), 1U);
  EXPECT_EQ(dump.reported[0].process, 1U);
  EXPECT_EQ(dump.notes, (std::vector<std::pair<std::uint32_t, DumpNote>>{{1, {"late", ""}}}));
  EXPECT_EQ(dump.ended, (DumpEnded{1, true}));
}

// Prevents: a run is said to have written no checkpoint although one was seen after the request.
TEST_F(RunHistoryTest, ForgetsTheRequestForACheckpointThatWasSeen) {
  JournalContents journal = JournalOfTheHistory();
  const std::uint64_t seq = journal.records.size() + 1;
  journal.records.push_back({seq, "w", 10 * seq, CheckpointSeen{"step_2", ""}});
  EXPECT_FALSE(HistoryOf(plan, std::move(journal)).checkpoint_asked);
}

// Prevents: processes of a lost host are listed as missing in a later dump.
TEST_F(RunHistoryTest, CountsNoProcessOfALostMachineAsRunning) {
  JournalContents journal = JournalOfTheHistory();
  std::erase_if(journal.records, [](const JournalRecord& record) {
    return std::holds_alternative<ProcessExited>(record.entry) || std::holds_alternative<HostReplaced>(record.entry) ||
           (record.seq == 47);
  });
  journal.records.push_back({70, "w", 700, DumpOrdered{2, "asked"}});
  EXPECT_EQ(HistoryOf(plan, std::move(journal)).dumps.at(1).running, std::vector<ProcessId>{0});
}

}  // namespace
}  // namespace muster
