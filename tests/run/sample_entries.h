// One of every entry of a run's journal, with values at the edges of their types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "run/journal/journal.h"
#include "wire/protocol/protocol.h"

namespace muster {

inline std::vector<JournalEntry> OneOfEach() {
  ProcessExited exited;
  exited.process = 3;
  exited.attempt = 1;
  exited.signalled = true;
  exited.code = 11;
  exited.core_dumped = true;
  exited.user_us = 123'456;
  exited.max_rss_kib = 1U << 30;
  exited.at = 99;
  return {RunBegan{1,
                   "3f9a1c2b4d5e",
                   std::string(64, 'a'),
                   "sample \"x\"\n",
                   4711,
                   true,
                   12'000'000,
                   9'000'000,
                   77,
                   "b007",
                   {"no_new_privs", "seccomp"},
                   "0a1b2c3d4e5f",
                   {"baseline", "ticket=4 2"},
                   12,
                   4096},
          AgentConnected{0, 4712, 77, "node-1", {"pidfd", "subreaper"}, "/sys/fs/cgroup/x", 12, 4096},
          PlanBound{"/runs/x", {{"node-1", "127.0.0.1"}}, {{"rpc", 65535}, {"web", 1}}},
          PreparationFailed{"port rpc is taken"},
          StartOrdered{4'294'967'295U, 0},
          StopOrdered{{0, 1, 7}, 15, 10'000},
          PhaseChanged{Phase::kRunning, Phase::kStopping},
          FirstFailure{3, 1},
          FailureTraced{4, 0},
          EndedEarly{1, 0},
          StrayEvent{"worker.1 started"},
          FinishOrdered{},
          ProcessStarted{3, 1, 4713, 123'456'789, 1},
          SpawnFailed{2, 0, "exec", 2, "/päth/with\ttab", 5},
          exited,
          SignalSent{3, 1, 9, 3, 6},
          AgentEmpty{0, 7, 7, 2, {"pidfd", "process-group"}, 12, 4096},
          AgentLost{1, "cut", 12},
          StopRequested{2, 2, true},
          DeadlinePassed{16},
          ProcessReady{3, 1, 77},
          OutputSeen{1, {3, 4}, {0, 1ULL << 40}},
          RestartPlanned{3, 1, "role", {2, 3}, 2, 5, 4'000, "worker.3 exited with code 7"},
          LimitPassed{3, 1, "silent", 900'000, true},
          FirstOutput{3, 1, 78},
          EndEvidence{3, 1, "memory", "wörds", 79},
          PortTaken{3, 1, "rpc", 65535, "process 7 (nc -l)", true, 80},
          RebindOrdered{},
          PlanRebound{{{"rpc", 1}, {"web", 65535}}, "why"},
          ProcessDumped{1,
                        3,
                        1,
                        1ULL << 40,
                        900'000,
                        200'000'000,
                        {{4713,
                          4712,
                          "python3",
                          12'000,
                          3,
                          "py-spy",
                          {{4713,
                            1,
                            "MainThread",
                            "sleeping",
                            "pipe_read",
                            "read",
                            "pipe",
                            {{"read", "loader.py", 12}, {"<module>", "träin.py", 60}}},
                           {4714, 2, "pool", "running", "", "", "", {}}}}},
                        80},
          HostDumped{1, 1, {{"late", "3 of the system processes within 10 s"}}},
          DumpRequested{},
          DumpOrdered{1, "silent_job"},
          DumpEnded{1, false},
          PtyOpened{3, 1, 81},
          PtyClosed{3, 1, 1ULL << 40, 7, 82},
          HostActivated{1, {{"A", "ä\n"}, {"TOKEN", "(hidden)"}}, {"B"}, 1'200, 2, "exit code 1"},
          ClockCompared{1, -(1LL << 40), 250'000},
          HostReached{1, "ann@n1", "10.0.0.1", true},
          ReplaceOrdered{1, 4},
          HostReplaced{1, 4, "n5", "10.0.0.5", {"0", "1"}, {{"rpc", 20'000}}, {{"worker.2", "0-3"}}, "why"},
          HostsCompared{{{"disk", "full", "", {0, 2}}}, {{"kernel", {{"6.1", {0, 1}}, {"5.15", {2}}}}}},
          PathsCompared{12, {{{2, 3}, {0}, "master", 29'500, "no answer"}}},
          CodeShipped{1, "ab", "/home/u", "/root/.cache", 3, 1ULL << 40, 7},
          CodeSeen{"/home/u", "9f3c", "main", 2, 1, {"a b.py"}},
          CheckpointSeen{"/runs/x/checkpoints/step_3", "0a1b2c3d4e5f", 4'200},
          HostStray{1, "an exit of process 9"},
          DevicesAwaited{1, 2, "device 0 is held by run a1"},
          EngineAnswered{"n2", "slurm reports n2 as down"},
          FailureJudged{3, 1, 1, "n2", "exception", "0123456789abcdef", "exception: x", 1e300, "/c/step_3",
                        1'795'000'000'123'456'789, true, true, "4x32x32", true, RestartVerdict::kExcludeHost,
                        "same host again", "wörds", true},
          FaultInjected{FaultKind::kStop, "worker.3", 1, "n2", 5'000, 1, "/mnt/small"},
          RunEnded{Cause::kTimeLimit, 1, "the time limit of 5 ms passed", 12, 4096}};
}

}  // namespace muster
