// Tests the environment of each framework's processes, variable by variable, with the placeholders filled. The expected
// sets are from MindSpore's own launcher and documentation.
#include <memory>
#include <set>

#include <gtest/gtest.h>
#include <lua.hpp>

#include "lua/evaluated.h"
#include "lua/filled_env.h"
#include "muster/binding.h"
#include "support/places.h"

namespace muster::testing {
namespace {

// Returns the variables without muster's own.
Env FrameworkEnv(const Plan& plan, const Process& process, const Binding& binding) {
  Env env;
  for (const auto& [name, text] : EffectiveEnv(plan, process)) {
    if (name.starts_with("MUSTER_")) continue;
    const auto filled =
        FillPlaceholders(text, binding, 0, [](const std::string&) { return std::optional<std::string>(); });
    EXPECT_TRUE(filled) << name;
    env[name] = filled.value_or("");
  }
  return env;
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

TEST(MindSporePs, SetsTheVariablesOfEveryProcessOfOneHost) {
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

TEST(MindSporePs, PadsItsIdsSoThatTheySortByRank) {
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

TEST(MindSporePs, PassesOnTheManagePortOfTheContext) {
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

TEST(MindSporePs, HoldsAChosenManagePortForTheScheduler) {
  const std::string fields = "framework = 'mindspore-ps', mindspore = '1.6', cluster = { hosts = 2 },";
  const std::string roles =
      " job:scheduler { command = { 'x' }, on_hosts = { 1 } } job:servers { command = { 'x' } } job:workers { count = "
      "2, "
      "command = { 'x' } }";
  const std::string on = "context.set_ps_context { enable_ps = true, scheduler_manage_port = 'auto' }";
  const Plan plan = PlanOf(on + roles, fields);
  EXPECT_EQ(plan.ports.at("scheduler_manage"), (PlanPort{1, 0, "scheduler.0"}));
  for (const Process& process : plan.processes) {
    EXPECT_EQ(EffectiveEnv(plan, process).at("MS_SCHED_MANAGE_PORT").marked, "${muster:port:scheduler_manage}");
    EXPECT_EQ(EffectiveContext(plan, process).at("set_ps_context.scheduler_manage_port"),
              Value("${muster:port:scheduler_manage}"));
  }
  EXPECT_EQ(
      PlanOf("job:port('scheduler_manage', { number = 20300 }) " + on + roles, fields).ports.at("scheduler_manage"),
      (PlanPort{1, 20300, "scheduler.0"}));
  const Plan own =
      PlanOf("context.set_ps_context { enable_ps = true, scheduler_manage_port = job:port 'mine' }" + roles, fields);
  EXPECT_EQ(OwnEnv(own, "server.0").at("MS_SCHED_MANAGE_PORT"), "${muster:port:mine}");
  EXPECT_EQ(own.ports.count("scheduler_manage"), 0U);
}

TEST(MindSporePs, HoldsTheManagePortOfTheRecipe) {
  const std::string fields = "framework = 'mindspore-ps', mindspore = '1.6', cluster = { hosts = 2 },";
  const std::string roles =
      " job:scheduler { command = { 'x' }, on_hosts = { 1 } } job:servers { command = { 'x' } } job:workers { count = "
      "2, "
      "command = { 'x' } }";
  const std::string on = "context.set_ps_context { enable_ps = true, scheduler_manage_port = 20300 }";
  const Plan plan = PlanOf(on + roles, fields);
  EXPECT_EQ(plan.ports.at("scheduler_manage"), (PlanPort{1, 20300, "scheduler.0"}));
  EXPECT_EQ(EffectiveContext(plan, plan.processes[0]).at("set_ps_context.scheduler_manage_port"), Value(20300));
  EXPECT_EQ(PlanOf("context.set_ps_context { enable_ps = true, scheduler_manage_port = 0 }" + roles, fields)
                .ports.count("scheduler_manage"),
            0U)
      << "0 is none";
  const Plan own = PlanOf("job:port('mine', { number = 20300, host = 1 }) " + on + roles, fields);
  EXPECT_EQ(own.ports.count("scheduler_manage"), 0U) << "it is held already";
  EXPECT_EQ(
      ProblemsOf("job:port('scheduler_manage', { number = 11301 }) " + on + roles, fields),
      Lines{"recipe.lua:4 error conflict: scheduler_manage_port = 20300: the port scheduler_manage that belongs to "
            "it has the number 11301"});
  EXPECT_EQ(ProblemsOf("job:port('scheduler', { number = 20300 }) " + on + roles, fields),
            Lines{"recipe.lua:4 error conflict: scheduler_manage_port = 20300: port scheduler has this number on the "
                  "same host"});
  const std::string elsewhere = "context.set_ps_context { scheduler_manage_port = 20300 }";
  EXPECT_TRUE(
      PlanOf(elsewhere + " job:workers { count = 1, command = { 'x' } }", "framework = 'mindspore', mindspore = '1.6',")
          .ports.count("scheduler_manage") == 0)
      << "nobody listens there";
}

TEST(MindSporePs, IsTheOnlyFrameworkWithAManagePort) {
  EXPECT_EQ(
      ProblemsOf(
          "context.set_ps_context { scheduler_manage_port = 'auto' } job:workers { count = 1, command = { 'x' } }",
          "framework = 'mindspore', mindspore = '1.6',"),
      Lines{"recipe.lua:4 error contract_port: scheduler_manage_port = \"auto\": framework mindspore has no process "
            "that would listen there"});
}

TEST(MindSporePs, HasTheMinimalFormOfTheDocumentation) {
  const Plan plan =
      PlanOf("job:servers { count = 2, command = { 'train' } } job:workers { count = 4, command = { 'train' } }",
             "framework = { 'mindspore-ps', form = 'minimal' },");
  EXPECT_EQ(plan.framework, "mindspore-ps");
  Binding binding;
  binding.hosts = {{"a", "127.0.0.1"}};
  binding.ports = {{"scheduler", 20300}};
  for (const Process& process : plan.processes) {
    const std::string& plays = plan.roles[process.role].plays;
    EXPECT_EQ(FrameworkEnv(plan, process, binding), (Env{{"MS_WORKER_NUM", "4"},
                                                         {"MS_SERVER_NUM", "2"},
                                                         {"MS_SCHED_HOST", "127.0.0.1"},
                                                         {"MS_SCHED_PORT", "20300"},
                                                         {"MS_ROLE", plays == "scheduler" ? "MS_SCHED"
                                                                     : plays == "server"  ? "MS_PSERVER"
                                                                                          : "MS_WORKER"}}));
    ExpectCleared(plan.roles[process.role]);
  }
}

TEST(Contracts, CheckTheirOptions) {
  const std::string roles = "job:servers { command = { 'x' } } job:workers { count = 1, command = { 'x' } }";
  const std::pair<const char*, const char*> cases[] = {
      {"{ 'mindspore-ps', form = 'small' }",
       "enum: framework mindspore-ps: form must be one of {\"named\", \"minimal\"}, got \"small\""},
      {"{ 'mindspore-ps', form = true }",
       "enum: framework mindspore-ps: form must be one of {\"named\", \"minimal\"}, got true"},
      {"{ 'mindspore-ps', from = 'minimal' }", "unknown_key: framework mindspore-ps has no option \"from\""},
      {"{ 'mindspore-ps', 'minimal' }", "unknown_key: framework mindspore-ps has no option 2"},
      {"{ form = 'minimal' }", "type: framework names no contract"},
      {"{ 'mindspore-ps', form = 'named' }", ""},
  };
  for (const auto& [framework, problem] : cases) {
    const Lines problems = ProblemsOf(roles, std::string("framework = ") + framework + ",");
    EXPECT_EQ(problems, problem[0] == 0 ? Lines{} : Lines{std::string("recipe.lua:2 error ") + problem}) << framework;
  }
  EXPECT_EQ(ProblemsOf("job:workers { count = 1, command = { 'x' } }", "framework = { 'none', form = 'minimal' },"),
            Lines{"recipe.lua:2 error unknown_key: framework none has no option \"form\""});
}

// Calls the contract's own check for a role with restarts, without a recipe.
Lines RestartProblems(const std::string& role, const std::string& form, const std::string& path,
                      const std::string& config) {
  const std::unique_ptr<lua_State, decltype(&lua_close)> lua(luaL_newstate(), &lua_close);
  luaL_openlibs(lua.get());
  const std::string code =
      "said = {} contract = function(t) return t end\n"
      "part = function(name) return dofile('" MUSTER_SOURCE_DIR
      "/lua/muster/frameworks/parts/' .. name .. '.lua') end\n"
      "host = { report = function(_, kind, _, message) said[#said + 1] = kind .. ': ' .. message end }\n"
      "local ps = dofile('" MUSTER_SOURCE_DIR
      "/lua/muster/frameworks/mindspore-ps.lua')\n"
      "ps.check { roles = { " +
      role + " }, option = { form = '" + form +
      "' },\n"
      "setting = function() return " +
      path + " end, setting_file = function() return " + config +
      " end }\n"
      "return table.concat(said, '\\n')";
  EXPECT_EQ(luaL_dostring(lua.get(), code.c_str()), 0) << lua_tostring(lua.get(), -1);
  const std::string said = lua_tostring(lua.get(), -1);
  return said.empty() ? Lines{} : Lines{said};
}

TEST(MindSporePs, RestartsNoSingleWorkerAndAServerOnlyWithRecovery) {
  const std::string worker = "{ name = 'worker', plays = 'worker', restart = { scope = 'process' } }";
  const std::string server = "{ name = 'server', plays = 'server', restart = { scope = 'process' } }";
  const std::string recovery = "{ recovery = {} }";
  const Lines refused = {
      "restart: role worker: a single worker cannot be restarted: only servers recover in MindSpore's "
      "parameter-server mode (documentation \"Parameter Server Mode\")"};
  EXPECT_EQ(RestartProblems(worker, "named", "'x'", recovery), refused);
  EXPECT_EQ(
      RestartProblems("{ name = 'worker', plays = 'worker', restart = { scope = 'job' } }", "named", "nil", "nil"),
      Lines{});
  EXPECT_EQ(RestartProblems("{ name = 'worker', plays = 'worker' }", "named", "nil", "nil"), Lines{});
  EXPECT_EQ(RestartProblems(server, "named", "'x'", recovery), Lines{});
  EXPECT_EQ(RestartProblems(server, "named", "'/etc/ps.json'", "nil"), Lines{}) << "what the host holds is not known";
  const Lines no_recovery = {"restart: role server: a server that is restarted needs recovery in config_file_path"};
  EXPECT_EQ(RestartProblems(server, "named", "nil", "nil"), no_recovery);
  EXPECT_EQ(RestartProblems(server, "named", "'x'", "{}"), no_recovery);
  EXPECT_EQ(RestartProblems(server, "minimal", "'x'", recovery),
            Lines{"restart: role server: a server can only be restarted with its node id"});
}

TEST(MindSpore, SetsTheVariablesOfItsOwnLauncherForSixteenWorkers) {
  const Plan plan =
      PlanOf("require 'muster.mindspore'.set_device('Ascend') job:workers { command = { 'train' } }",
             "framework = 'mindspore', mindspore = '2.7', cluster = { hosts = 2, devices_per_host = 8 },");
  ASSERT_EQ(plan.processes.size(), 17U);
  Binding binding;
  binding.hosts = {{"a", "192.0.2.11", {"0", "1", "2", "3", "4", "5", "6", "7"}},
                   {"b", "192.0.2.12", {"8", "9", "10", "11", "12", "13", "14", "15"}}};
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
                              {"ASCEND_RT_VISIBLE_DEVICES", r < 8 ? "0,1,2,3,4,5,6,7" : "8,9,10,11,12,13,14,15"},
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

TEST(MindSpore, UsesTheSchedulerAndPortOfTheRecipe) {
  const Plan plan = PlanOf(
      "job:port('scheduler', { number = 20300 }) job:scheduler { command = { 'sched' }, on_hosts = { 1 } } job:workers "
      "{ "
      "count = 2, command = { 'x' } }",
      "framework = 'mindspore', cluster = { hosts = 2 },");
  EXPECT_EQ(plan.ports.at("scheduler"), (PlanPort{1, 20300, "scheduler.0"}));
  EXPECT_EQ(OwnEnv(plan, "worker.0").at("MS_SCHED_HOST"), "${muster:host_address:1}");
  EXPECT_EQ(CommandOf(plan, "scheduler.0"), Lines{"sched"});
}

TEST(Contracts, DoNotAffectOtherRoles) {
  const Plan plan = PlanOf("job:workers { count = 1, command = { 'x' } } job:role 'monitor' { command = { 'm' } }",
                           "framework = 'mindspore',");
  EXPECT_EQ(OwnEnv(plan, "monitor.0"), Env{});
}

TEST(Contracts, NameTheRolesTheyNeed) {
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

TEST(Contracts, DoNotClaimARoleByItsNameAlone) {
  const Lines problems =
      ProblemsOf("job:role 'scheduler' { command = { 'mine' } } job:workers { count = 1, command = { 'x' } }",
                 "framework = 'mindspore',");
  EXPECT_EQ(problems,
            Lines{"recipe.lua:2 error roles: framework mindspore needs a scheduler, and the recipe describes none"});
}

TEST(Contracts, StopTheirServingRolesAfterTheOthers) {
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
