#include "run/supervise/supervisor.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

#include "run/sample_plan.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

Plan ParameterServer() {
  return SamplePlan({{"scheduler", 1, Ending::kNever, 10'000, 35'000},
                     {"server", 2, Ending::kNever, 5'000, 20'000},
                     {"worker", 3, Ending::kAll, 10'000, 0}});
}

TEST(SupervisorTable, DecidesEveryCell) {
  for (int state = 0; state < kProcessStates; ++state) {
    for (int input = 0; input < kProcessInputs; ++input) {
      const ProcessCell& cell = Decide(static_cast<ProcessState>(state), static_cast<ProcessInput>(input));
      EXPECT_NE(cell.effect, ProcessEffect::kUndecided) << "state " << state << ", input " << input;
      const bool renews = input >= static_cast<int>(ProcessInput::kRenew);
      EXPECT_TRUE(renews || static_cast<int>(cell.next) >= state) << "an attempt only goes forward: state " << state;
    }
  }
  for (int phase = 0; phase < kPhases; ++phase) {
    for (int input = 0; input < kJobInputs; ++input) {
      const JobCell& cell = Decide(static_cast<Phase>(phase), static_cast<JobInput>(input));
      EXPECT_NE(cell.effects & kDecided, 0U) << "phase " << phase << ", input " << input;
      EXPECT_GE(static_cast<int>(cell.next), phase) << "a job only goes forward: phase " << phase;
    }
  }
}

TEST(SupervisorTable, HasNoActionsOnceTheJobIsDone) {
  for (int input = 0; input < kJobInputs; ++input) {
    const JobCell& cell = Decide(Phase::kDone, static_cast<JobInput>(input));
    EXPECT_EQ(cell.next, Phase::kDone);
    EXPECT_EQ(cell.effects, static_cast<std::uint32_t>(kDecided));
  }
}

TEST(SupervisorTable, RecordsACauseForEveryInputThatStopsARunningJob) {
  for (int input = 0; input < kJobInputs; ++input) {
    const JobCell& cell = Decide(Phase::kRunning, static_cast<JobInput>(input));
    EXPECT_TRUE(cell.next != Phase::kStopping || (cell.effects & kBlame) != 0) << "input " << input;
  }
}

TEST(Supervisor, StartsEveryProcessInThePlansOrder) {
  const Plan plan = SamplePlan({{"scheduler", 1, Ending::kNever}, {"worker", 2}});
  Supervisor supervisor(plan);
  EXPECT_EQ(Reported(supervisor.Begin(0)), (Lines{"-> starting", "start 0", "start 1", "start 2"}));
}

TEST(Supervisor, SucceedsWhenEveryWorkerHasExitedWithZero) {
  RunningJob job(SamplePlan({{"worker", 2}}));
  EXPECT_EQ(job(Exited(0)), Lines{});
  EXPECT_EQ(job(Exited(1)), (Lines{"-> finishing", "finish"}));
  EXPECT_EQ(job(Empty(0)), (Lines{"-> done", "end"}));
  EXPECT_EQ(job.supervisor.Ended(false), (RunEnded{Cause::kNone, 0, ""}));
}

TEST(Supervisor, EndsAJobWithoutProcessesAtOnce) {
  const Plan plan = SamplePlan({});
  Supervisor supervisor(plan);
  EXPECT_EQ(Reported(supervisor.Begin(0)), (Lines{"-> starting", "-> finishing", "finish"}));
  EXPECT_EQ(Reported(supervisor.Step(Empty(0), 0)), (Lines{"-> done", "end"}));
  EXPECT_EQ(supervisor.Ended(false).exit_code, 0);
}

TEST(Supervisor, RecordsTheFirstFailureBeforeAnyStop) {
  RunningJob job(ParameterServer());
  EXPECT_EQ(job(Exited(4, 7)),
            (Lines{"origin 4", "-> stopping", "stop 0 grace 10000", "stop 1 2 grace 5000", "stop 3 5 grace 10000"}));
  EXPECT_EQ(job.supervisor.cause(), Cause::kFailed);
}

TEST(Supervisor, CountsLaterExitsAsConsequences) {
  RunningJob job(SamplePlan({{"worker", 3}}));
  job(Killed(1, SIGSEGV));
  EXPECT_EQ(job(Exited(0, 1)), Lines{});
  EXPECT_EQ(job(Killed(2, SIGTERM)), (Lines{"-> finishing", "finish"}));
  job(Empty(0));
  EXPECT_EQ(job.supervisor.first_failure(), (FirstFailure{1, 0}));
  EXPECT_EQ(job.supervisor.Ended(false), (RunEnded{Cause::kFailed, 1, "worker.1 was killed by SIGSEGV"}));
}

// The kernel closes a dying process's connections before it reports the exit, so peers may appear to exit first.
TEST(Supervisor, AttributesAFailureToAnExternallyKilledProcess) {
  RunningJob job(SamplePlan({{"worker", 3}}));
  EXPECT_EQ(job(Exited(0, 1)), (Lines{"origin 0", "-> stopping", "stop 1 2 grace 10000"}));
  EXPECT_EQ(job(SignalSent{2, 0, SIGTERM, 0, 1}), Lines{});
  EXPECT_EQ(job(Killed(2, SIGKILL)), Lines{"traced to 2"});
  EXPECT_EQ(job(Killed(1, SIGSEGV)), (Lines{"-> finishing", "finish"}));  // one cause is enough
  job(Empty(0));
  EXPECT_EQ(job.supervisor.first_failure(), (FirstFailure{2, 0}));
  EXPECT_EQ(job.supervisor.Ended(true).exit_code, 128 + SIGKILL);
  EXPECT_EQ(job.supervisor.Ended(false).why, "worker.2 was killed by SIGKILL");
}

TEST(Supervisor, AttributesNoFailureToProcessesItKilledOrStopped) {
  RunningJob job(SamplePlan({{"worker", 4}}));
  job(Exited(0, 1));
  job(SignalSent{1, 0, SIGTERM, 0, 1});
  EXPECT_EQ(job(Killed(1, SIGTERM)), Lines{});
  job(SignalSent{2, 0, SIGTERM, 0, 1});
  EXPECT_EQ(job(Killed(2, SIGSEGV)), Lines{});  // may have crashed in its handler of SIGTERM
  job(SignalSent{3, 0, SIGTERM, 0, 1});
  job(SignalSent{3, 0, SIGKILL, 0, 2});
  job(Killed(3, SIGKILL));
  EXPECT_EQ(job.supervisor.first_failure(), (FirstFailure{0, 0}));
}

TEST(Supervisor, StopsTheOthersIfAWorkerDiesDuringStartUp) {
  const Plan plan = SamplePlan({{"worker", 3}});
  Supervisor supervisor(plan);
  supervisor.Begin(0);
  supervisor.Step(Started(0), 0);
  EXPECT_EQ(Reported(supervisor.Step(Exited(0, 1), 0)), (Lines{"origin 0", "-> stopping", "stop 1 2 grace 10000"}));
  EXPECT_EQ(Reported(supervisor.Step(Started(1), 0)), Lines{});
  EXPECT_EQ(Reported(supervisor.Step(Started(2), 0)), Lines{});
  EXPECT_EQ(Reported(supervisor.Step(Killed(1, SIGTERM), 0)), Lines{});
  EXPECT_EQ(Reported(supervisor.Step(Killed(2, SIGTERM), 0)), (Lines{"-> finishing", "finish"}));
}

TEST(Supervisor, AttributesAFailedStartToTheMachine) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Supervisor supervisor(plan);
  supervisor.Begin(0);
  supervisor.Step(Started(0), 0);
  EXPECT_EQ(Reported(supervisor.Step(SpawnFailed{1, 0, "exec", ENOENT, "/no/such", 1}, 0)),
            (Lines{"origin 1", "-> stopping", "stop 0 grace 10000"}));
  supervisor.Step(Killed(0, SIGTERM), 0);
  supervisor.Step(Empty(0), 0);
  EXPECT_EQ(supervisor.Ended(true),
            (RunEnded{Cause::kSpawn, 3, "worker.1 could not be started: exec /no/such: No such file or directory"}));
}

TEST(Supervisor, IgnoresAFailedStartOnceItIsStopping) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Supervisor supervisor(plan);
  supervisor.Begin(0);
  supervisor.Step(StopRequested{1, SIGINT}, 0);
  EXPECT_EQ(Reported(supervisor.Step(SpawnFailed{0, 0, "exec", ENOENT, "", 1}, 0)), Lines{});
  EXPECT_EQ(supervisor.cause(), Cause::kStopped);
}

TEST(Supervisor, StopsServingRolesAfterTheirLingerTime) {
  RunningJob job(ParameterServer());
  job(Exited(3)), job(Exited(4));
  EXPECT_EQ(job(Exited(5), 1'000 * kMs, true), (Lines{"-> lingering", "arm 16 at 36000", "arm 17 at 21000"}));
  EXPECT_EQ(job(Exited(1), 2'000 * kMs), Lines{});
  EXPECT_EQ(job(DeadlinePassed{17}, 21'000 * kMs, true), (Lines{"stop 2 grace 5000", "arm 2 at 31000"}));
  EXPECT_EQ(job(Killed(2, SIGTERM), 21'001 * kMs), Lines{});
  EXPECT_EQ(job(Exited(0), 22'000 * kMs), (Lines{"-> finishing", "finish"}));
  job(Empty(0));
  EXPECT_EQ(job.supervisor.Ended(false).exit_code, 0);
}

TEST(Supervisor, FailsIfAServerDiesWhileItLingers) {
  RunningJob job(ParameterServer());
  job(Exited(3)), job(Exited(4)), job(Exited(5));
  EXPECT_EQ(job(Killed(2, SIGSEGV)), (Lines{"origin 2", "-> stopping", "stop 0 grace 10000", "stop 1 grace 5000"}));
}

TEST(Supervisor, RecordsAServerThatExitsEarlyAndContinues) {
  RunningJob job(ParameterServer());
  EXPECT_EQ(job(Exited(1)), Lines{"early 1"});
  EXPECT_EQ(job.supervisor.phase(), Phase::kRunning);
}

TEST(Supervisor, FailsIfTheSchedulerDiesWhileWorkersRun) {
  RunningJob job(ParameterServer());
  EXPECT_EQ(job(Exited(0, 1)).front(), "origin 0");
}

TEST(Supervisor, WaitsForServingProcessesIfThereIsNothingElse) {
  RunningJob job(SamplePlan({{"server", 2, Ending::kNever}}));
  EXPECT_EQ(job.supervisor.phase(), Phase::kRunning);
  EXPECT_EQ(job(Exited(0)), Lines{});
  EXPECT_EQ(job(Exited(1)), (Lines{"-> finishing", "finish"}));
}

TEST(Supervisor, StopsGracefullyOnceAndKillsAtTheSecondRequest) {
  RunningJob job(SamplePlan({{"worker", 2}}));
  EXPECT_EQ(job(StopRequested{1, SIGINT}), (Lines{"-> stopping", "stop 0 1 grace 10000"}));
  EXPECT_EQ(job(StopRequested{2, SIGINT}), Lines{"kill 0 1 grace 0"});
  job(Killed(0, SIGKILL)), job(Killed(1, SIGKILL)), job(Empty(0));
  EXPECT_EQ(job.supervisor.Ended(false), (RunEnded{Cause::kStopped, 128 + SIGINT, "ended by SIGINT"}));
}

TEST(Supervisor, WaitsForNothingAfterTheThirdStop) {
  RunningJob job(SamplePlan({{"worker", 1}}));
  job(StopRequested{1, SIGINT}), job(StopRequested{2, SIGINT});
  EXPECT_EQ(job(StopRequested{3, SIGINT}), (Lines{"-> finishing", "finish"}));
  EXPECT_EQ(job(StopRequested{4, SIGINT}), (Lines{"-> done", "end"}));
}

TEST(Supervisor, KeepsTheFailureAsTheCauseWhenTheUserStopsAfterIt) {
  RunningJob job(SamplePlan({{"worker", 2}}));
  job(Exited(0, 3));
  EXPECT_EQ(job(StopRequested{1, SIGINT}), Lines{});
  job(Killed(1, SIGTERM)), job(Empty(0));
  EXPECT_EQ(job.supervisor.Ended(false).exit_code, 1);
}

TEST(Supervisor, ReturnsTheExitCodeOfTheFirstFailure) {
  RunningJob by_code(SamplePlan({{"worker", 2}}));
  by_code(Exited(1, 42)), by_code(Exited(0, 9));
  EXPECT_EQ(by_code.supervisor.Ended(true).exit_code, 42);
  RunningJob by_signal(SamplePlan({{"worker", 1}}));
  by_signal(Killed(0, SIGABRT));
  EXPECT_EQ(by_signal.supervisor.Ended(true).exit_code, 128 + SIGABRT);
}

TEST(Supervisor, StopsTheOtherHostsWhenAnAgentIsLost) {
  RunningJob job(SamplePlan({{"worker", 4}}, 2));
  EXPECT_EQ(job(AgentLost{1, "killed by SIGKILL", 0}), (Lines{"-> stopping", "stop 0 2 grace 10000"}));
  job(Killed(0, SIGTERM));
  EXPECT_EQ(job(Killed(2, SIGTERM)), (Lines{"-> finishing", "finish"}));
  EXPECT_EQ(job(Empty(0)), (Lines{"-> done", "end"}));
  EXPECT_EQ(job.supervisor.Ended(false), (RunEnded{Cause::kLost, 3, "the agent of host1 was lost: killed by SIGKILL"}));
}

TEST(Supervisor, EndsAtOnceWhenItsOnlyAgentIsLost) {
  RunningJob job(SamplePlan({{"worker", 2}}));
  EXPECT_EQ(job(AgentLost{0, "gone", 2}), (Lines{"-> stopping", "-> finishing", "finish", "-> done", "end"}));
}

TEST(Supervisor, CountsAnAgentThatExitsUnaskedAsLost) {
  RunningJob job(SamplePlan({{"worker", 1}}));
  EXPECT_EQ(job(Empty(0)).back(), "end");
  EXPECT_EQ(job.supervisor.cause(), Cause::kLost);
}

TEST(Supervisor, EndsWithoutStartingWhenItCannotBePrepared) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Supervisor supervisor(plan);
  EXPECT_EQ(Reported(supervisor.Abandon("port rpc is taken", 0)), (Lines{"-> finishing", "finish"}));
  supervisor.Step(Empty(0), 0);
  EXPECT_EQ(supervisor.Ended(false), (RunEnded{Cause::kUnready, 3, "port rpc is taken"}));
}

TEST(Supervisor, EndsWithoutStartingWhenStoppedWhileAgentsConnect) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Supervisor supervisor(plan);
  EXPECT_EQ(Reported(supervisor.Step(StopRequested{1, SIGTERM}, 0)), (Lines{"-> finishing", "finish"}));
  EXPECT_EQ(Reported(supervisor.Begin(0)), Lines{});
  EXPECT_EQ(supervisor.Ended(false).exit_code, 128 + SIGTERM);
}

TEST(Supervisor, StopsTheJobAtItsTimeLimit) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.time_limit_ms = 60'000;
  Supervisor supervisor(plan);
  const Lines begun = Reported(supervisor.Begin(5 * kMs), true);
  EXPECT_EQ(begun, (Lines{"-> starting", "arm 1 at 60005", "start 0"}));
  supervisor.Step(Started(0), 6 * kMs);
  EXPECT_EQ(Reported(supervisor.Step(DeadlinePassed{1}, 60'005 * kMs)), (Lines{"-> stopping", "stop 0 grace 10000"}));
  EXPECT_EQ(supervisor.Ended(false), (RunEnded{Cause::kTimeLimit, 1, "the time limit of 1 min 0 s passed"}));
}

TEST(Supervisor, HasNoTimeLimitOnceTheWorkIsDone) {
  Plan plan = ParameterServer();
  plan.time_limit_ms = 60'000;
  RunningJob job(plan);
  job(Exited(3)), job(Exited(4));
  EXPECT_EQ(job(Exited(5), 0, true), (Lines{"-> lingering", "disarm 1", "arm 16 at 35000", "arm 17 at 20000"}));
}

TEST(Supervisor, ReportsAProcessThatSurvivesSigkill) {
  RunningJob job(SamplePlan({{"worker", 1}}));
  EXPECT_EQ(job(StopRequested{1, SIGINT}, 0, true), (Lines{"-> stopping", "stop 0 grace 10000", "arm 2 at 15000"}));
  EXPECT_EQ(job(DeadlinePassed{2}, 15'000 * kMs, true), (Lines{"-> finishing", "finish", "arm 3 at 45000"}));
  EXPECT_EQ(job(DeadlinePassed{3}, 45'000 * kMs), (Lines{"-> done", "end"}));
}

TEST(Supervisor, NamesAProcessThatSurvivesSigkillAfterTheWork) {
  RunningJob job(SamplePlan({{"server", 1, Ending::kNever, 0, 0}, {"worker", 1}}));
  job(Exited(1)), job(DeadlinePassed{16}), job(DeadlinePassed{2}, 5'000 * kMs);
  EXPECT_EQ(job.supervisor.Ended(false), (RunEnded{Cause::kOverdue, 3, "server.0 did not exit after SIGKILL"}));
}

TEST(Supervisor, RecordsStrayEventsAndContinues) {
  RunningJob job(SamplePlan({{"worker", 1}}));
  EXPECT_EQ(job(Started(0)), Lines{"stray: worker.0 started"});
  EXPECT_EQ(job(Exited(7, 1)), Lines{"stray: process 7 attempt 0 exited with code 1"});
  EXPECT_EQ(job(DeadlinePassed{99}), Lines{"stray: timer 99 was not armed"});
  ProcessExited other_attempt;
  other_attempt.attempt = 3;
  other_attempt.code = 1;
  EXPECT_EQ(job(other_attempt), Lines{"stray: process 0 attempt 3 exited with code 1"});
  EXPECT_EQ(job.supervisor.phase(), Phase::kRunning);
}

}  // namespace
}  // namespace muster
