// Tests the plan of a rehearsal: it equals the original, except for commands and the end of the job.
#include <algorithm>

#include <gtest/gtest.h>

#include "plan/check/plan_check.h"
#include "run/start/rehearsal_plan.h"
#include "stub/records/stub_facts.h"

namespace muster {
namespace {

Plan Two() {
  Plan plan;
  plan.name = "job";
  plan.framework = "torch";
  plan.hosts = {{"host0", 1, "n1"}, {"host1", 1, "n2"}};
  Role role;
  role.name = "worker";
  role.plays = role.world = "worker";
  role.command = {"python3", "train.py"};
  role.env = {{"MASTER_PORT", "${muster:port:master}"}};
  role.restart.max = 3;
  role.limits.time_ms = 7;
  role.ready.kind = Readiness::Kind::kLine;
  role.ready.what = "ready";
  Role server = role;
  server.name = "server";
  server.plays = "other";
  server.world = "";
  server.command = {"exec serve > log"};
  server.shell = true;
  server.ending = Ending::kNever;
  server.after = {0};
  plan.roles = {role, server};
  for (std::uint32_t i = 0; i < 2; ++i) {
    Process process;
    process.index = i;
    process.rank = i;
    process.world_size = 2;
    process.host = i;
    plan.processes.push_back(process);
  }
  Process serving;
  serving.role = 1;
  plan.processes.push_back(serving);
  plan.ports = {{"master", {0, 29500, "worker.0"}}};
  plan.time_limit_ms = 1;
  return plan;
}

TEST(RehearsalPlan, KeepsTheInputsOfProcesses) {
  const Plan plan = Two();
  const Plan rehearsal = RehearsalPlan(plan, {});
  EXPECT_EQ(ValidatePlan(rehearsal), Diagnostics());
  EXPECT_EQ(rehearsal.hosts, plan.hosts);
  for (std::size_t i = 0; i < plan.processes.size(); ++i) {
    EXPECT_EQ(EffectiveEnv(rehearsal, rehearsal.processes[i]), EffectiveEnv(plan, plan.processes[i]));
    EXPECT_EQ(rehearsal.processes[i].host, plan.processes[i].host);
    EXPECT_EQ(rehearsal.processes[i].rank, plan.processes[i].rank);
  }
  EXPECT_EQ(rehearsal.ports.at("master"), plan.ports.at("master"));
}

TEST(RehearsalPlan, ReplacesEachCommandByAStub) {
  const Plan rehearsal = RehearsalPlan(Two(), {5000, {"/opt/${muster:x"}});
  const std::vector<Text> words = EffectiveCommand(rehearsal, rehearsal.processes[1]);
  EXPECT_EQ(words,
            (std::vector<Text>{"/proc/self/exe", "--stub", "--facts", "${muster:run_dir}/files/rehearsal.json",
                               "--process", "1", "--beside", "/opt/${muster:literal}x", "--", "python3", "train.py"}));
  EXPECT_EQ(RehearsedWords(rehearsal, rehearsal.processes[1]), (std::vector<Text>{"python3", "train.py"}));
  const std::vector<Text> shell = EffectiveCommand(rehearsal, rehearsal.processes[2]);
  EXPECT_EQ(RehearsedWords(rehearsal, rehearsal.processes[2]),
            (std::vector<Text>{"/bin/sh", "-c", "exec serve > log"}));
  EXPECT_TRUE(std::find(shell.begin(), shell.end(), Text("--shell")) != shell.end());
  EXPECT_FALSE(rehearsal.roles[1].shell);
}

TEST(RehearsalPlan, DiffersFromThatOfAJob) {
  EXPECT_FALSE(IsRehearsalPlan(Two()));
  EXPECT_TRUE(IsRehearsalPlan(RehearsalPlan(Two(), {})));
}

TEST(RehearsalPlan, EndsByItself) {
  const Plan rehearsal = RehearsalPlan(Two(), {2000, {}});
  for (const Role& role : rehearsal.roles) {
    EXPECT_EQ(role.ending, Ending::kAll);
    EXPECT_TRUE(role.after.empty());
    EXPECT_EQ(role.restart.max, 0U);
    EXPECT_EQ(role.limits, RoleLimits());
    EXPECT_EQ(role.ready, Readiness());
  }
  EXPECT_GT(rehearsal.time_limit_ms, 2000U);
  EXPECT_LT(rehearsal.time_limit_ms, 60'000U);
}

TEST(RehearsalPlan, InformsStubsAboutEachOther) {
  const Plan rehearsal = RehearsalPlan(Two(), {});
  std::string text = rehearsal.files.at(kRehearsalFacts).content.marked;
  EXPECT_NE(text.find("${muster:port:rehearsal.1}"), std::string::npos);
  EXPECT_NE(text.find("${muster:port:master}"), std::string::npos);
  EXPECT_NE(text.find("${muster:host_address:1}"), std::string::npos);
  for (std::size_t found = 0; (found = text.find("${muster:port:")) != std::string::npos;)
    text.replace(found, text.find('}', found) + 1 - found, "2000");
  const auto facts = ReadStubFacts(text);
  ASSERT_TRUE(facts.has_value()) << facts.error();
  EXPECT_EQ(facts->workers, 2U);
  EXPECT_EQ(facts->worker_hosts, 2U);
  EXPECT_TRUE(facts->processes[0].first_of_host);
  EXPECT_TRUE(facts->processes[1].first_of_host);
  EXPECT_FALSE(facts->processes[2].first_of_host);
  EXPECT_TRUE(facts->processes[2].first_of_role);
  EXPECT_EQ(facts->processes[0].ports.size(), 1U);
}

TEST(RehearsalPlan, HasAPortForEachProcess) {
  const Plan rehearsal = RehearsalPlan(Two(), {});
  EXPECT_EQ(rehearsal.ports.at("rehearsal.1"), (PlanPort{1, 0, "worker.1"}));
  EXPECT_EQ(rehearsal.ports.at("rehearsal.2"), (PlanPort{0, 0, "server.0"}));
}

}  // namespace
}  // namespace muster
