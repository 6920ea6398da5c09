// What frameworks find in their processes' environment, variable by variable, with the holes filled as a start fills
// them. The sets are those of MindSpore's own launcher and documentation.
#include <set>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "muster/binding.h"

namespace muster::testing {
namespace {

using Env = std::map<std::string, std::string>;

// Without muster's own variables.
Env FrameworkEnv(const Plan& plan, const Process& process, const Binding& binding) {
  Env env;
  for (const auto& [name, text] : EffectiveEnv(plan, process)) {
    if (name.starts_with("MUSTER_")) continue;
    const auto filled = FillHoles(text, binding, 0);
    EXPECT_TRUE(filled) << name;
    env[name] = filled.value_or("");
  }
  return env;
}

Env With(Env common, const Env& more) {
  for (const auto& [name, value] : more) common[name] = value;
  return common;
}

const std::set<std::string> kMustNotBeInherited = {"OMPI_*",
                                                   "PMIX_*",
                                                   "RANK_TABLE_FILE",
                                                   "MINDSPORE_HCCL_CONFIG_PATH",
                                                   "MS_SIMULATION_LEVEL",
                                                   "MS_NODE_RANK",
                                                   "MS_DISABLE_HEARTBEAT"};

void ExpectCleared(const Role& role) {
  for (const std::string& pattern : kMustNotBeInherited)
    EXPECT_EQ(std::count(role.unset.begin(), role.unset.end(), pattern), 1) << role.name << " " << pattern;
}

TEST(MindSporePs, GivesEveryProcessOfOneHostItsVariables) {
  const Plan plan =
      PlanOf("job:servers { count = 2, command = { 'train' } } job:workers { count = 4, command = { 'train' } }",
             "framework = 'mindspore-ps',");
  ASSERT_EQ(plan.processes.size(), 7U);
  EXPECT_EQ(plan.ports.at("scheduler"), (PlanPort{0, 0, "scheduler.0"}));
  Binding binding;
  binding.hosts = {{"a", "127.0.0.1"}};
  binding.ports = {{"scheduler", 20300}};
  const Env all{
      {"MS_WORKER_NUM", "4"}, {"MS_SERVER_NUM", "2"}, {"MS_SCHED_HOST", "127.0.0.1"}, {"MS_SCHED_PORT", "20300"}};
  std::set<std::string> ids;
  for (const Process& process : plan.processes) {
    const Role& role = plan.roles[process.role];
    const Env env = FrameworkEnv(plan, process, binding);
    const std::string index = std::to_string(process.index);
    if (role.plays == "scheduler") {
      EXPECT_EQ(env, With(all, {{"MS_ROLE", "MS_SCHED"}, {"MS_NODE_ID", "sched"}}));
    } else if (role.plays == "server") {
      EXPECT_EQ(env, With(all, {{"MS_ROLE", "MS_PSERVER"}, {"MS_NODE_ID", "server_0" + index}}));
    } else {
      EXPECT_EQ(env, With(all, {{"MS_ROLE", "MS_WORKER"},
                                {"MS_NODE_ID", "worker_0" + index},
                                {"RANK_ID", index},
                                {"RANK_SIZE", "4"},
                                {"LOCAL_RANK", index},
                                {"LOCAL_RANK_SIZE", "4"}}));
    }
    EXPECT_TRUE(ids.insert(env.at("MS_NODE_ID")).second);
    EXPECT_EQ(CommandOf(plan, ProcessName(plan, process)), Lines{"train"}) << "all roles run the same script";
    ExpectCleared(role);
  }
}

TEST(MindSporePs, PadsItsIdsSoThatTheirOrderIsTheRanks) {
  const Plan plan =
      PlanOf("job:servers { count = 1, command = { 'x' } } job:workers { count = 101, command = { 'x' } }",
             "framework = 'mindspore-ps',");
  std::string last;
  for (const Process& process : plan.processes) {
    if (plan.roles[process.role].plays != "worker") continue;
    const std::string id = EffectiveEnv(plan, process).at("MS_NODE_ID").marked;
    EXPECT_LT(last, id);
    last = id;
  }
  EXPECT_EQ(last, "worker_100");
}

TEST(MindSporePs, PassesTheManagePortOnWhereTheContextSetsIt) {
  const std::string fields = "framework = 'mindspore-ps', mindspore = '1.6',";
  const std::string roles = " job:servers { command = { 'x' } } job:workers { count = 1, command = { 'x' } }";
  EXPECT_EQ(OwnEnv(PlanOf("context.set_ps_context { enable_ps = true, scheduler_manage_port = 11203 }" + roles, fields),
                   "worker.0")
                .at("MS_SCHED_MANAGE_PORT"),
            "11203");
  EXPECT_EQ(OwnEnv(PlanOf("context.set_ps_context { enable_ps = true }" + roles, fields), "worker.0")
                .count("MS_SCHED_MANAGE_PORT"),
            0U);
}

TEST(MindSpore, GivesSixteenWorkersOnTwoHostsTheVariablesOfItsOwnLauncher) {
  const Plan plan =
      PlanOf("context.set_context { device_target = 'Ascend' } job:workers { command = { 'train' } }",
             "framework = 'mindspore', mindspore = '1.6', cluster = { hosts = 2, devices_per_host = 8 },");
  ASSERT_EQ(plan.processes.size(), 17U);
  Binding binding;
  binding.hosts = {{"a", "192.0.2.11"}, {"b", "192.0.2.12"}};
  binding.ports = {{"scheduler", 20300}};
  const Env all{{"MS_WORKER_NUM", "16"},
                {"MS_SCHED_HOST", "192.0.2.11"},
                {"MS_SCHED_PORT", "20300"},
                {"MS_TOPO_TIMEOUT", "600"},
                {"RANK_SIZE", "16"}};
  std::size_t schedulers = 0;
  for (const Process& process : plan.processes) {
    const Role& role = plan.roles[process.role];
    ExpectCleared(role);
    EXPECT_EQ(std::count(role.unset.begin(), role.unset.end(), "MS_SERVER_NUM"), 1);
    const Env env = FrameworkEnv(plan, process, binding);
    if (role.plays == "scheduler") {
      ++schedulers;
      EXPECT_EQ(process.host, 0U);
      EXPECT_EQ(env, With(all, {{"MS_ROLE", "MS_SCHED"}, {"RANK_ID", "0"}}));
      continue;
    }
    const std::uint32_t r = process.index;
    EXPECT_EQ(process.host, r / 8);
    EXPECT_EQ(env, With(all, {{"MS_ROLE", "MS_WORKER"},
                              {"MS_NODE_ID", std::to_string(r)},
                              {"RANK_ID", std::to_string(r)},
                              {"DEVICE_ID", std::to_string(r % 8)},
                              {"MS_NODE_RANK", std::to_string(r / 8)},
                              {"LOCAL_RANK", std::to_string(r % 8)},
                              {"LOCAL_RANK_SIZE", "8"}}));
  }
  EXPECT_EQ(schedulers, 1U);
}

TEST(MindSpore, NumbersUnevenHostsWithoutGaps) {
  const Plan plan =
      PlanOf("job:workers { count = 5, command = { 'x' } }", "framework = 'mindspore', cluster = { hosts = 2 },");
  Binding binding;
  binding.hosts = {{"a", "192.0.2.11"}, {"b", "192.0.2.12"}};
  binding.ports = {{"scheduler", 20300}};
  const Env last = FrameworkEnv(plan, ProcessNamed(plan, "worker.4"), binding);
  EXPECT_EQ(last.at("RANK_ID"), "4");
  EXPECT_EQ(last.at("MS_NODE_RANK"), "1");
  EXPECT_EQ(last.at("LOCAL_RANK"), "1");
  EXPECT_EQ(last.at("LOCAL_RANK_SIZE"), "2");
}

TEST(MindSpore, UsesTheRecipesSchedulerAndPortWhereItDescribesThem) {
  const Plan plan = PlanOf(
      "job:port { 'scheduler', number = 20300 } job:scheduler { command = { 'sched' }, hosts = { 1 } } job:workers { "
      "count = 2, command = { 'x' } }",
      "framework = 'mindspore', cluster = { hosts = 2 },");
  EXPECT_EQ(plan.ports.at("scheduler"), (PlanPort{1, 20300, "scheduler.0"}));
  EXPECT_EQ(OwnEnv(plan, "worker.0").at("MS_SCHED_HOST"), "${muster:host_address:1}");
  EXPECT_EQ(CommandOf(plan, "scheduler.0"), Lines{"sched"});
}

TEST(Contracts, LeaveOtherRolesAlone) {
  const Plan plan = PlanOf("job:workers { count = 1, command = { 'x' } } job:role 'monitor' { command = { 'm' } }",
                           "framework = 'mindspore',");
  EXPECT_EQ(OwnEnv(plan, "monitor.0"), Env{});
}

TEST(Contracts, SayWhichRolesTheyNeed) {
  EXPECT_EQ(ProblemsOf("job:workers { count = 1, command = { 'x' } }", "framework = 'mindspore-ps',"),
            Lines{"recipe.lua:2 error roles: framework mindspore-ps needs a server, and the recipe describes none"});
  EXPECT_EQ(ProblemsOf("job:servers { command = { 'x' } } job:workers { count = 1, command = { 'x' } }",
                       "framework = 'mindspore',"),
            Lines{"recipe.lua:4 error roles: framework mindspore has no server"});
  EXPECT_EQ(ProblemsOf("job:role 'm' { command = { 'm' } }", "framework = 'mindspore',").size(), 2U)
      << "a scheduler and a worker";
  EXPECT_EQ(ProblemsOf("job:scheduler { count = 2, command = { 'x' } } job:workers { count = 1, command = { 'x' } }"),
            Lines{"recipe.lua:4 error roles: framework none takes at most 1 scheduler, role scheduler has 2"});
}

TEST(Contracts, DoNotTakeARoleForTheirsBecauseOfItsName) {
  const Lines problems =
      ProblemsOf("job:role 'scheduler' { command = { 'mine' } } job:workers { count = 1, command = { 'x' } }",
                 "framework = 'mindspore',");
  EXPECT_EQ(problems,
            Lines{"recipe.lua:2 error roles: framework mindspore needs a scheduler, and the recipe describes none"});
}

TEST(Contracts, EndTheirServingRolesAfterTheOthers) {
  const Plan plan = PlanOf("job:servers { command = { 'x' } } job:workers { count = 1, command = { 'x' } }",
                           "framework = 'mindspore-ps',");
  for (const Role& role : plan.roles) {
    EXPECT_EQ(role.ending, role.plays == "worker" ? Ending::kAll : Ending::kNever) << role.name;
    if (role.plays == "worker") continue;
    EXPECT_EQ(role.linger_ms, 35'000U);
  }
}

}  // namespace
}  // namespace muster::testing
