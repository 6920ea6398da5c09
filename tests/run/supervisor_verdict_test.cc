// Tests what the supervisor does with verdicts: it stops the job, or lets a spare replace a host that works.
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/sample_plan.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

using Scope = RestartPolicy::Scope;

// Workers 0 and 2 are on host 0, 1 and 3 on host 1.
Plan JudgedWorkers(Scope scope, bool verdict = true) {
  Plan plan = SamplePlan({{"worker", 4}}, 2);
  plan.roles[0].restart.max = 5;
  plan.roles[0].restart.scope = scope;
  plan.roles[0].restart.backoff_ms = 100;
  plan.roles[0].restart.verdict = verdict;
  return plan;
}

// A job whose processes are all running, and whose failures look as the test says.
class JudgedJob final : private FailureSource {
 public:
  explicit JudgedJob(Plan p, const std::vector<SiteHost>& spares = {{"s1", "", 0}})
      : plan(std::move(p)), supervisor(plan, spares) {
    supervisor.JudgeBy(DefaultVerdictRules(), *this);
    supervisor.Begin(0);
    for (ProcessId process = 0; process < plan.processes.size(); ++process) supervisor.Step(Started(process), 0);
  }
  Lines operator()(const Event& event) {
    const std::vector<Action> actions = supervisor.Step(event, 0);
    for (const Action& action : actions) {
      if (const auto* judged = std::get_if<FailureJudged>(&action)) verdicts.push_back(*judged);
      if (const auto* planned = std::get_if<RestartPlanned>(&action)) why = planned->why;
    }
    return Reported(actions);
  }
  // All of the processes end and start again as their attempt.
  void Restart(std::uint64_t renewal, std::uint32_t attempt) {
    for (ProcessId process = 0; process < plan.processes.size(); ++process) {
      if (supervisor.state(process) == ProcessState::kStopping) (*this)(Killed(process, SIGTERM, attempt - 1));
    }
    (*this)(DeadlinePassed{kRenewalTimers + renewal});
    for (ProcessId process = 0; process < plan.processes.size(); ++process) (*this)(Started(process, attempt));
  }

  Plan plan;
  Supervisor supervisor;
  std::vector<FailureJudged> verdicts;
  std::string why;  // of the last restart
  FailureTraits looks = {
      .failure_class = "exception", .fingerprint = "f", .what = "exception: x", .step = 7, .ready = true};
  std::vector<AskedFailure> asked;

 private:
  FailureTraits Look(const AskedFailure& failure) override {
    asked.push_back(failure);
    return looks;
  }
};

TEST(JudgedJob, EndsAfterAVerdictOfStop) {
  JudgedJob job(JudgedWorkers(Scope::kJob));
  EXPECT_EQ(job(Exited(1, 3)), (Lines{"restart 1 of job for 0 1 2 3 in 100", "stop 0 2 3 grace 10000"}));
  ASSERT_EQ(job.verdicts.size(), 1U);
  EXPECT_EQ(job.verdicts[0].verdict, RestartVerdict::kRestart);
  EXPECT_EQ(job.verdicts[0].host, 1U);
  EXPECT_EQ(job.verdicts[0].shape, "2x4x0");
  EXPECT_TRUE(job.verdicts[0].obeyed);
  EXPECT_FALSE(job.verdicts[0].alone);
  job.Restart(0, 1);
  const Lines ended = job(Exited(2, 3, 1));
  ASSERT_GE(ended.size(), 2U);
  EXPECT_EQ(ended[0], "origin 2");
  EXPECT_EQ(ended[1], "-> stopping");
  EXPECT_EQ(job.verdicts[1].rule, "same failure elsewhere");
  EXPECT_EQ(job.supervisor.Ended(false).why,
            "worker.2 exited with code 3; the same failure happened 2 times at step 7, on different hosts");
}

TEST(JudgedJob, OnlyRecordsVerdictsThatItsPolicyDoesNotFollow) {
  JudgedJob job(JudgedWorkers(Scope::kJob, false));
  job(Exited(1, 3));
  job.Restart(0, 1);
  EXPECT_EQ(job(Exited(2, 3, 1)).front(), "restart 2 of job for 0 1 2 3 in 200");
  EXPECT_EQ(job.verdicts[1].verdict, RestartVerdict::kStop);
  EXPECT_FALSE(job.verdicts[1].obeyed);
}

TEST(JudgedJob, LetsASpareReplaceAHostWhenItsProcessesHaveEnded) {
  JudgedJob job(JudgedWorkers(Scope::kProcess));
  job.looks.failure_class = "silent";
  EXPECT_EQ(job(Exited(1, 3)), (Lines{"restart 1 of process for 1 in 100"}));
  EXPECT_EQ(job(DeadlinePassed{kRenewalTimers}), Lines{"start 1 attempt 1"});
  job(Started(1, 1));
  EXPECT_EQ(job(Exited(1, 3, 1)), (Lines{"restart 2 of process for 1 3 in 200", "stop 3 grace 10000"}));
  EXPECT_EQ(job.verdicts[1].rule, "same host again");
  EXPECT_EQ(job.why,
            "worker.1 exited with code 3; the last 2 failures happened on host1, and none on the other hosts; s1 "
            "replaces it");
  EXPECT_EQ(job.supervisor.slots().machine(1), 1U) << "the stop of worker.3 goes to its old host";
  EXPECT_EQ(job(DeadlinePassed{kRenewalTimers + 1}), Lines{}) << "worker.3 still runs there";
  EXPECT_EQ(job(Killed(3, SIGTERM)), Lines{"replace 1 by 2"});
  EXPECT_EQ(job.supervisor.slots().machine(1), 2U);
  EXPECT_EQ(job(HostReplaced{1, 2, "s1", "", {}, {}, {}, ""}), (Lines{"start 1 attempt 2", "start 3 attempt 1"}));
  job(Started(1, 2)), job(Started(3, 1));
  EXPECT_EQ(job(AgentLost{1, "cut", 0}), Lines{}) << "the excluded host is not needed any more";
  job(Exited(0)), job(Exited(1, 0, 2)), job(Exited(2));
  EXPECT_EQ(job(Exited(3, 0, 1)), (Lines{"-> finishing", "finish"}));
}

TEST(JudgedJob, RestartsOnTheHostWithoutASpare) {
  JudgedJob job(JudgedWorkers(Scope::kProcess), {});
  job.looks.failure_class = "silent";
  job(Exited(1, 3)), job(DeadlinePassed{kRenewalTimers}), job(Started(1, 1));
  EXPECT_EQ(job(Exited(1, 3, 1)), (Lines{"restart 2 of process for 1 in 200"}));
  EXPECT_FALSE(job.verdicts[1].replaceable);
  EXPECT_EQ(job.verdicts[1].verdict, RestartVerdict::kRestart);
}

TEST(JudgedJob, StartsOnTheOldHostIfTheSpareIsLostMeanwhile) {
  JudgedJob job(JudgedWorkers(Scope::kRole));
  job.looks.failure_class = "silent";
  job(Exited(1, 3));
  job.Restart(0, 1);
  job(Exited(1, 3, 1));
  EXPECT_EQ(job.verdicts[1].verdict, RestartVerdict::kExcludeHost);
  job(AgentLost{2, "cut", 0});
  job(Killed(0, SIGTERM, 1)), job(Killed(2, SIGTERM, 1)), job(DeadlinePassed{kRenewalTimers + 1});
  EXPECT_EQ(job(Killed(3, SIGTERM, 1)),
            (Lines{"start 0 attempt 2", "start 1 attempt 2", "start 2 attempt 2", "start 3 attempt 2"}));
}

TEST(JudgedJob, KeepsAHostWhoseOtherRolesCannotRestart) {
  Plan plan = SamplePlan({{"server", 2}, {"worker", 2}}, 2);
  plan.roles[1].restart = JudgedWorkers(Scope::kProcess).roles[0].restart;
  JudgedJob job(plan);
  job.looks.failure_class = "silent";
  job(Exited(3, 3)), job(DeadlinePassed{kRenewalTimers}), job(Started(3, 1));
  EXPECT_EQ(job(Exited(3, 3, 1)), (Lines{"restart 2 of process for 3 in 200"}));
  EXPECT_EQ(job.verdicts[1].verdict, RestartVerdict::kExcludeHost);
}

TEST(JudgedJob, AsksAboutLimitsAndLostHosts) {
  Plan plan = JudgedWorkers(Scope::kRole);
  plan.roles[0].limits.time_ms = 1'000;
  plan.roles[0].ready.kind = Readiness::Kind::kLine;
  JudgedJob job(plan, {{"s1", "", 0}});
  job(DeadlinePassed{kProcessTimeTimers + 2});
  ASSERT_EQ(job.asked.size(), 1U);
  EXPECT_EQ(job.asked[0].end.limit, "time");
  EXPECT_EQ(job.asked[0].ready, false);
  EXPECT_EQ(job.asked[0].machine, 0U);
  job.Restart(0, 1);
  job(AgentLost{1, "cut", 0});
  ASSERT_EQ(job.asked.size(), 2U);
  EXPECT_EQ(job.asked[1].end.kind, HowEnded::Kind::kLost);
  EXPECT_EQ(job.asked[1].who.process, 1U);
}

}  // namespace
}  // namespace muster
