// Tests when the supervisor takes a dump, and what waits for it.
#include <gtest/gtest.h>
#include <signal.h>

#include "run/sample_plan.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

Event Dumped(std::uint32_t host, std::uint32_t dump = 1) { return HostDumped{host, dump, {}}; }

TEST(Dump, PrecedesAStopThatRequestsIt) {
  RunningJob job(SamplePlan({{"worker", 2}}, 2));
  EXPECT_EQ(job(StopRequested{1, 0, true}, 1'000 * kMs, true), (Lines{"dump 1 stop", "arm 6 at 14000"}));
  EXPECT_EQ(job(Dumped(0), 1'100 * kMs), Lines{});
  EXPECT_EQ(job(Dumped(1), 1'200 * kMs, true),
            (Lines{"disarm 6", "dumped 1", "-> stopping", "stop 0 1 grace 10000", "arm 2 at 16200"}));
  EXPECT_EQ(job.supervisor.Ended(false).why, "asked to stop") << job.supervisor.Ended(false).exit_code;
}

TEST(Dump, ObservesItsDeadline) {
  RunningJob job(SamplePlan({{"worker", 2}}, 2));
  job(StopRequested{2, 0, true});
  job(Dumped(0));
  EXPECT_EQ(job(DeadlinePassed{kDumpTimer}, 13'000 * kMs),
            (Lines{"dumped 1 in part", "-> stopping", "kill 0 1 grace 0"}));
  EXPECT_EQ(job(Dumped(1), 13'001 * kMs), Lines{}) << "late news is no stray";
}

TEST(Dump, StopsNothingByItself) {
  RunningJob job(SamplePlan({{"worker", 2}}));
  EXPECT_EQ(job(DumpRequested{}), Lines{"dump 1 asked"});
  EXPECT_EQ(job.supervisor.dumping(), 1U);
  EXPECT_EQ(job(DumpRequested{}), Lines{}) << "two who ask get the same";
  EXPECT_EQ(job(Dumped(0)), Lines{"dumped 1"});
  EXPECT_EQ(job.supervisor.dumping(), 0U);
  EXPECT_EQ(job(DumpRequested{}), Lines{"dump 2 asked"});
  EXPECT_EQ(job(Dumped(0, 1)), Lines{}) << "of another dump";
  EXPECT_EQ(job(Dumped(0, 2)), Lines{"dumped 2"});
  EXPECT_EQ(job.supervisor.phase(), Phase::kRunning);
}

TEST(Dump, DelaysNoFailure) {
  RunningJob job(SamplePlan({{"worker", 3}}));
  job(DumpRequested{});
  EXPECT_EQ(job(Exited(1, 7)), (Lines{"origin 1", "-> stopping", "stop 0 2 grace 10000"}));
  job(Killed(0, SIGTERM));
  EXPECT_EQ(job(Killed(2, SIGTERM)), (Lines{"-> finishing", "dumped 1 in part", "finish"}));
}

TEST(Dump, IsAbandonedOnASecondStop) {
  RunningJob job(SamplePlan({{"worker", 2}}));
  job(StopRequested{1, 0, true});
  EXPECT_EQ(job(StopRequested{2, SIGINT, false}), (Lines{"-> stopping", "kill 0 1 grace 0"}));
  EXPECT_EQ(job(Dumped(0)), Lines{"dumped 1"}) << "no second stop comes of it";
}

TEST(Dump, IsCompletedWithoutALostHost) {
  RunningJob job(SamplePlan({{"worker", 2}}, 2));
  job(DumpRequested{});
  job(Dumped(0));
  EXPECT_EQ(job(AgentLost{1, "cut", 0}), (Lines{"-> stopping", "stop 0 grace 10000", "dumped 1"}));
  EXPECT_EQ(job.supervisor.cause(), Cause::kLost);
}

TEST(Dump, CancelsTheStopIfSilenceEndsMeanwhile) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.roles[0].ending = Ending::kAny;
  plan.silent_limit_ms = 1'000;
  RunningJob job(plan);
  job(DeadlinePassed{kSilenceTimer}, 2'000 * kMs);
  EXPECT_EQ(job(OutputSeen{0, {0, 1}, {0, 0}}, 2'000 * kMs), Lines{"dump 1 silent_job"});
  EXPECT_EQ(job(Exited(0)).front(), "-> lingering");
  EXPECT_EQ(job(Dumped(0), 2'100 * kMs), Lines{"dumped 1"});
}

// Where the main thread of a process is, by a dump.
Event At(ProcessId process, const std::string& call, std::uint32_t attempt = 0) {
  ProcessDumped dumped;
  dumped.dump = 1;
  dumped.process = process;
  dumped.attempt = attempt;
  SystemProcessState own;
  own.program = "python3";
  own.threads.emplace_back().call = call;
  dumped.states = {own};
  return dumped;
}

// Of a job that is silent as a whole, after a dump that shows these: which process is blamed, and why.
struct Blamed {
  std::string process;
  std::string why;
};
Blamed AfterSilence(const Plan& plan, const std::vector<Event>& dumped) {
  RunningJob job(plan);
  job(DeadlinePassed{kSilenceTimer}, 2'000 * kMs);
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    OutputSeen seen{host, {}, {}};
    for (ProcessId process = 0; process < plan.processes.size(); ++process) {
      if (plan.processes[process].host != host) continue;
      seen.processes.push_back(process);
      seen.bytes.push_back(0);
    }
    job(seen, 2'000 * kMs);
  }
  for (const Event& event : dumped) job(event, 2'050 * kMs);
  Lines last;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) last = job(Dumped(host), 2'100 * kMs);
  return {last.at(1), job.supervisor.Ended(false).why};
}

// Workers alternate between two hosts.
TEST(Dump, BlamesTheProcessForWhichTheOthersWait) {
  Plan plan = SamplePlan({{"worker", 6}}, 2);
  plan.silent_limit_ms = 1'000;
  const auto all_at = [](const std::vector<std::string>& calls) {
    std::vector<Event> events;
    for (ProcessId process = 0; process < calls.size(); ++process) events.push_back(At(process, calls[process]));
    return events;
  };
  const std::string first = "limit silent_job passed by 0";
  const Blamed apart = AfterSilence(plan, all_at({"recv", "recv", "recv", "read", "recv", "recv"}));
  EXPECT_EQ(apart.process, "limit silent_job passed by 3");
  EXPECT_EQ(apart.why, "worker.3 is in another place than most of its role; none of its job wrote for 1.0 s");
  EXPECT_EQ(AfterSilence(plan, all_at({"recv", "recv", "recv", "read", "recv", "futex"})).process,
            "limit silent_job passed by 3")
      << "two of one host";
  EXPECT_EQ(AfterSilence(plan, all_at({"recv", "recv", "read", "read", "recv", "recv"})).process, first)
      << "of two hosts";
  EXPECT_EQ(AfterSilence(plan, all_at({"recv", "recv", "recv", "recv", "recv", "recv"})).process, first);
  EXPECT_EQ(AfterSilence(plan, all_at({"recv", "read", "recv", "read", "recv", "read"})).process, first)
      << "half of them are no majority";
  EXPECT_EQ(AfterSilence(plan, all_at({"recv", "recv", "recv", "read", "recv"})).process,
            "limit silent_job passed by 3")
      << "one of the same host was not reported";
  EXPECT_EQ(AfterSilence(plan, all_at({"recv", "recv", "read", "recv", "recv"})).process, first)
      << "one of another host was not reported";
  std::vector<Event> earlier = all_at({"recv", "recv", "recv", "recv", "recv", "recv"});
  earlier[3] = At(3, "read", 7);
  EXPECT_EQ(AfterSilence(plan, earlier).process, first) << "of another attempt";
}

TEST(Dump, CannotBeTakenWithoutRunningProcesses) {
  const Plan plan = SamplePlan({{"worker", 1}});
  Supervisor supervisor(plan);
  EXPECT_FALSE(supervisor.CanDump());
  EXPECT_EQ(Reported(supervisor.Step(StopRequested{1, SIGINT, true}, 0)), (Lines{"-> finishing", "finish"}));
}

}  // namespace
}  // namespace muster
