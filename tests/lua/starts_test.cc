// Tests how the contracts depend on releases: which start works where, when MindSpore's recovery is on, and which ranks
// a plan may name.
#include <algorithm>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "lua/filled_env.h"
#include "plan/environment/environment.h"

namespace muster::testing {
namespace {

const std::string kServers = "job:servers { count = 1, command = { 'x' } } ";
const std::string kTwoWorkers = "job:workers { count = 2, devices = 1, command = { 'x' } }";

// --- release × device target × contract -------------------------------------------------------------

std::string Fields(const std::string& framework, const std::string& release, const std::string& more = "") {
  return "framework = " + framework + ", mindspore = '" + release + "', cluster = { devices_per_host = 2 }, " + more;
}

// Returns the problems of a job of that framework on that target; an empty target is omitted.
Lines StartProblems(const std::string& framework, const std::string& release, const std::string& target) {
  const bool by_function = release >= "2.5";  // the attribute is deprecated there
  const std::string set = target.empty() ? ""
                          : by_function  ? "require 'muster.mindspore'.set_device('" + target + "') "
                                         : "context.set_context { device_target = '" + target + "' } ";
  const bool table = framework == "mindspore-ranktable";
  const std::string name =
      table ? "{ 'mindspore-ranktable', servers = { { devices = { '198.51.100.1', '198.51.100.2' } } } }"
            : "'" + framework + "'";
  const bool servers = framework == "mindspore-ps";
  const std::string on = servers && release != "0.3" ? "context.set_ps_context { enable_ps = true } " : "";
  return ProblemsOf(set + on + (servers ? kServers : "") + kTwoWorkers, Fields(name, release));
}

TEST(Starts, AreRefusedIfTheReleaseDoesNotSupportThem) {
  struct Case {
    const char* framework;
    const char* release;
    const char* target;
    bool starts;
  };
  const Case cases[] = {
      {"mindspore", "1.6", "Ascend", false},
      {"mindspore", "1.9", "Ascend", false},
      {"mindspore", "1.6", "GPU", true},
      {"mindspore", "1.6", "CPU", true},
      {"mindspore", "1.6", "", true},
      {"mindspore", "1.0", "GPU", false},
      {"mindspore", "1.0", "", false},
      {"mindspore", "0.3", "Ascend", false},
      {"mindspore", "2.3.0-rc2", "Ascend", true},
      {"mindspore", "2.3", "Ascend", true},
      {"mindspore", "2.4", "CPU", true},
      {"mindspore", "2.5", "Ascend", true},
      {"mindspore", "2.5", "GPU", true},
      {"mindspore", "2.5", "CPU", true},
      {"mindspore", "2.6", "Ascend", true},
      {"mindspore", "2.6", "GPU", true},
      {"mindspore", "2.6", "CPU", true},
      {"mindspore", "2.7", "Ascend", true},
      {"mindspore", "2.7", "GPU", true},
      {"mindspore", "2.7", "CPU", true},
      {"mindspore-ranktable", "2.7", "GPU", false},
      {"mindspore-ps", "0.3", "Ascend", false},
      {"mindspore-ps", "0.3", "", false},
      {"mindspore-ps", "1.0", "GPU", true},
      {"mindspore-ps", "1.6", "CPU", true},
      {"mindspore-ps", "2.3", "Ascend", true},
      {"mindspore-ranktable", "0.3", "Ascend", true},
      {"mindspore-ranktable", "1.6", "Ascend", true},
      {"mindspore-ranktable", "1.6", "GPU", false},
      {"mindspore-ranktable", "2.3", "CPU", false},
  };
  for (const Case& c : cases) {
    const Lines problems = StartProblems(c.framework, c.release, c.target);
    EXPECT_EQ(problems.size(), c.starts ? 0U : 1U)
        << c.framework << " " << c.release << " " << c.target << " " << (problems.empty() ? "" : problems[0]);
    if (problems.empty()) continue;
    EXPECT_TRUE(problems[0].starts_with("recipe.lua:2 error contract_start: framework " + std::string(c.framework)))
        << problems[0];
  }
  EXPECT_EQ(
      StartProblems("mindspore", "1.6", "Ascend"),
      Lines{"recipe.lua:2 error contract_start: framework mindspore cannot start on Ascend in MindSpore 1.6.2: "
            "init() up to 1.9 requires RANK_TABLE_FILE unless started by mpirun; from 2.0 on MS_ROLE is sufficient"});
}

TEST(Starts, OfServersOnAscendBeforeTwoZeroHaveOneWorkerOrARankTable) {
  const std::string set =
      "context.set_context { device_target = 'Ascend' } context.set_ps_context { enable_ps = true } " + kServers;
  const std::string fields = Fields("'mindspore-ps'", "1.6");
  EXPECT_EQ(ProblemsOf(set + "job:workers { count = 1, devices = 1, command = { 'x' } }", fields), Lines{});
  const Lines without = ProblemsOf(set + kTwoWorkers, fields);
  ASSERT_EQ(without.size(), 1U);
  EXPECT_NE(without[0].find("error contract_start: role worker: several workers on Ascend need a rank table"),
            std::string::npos)
      << without[0];
  EXPECT_EQ(ProblemsOf(set + "job:workers { count = 2, devices = 1, command = { 'x' }, env = { RANK_TABLE_FILE = '/t', "
                             "override = true } }",
                       fields),
            Lines{});
  const std::string one = "job:workers { count = 1, devices = 1, command = { 'x' } } ";
  const Lines two_roles =
      ProblemsOf(set + one + "job:role 'chief' { as = 'worker', count = 1, devices = 1, command = { 'x' } }", fields);
  ASSERT_EQ(two_roles.size(), 2U) << "roles of one worker each";
  EXPECT_NE(two_roles[1].find("error contract_start: role chief: several workers on Ascend"), std::string::npos)
      << two_roles[1];
  EXPECT_EQ(ProblemsOf(set + one + "job:role 'other' { count = 2, command = { 'x' } }", fields), Lines{});
}

TEST(Starts, HaveParameterServerModeOnlyWhereThereAreServers) {
  const auto kinds = [](const std::string& framework, const std::string& enable_ps, const std::string& servers) {
    std::string found;
    const std::string set =
        enable_ps.empty() ? std::string() : "context.set_ps_context { enable_ps = " + enable_ps + " } ";
    for (const std::string& problem : ProblemsOf(set + servers + kTwoWorkers, Fields("'" + framework + "'", "2.3"))) {
      found += problem.substr(problem.find(' ') + 1, problem.find(':', problem.find(' ')) - problem.find(' ') - 1);
    }
    return found;
  };
  EXPECT_EQ(kinds("mindspore-ps", "true", kServers), "");
  EXPECT_EQ(kinds("mindspore-ps", "false", kServers), "error ps_mode");
  EXPECT_EQ(kinds("mindspore-ps", "", kServers), "warning ps_mode");
  EXPECT_EQ(kinds("mindspore", "true", ""), "warning ps_mode");
  EXPECT_EQ(kinds("mindspore", "false", ""), "");
  EXPECT_EQ(kinds("none", "true", ""), "warning ps_mode");
  EXPECT_EQ(kinds("mpi", "true", ""), "warning ps_mode");
  EXPECT_EQ(kinds("none", "true", kServers), "");
  EXPECT_EQ(kinds("none", "true", "job:env { MS_ROLE = 'MS_WORKER' } "), "") << "the recipe starts them itself";
  EXPECT_EQ(kinds("none", "false", ""), "");
  EXPECT_EQ(kinds("none", "", ""), "");
}

// msrun exports the number of the host from 2.7 on.
TEST(Starts, HaveTheVariablesOfTheReleasesMsrun) {
  for (const char* release : {"1.9", "2.4", "2.5", "2.6", "2.7"}) {
    const Plan plan = PlanOf("context.set_context { mode = 0 } " + kTwoWorkers, Fields("'mindspore'", release));
    EXPECT_EQ(EnvOf(plan, "worker.1").contains("MS_NODE_RANK"), std::string(release) == "2.7") << release;
    EXPECT_EQ(EnvOf(plan, "worker.1").at("MS_NODE_ID"), "1") << release;
    EXPECT_FALSE(EnvOf(plan, "scheduler.0").contains("MS_NODE_RANK")) << release;
  }
  EXPECT_TRUE(EnvOf(PlanOf(kTwoWorkers, "framework = 'mindspore', cluster = { devices_per_host = 2 },"), "worker.1")
                  .contains("MS_NODE_RANK"))
      << "without a release";
}

TEST(Starts, AreNotCheckedWithoutARelease) {
  EXPECT_EQ(
      ProblemsOf(kTwoWorkers, "framework = 'mindspore', cluster = { devices_per_host = 2, device_kind = 'ascend' },"),
      Lines{});
}

TEST(Starts, SuggestAnAlternative) {
  const Evaluated evaluated = Evaluate(
      {Recipe("context.set_context { device_target = 'Ascend' } " + kTwoWorkers, Fields("'mindspore'", "1.6"))});
  ASSERT_EQ(evaluated.answer.diagnostics.size(), 1U);
  EXPECT_EQ(
      evaluated.answer.diagnostics[0].hint,
      "framework = \"mindspore-ranktable\", or device_target = \"GPU\" or \"CPU\", or mindspore = \"2.0\" or later");
}

// --- recovery ---------------------------------------------------------------------------------------

Env RecoveryOf(const Plan& plan) {
  Env found;
  for (const char* name : {"MS_ENABLE_RECOVERY", "MS_RECOVERY_PATH"}) {
    const Env env = EnvOf(plan, "worker.1");
    if (const auto set = env.find(name); set != env.end()) found.insert(*set);
  }
  const Env scheduler = EnvOf(plan, "scheduler.0");
  if (const auto set = scheduler.find("MS_NODE_ID"); set != scheduler.end()) found.insert(*set);
  return found;
}

std::string Restarted(const std::string& restart) {
  return "job:workers { count = 2, command = { 'x' }" + (restart.empty() ? "" : ", restart = " + restart) + " }";
}

TEST(Recovery, IsNotSetWithoutARestartBudget) {
  for (const char* restart : {"", "{ max = 0 }", "{ max = 3, scope = 'job' }"}) {
    EXPECT_EQ(RecoveryOf(PlanOf(Restarted(restart), "framework = 'mindspore',")), Env{}) << restart << ": as msrun";
  }
  EXPECT_EQ(RecoveryOf(PlanOf("context.set_context { mode = 0, device_target = 'CPU' } " + Restarted("{ max = 3 }"),
                              "framework = 'mindspore', mindspore = '2.3',"))
                .size(),
            3U);
}

TEST(Recovery, IsSetIfProcessesRegisterAgain) {
  for (const char* restart : {"{ max = 1 }", "{ max = 1, scope = 'role' }"}) {
    EXPECT_EQ(RecoveryOf(PlanOf(Restarted(restart), "framework = 'mindspore',")),
              (Env{{"MS_ENABLE_RECOVERY", "1"}, {"MS_RECOVERY_PATH", "/run/recovery"}, {"MS_NODE_ID", "sched"}}))
        << restart;
    EXPECT_EQ(ProblemsOf(Restarted(restart), "framework = { 'mindspore', recovery = 'off' },"),
              Lines{"recipe.lua:4 error restart: role worker: the scheduler refuses a worker that registers again"});
  }
}

TEST(Recovery, IsNotSetForAReleaseWithoutIt) {
  EXPECT_EQ(ProblemsOf(Restarted("{ max = 1 }"), "framework = 'mindspore', mindspore = '1.6',"),
            Lines{"recipe.lua:4 error restart: role worker: the scheduler refuses a worker that registers again"});
  EXPECT_EQ(ProblemsOf(Restarted(""), "framework = { 'mindspore', recovery = 'on' }, mindspore = '1.6',"),
            Lines{"recipe.lua:2 error contract_start: recovery = \"on\": MindSpore 1.6.2 has no recovery"});
}

TEST(Recovery, IsReportedIfItChangesTheTraining) {
  const auto problems = [](const std::string& set, const char* framework = "'mindspore'") {
    return ProblemsOf(
        "context.set_context { " + set + " } " + Restarted("{ max = 1 }"),
        std::string("framework = ") + framework + ", mindspore = '2.3', cluster = { devices_per_host = 2 },");
  };
  const std::string begin =
      "recipe.lua:4 warning restart: MS_ENABLE_RECOVERY=1 is set, because processes of role worker may be started "
      "again: in MindSpore 2.3.1 ";
  EXPECT_EQ(problems("device_target = 'CPU'"),
            Lines{begin + "Model.train with dataset_sink_mode=True then fails in PYNATIVE_MODE"});
  EXPECT_EQ(problems("device_target = 'Ascend', mode = 0"),
            Lines{begin + "graphs on Ascend then run without pipelining"});
  EXPECT_EQ(problems("device_target = 'Ascend'"),
            Lines{begin + "Model.train with dataset_sink_mode=True then fails in PYNATIVE_MODE, and graphs on Ascend "
                          "then run without pipelining"});
  EXPECT_EQ(problems("device_target = 'CPU', mode = 0"), Lines{});
  EXPECT_EQ(problems("device_target = 'Ascend', mode = 0", "{ 'mindspore', recovery = 'on' }"), Lines{})
      << "it is meant";
}

// --- names without effect ---------------------------------------------------------------------------

TEST(AbsentNames, AreThoseOfTheRelease) {
  const auto warned = [](const std::string& release) {
    std::string names;
    const std::string body =
        (release.empty() ? "" : std::string("context.set_ps_context { enable_ps = true } ")) +
        "job:env { MS_INTERFACE = 'eth0', MS_COMM_TYPE = 'tcp', MS_HCCL_CM_INIT = 1, MS_ENABLE_SECURITY = 1 } " +
        kServers + kTwoWorkers;
    for (const std::string& problem :
         ProblemsOf(body, "framework = 'mindspore-ps', cluster = { devices_per_host = 2 }," +
                              (release.empty() ? "" : " mindspore = '" + release + "',"))) {
      const std::size_t begin = problem.find("MS_");
      names += problem.substr(begin, problem.find(' ', begin) - begin) + " ";
    }
    return names;
  };
  EXPECT_EQ(warned("1.0"), "MS_ENABLE_SECURITY ");
  EXPECT_EQ(warned("2.3"), "MS_COMM_TYPE MS_ENABLE_SECURITY MS_INTERFACE ");
  EXPECT_EQ(warned("2.4"), "MS_COMM_TYPE MS_ENABLE_SECURITY MS_HCCL_CM_INIT MS_INTERFACE ");
  EXPECT_EQ(warned(""), warned("2.4")) << "the words say from which release on";
}

// --- ranks ------------------------------------------------------------------------------------------

bool HasRanks(const Plan& plan) {
  const Process& worker = ProcessNamed(plan, "worker.1");
  EXPECT_EQ(worker.rank.has_value(), !plan.roles[worker.role].world.empty());
  EXPECT_EQ(EffectiveEnv(plan, worker).contains("MUSTER_RANK"), worker.rank.has_value());
  return worker.rank.has_value();
}

TEST(Ranks, AreNotPlannedIfTheFrameworkAssignsThem) {
  const std::string body = kServers + kTwoWorkers;
  const std::string on = "context.set_ps_context { enable_ps = true } " + body;
  EXPECT_FALSE(HasRanks(PlanOf(body, "framework = 'ps-lite', cluster = { devices_per_host = 2 },")));
  EXPECT_FALSE(HasRanks(PlanOf(on, Fields("'mindspore-ps'", "1.6"))));
  EXPECT_FALSE(HasRanks(PlanOf(on, Fields("'mindspore-ps'", "1.9"))));
  EXPECT_FALSE(HasRanks(PlanOf(on, Fields("{ 'mindspore-ps', form = 'minimal' }", "2.3"))));
  EXPECT_TRUE(HasRanks(PlanOf(on, Fields("'mindspore-ps'", "2.3")))) << "in the order of padded ids";
  EXPECT_TRUE(HasRanks(PlanOf(body, "framework = 'mindspore-ps', cluster = { devices_per_host = 2 },")));
  EXPECT_TRUE(HasRanks(PlanOf(kTwoWorkers, Fields("'mindspore'", "2.3"))));
  EXPECT_EQ(EnvOf(PlanOf(on, Fields("'mindspore-ps'", "1.6")), "worker.1").at("MS_NODE_ID"), "worker_01");
}

TEST(Ranks, CannotBeRequestedIfTheFrameworkAssignsThem) {
  EXPECT_EQ(
      ProblemsOf(kServers + "job:workers { count = 2, command = { 'x' }, each = function(process) process.env.R = "
                            "process.rank end }",
                 "framework = 'ps-lite',"),
      Lines{"recipe.lua:4 error rank: process.rank is not known: rank assigned by ps-lite, when processes register"});
  const Plan plan = PlanOf(kServers +
                               "job:workers { count = 2, command = { 'x' }, each = function(process) process.env.R = "
                               "process.index .. ' of ' .. process.world_size end }",
                           "framework = 'ps-lite',");
  EXPECT_EQ(EnvOf(plan, "worker.1").at("R"), "1 of 2");
}

// --- the dmlc tracker -------------------------------------------------------------------------------

TEST(PsLite, NumbersTasksLikeItsTracker) {
  const Plan plan = PlanOf("job:servers { count = 2, command = { 'x' } } job:workers { count = 3, command = { 'x' } }",
                           "framework = 'ps-lite',");
  EXPECT_EQ(EnvOf(plan, "worker.2").at("DMLC_TASK_ID"), "2");
  EXPECT_EQ(EnvOf(plan, "server.0").at("DMLC_TASK_ID"), "3");
  EXPECT_EQ(EnvOf(plan, "server.1").at("DMLC_TASK_ID"), "4");
  EXPECT_FALSE(EnvOf(plan, "scheduler.0").contains("DMLC_TASK_ID"));
}

TEST(PsLite, KeepsTheUsersTuning) {
  const Plan plan = PlanOf(kServers + kTwoWorkers, "framework = 'ps-lite', cluster = { devices_per_host = 2 },");
  const std::vector<std::string>& unset = plan.roles[0].unset;
  for (const char* name :
       {"DMLC_PS_VAN_TYPE", "DMLC_INTERFACE", "DMLC_PS_WATER_MARK", "PS_VERBOSE", "PS_RESEND", "PS_KEY"}) {
    EXPECT_TRUE(std::none_of(unset.begin(), unset.end(), [&](const auto& pattern) { return Matches(pattern, name); }))
        << name;
  }
  for (const char* name : {"DMLC_ROLE", "DMLC_RANK", "PORT", "DMLC_NODE_HOST", "DMLC_TRACKER_URI"}) {
    EXPECT_TRUE(std::any_of(unset.begin(), unset.end(), [&](const auto& pattern) { return Matches(pattern, name); }))
        << name;
  }
}

TEST(PsLite, FindsItsAddressByTheGivenInterface) {
  Request request{Recipe(kServers + kTwoWorkers, "framework = 'ps-lite', cluster = { devices_per_host = 2 },")};
  EXPECT_TRUE(EnvOf(Evaluate(request).plan(), "worker.0").contains("DMLC_NODE_HOST"));
  request.outside.variables["DMLC_INTERFACE"] = "ib0";
  const Env inherited = EnvOf(Evaluate(request).plan(), "worker.0");
  EXPECT_EQ(inherited.at("DMLC_INTERFACE"), "ib0");
  EXPECT_FALSE(inherited.contains("DMLC_NODE_HOST")) << "it would win over the interface";
  const Env said = EnvOf(PlanOf("job:env { DMLC_INTERFACE = 'eth1' } " + kServers + kTwoWorkers,
                                "framework = 'ps-lite', cluster = { devices_per_host = 2 },"),
                         "server.0");
  EXPECT_EQ(said.at("DMLC_INTERFACE"), "eth1");
  EXPECT_FALSE(said.contains("DMLC_NODE_HOST"));
}

// --- defaults ---------------------------------------------------------------------------------------

TEST(Defaults, OfContractsNeverReplaceInheritedVariables) {
  const Plan plan = PlanOf("job:workers { count = 2, command = { 'x' } }", "framework = 'torch',");
  const Env alone = EnvOf(plan, "worker.0");
  EXPECT_EQ(alone.at("OMP_NUM_THREADS"), "1");
  EXPECT_EQ(alone.at("TORCH_NCCL_ASYNC_ERROR_HANDLING"), "1");
  const Env inherited = EnvOf(plan, "worker.0", {{"OMP_NUM_THREADS", "16"}, {"NCCL_ASYNC_ERROR_HANDLING", ""}});
  EXPECT_EQ(inherited.at("OMP_NUM_THREADS"), "16");
  EXPECT_EQ(inherited.at("NCCL_ASYNC_ERROR_HANDLING"), "") << "empty is a value";
  EXPECT_EQ(inherited.at("TORCH_NCCL_ASYNC_ERROR_HANDLING"), "1");
  const Plan cluster = PlanOf("job:workers { count = 2, command = { 'x' } }", "framework = 'mindspore',");
  EXPECT_EQ(EnvOf(cluster, "worker.0", {{"MS_TOPO_TIMEOUT", "7200"}}).at("MS_TOPO_TIMEOUT"), "7200");
  EXPECT_EQ(EnvOf(cluster, "scheduler.0").at("MS_TOPO_TIMEOUT"), "600");
  const Plan own = PlanOf("job:workers { count = 1, command = { 'x' } }",
                          "framework = muster.contract { name = 'own', roles = { worker = {} }, defaults = function() "
                          "return { LEVEL = 3 } end },");
  EXPECT_EQ(EnvOf(own, "worker.0").at("LEVEL"), "3");
  EXPECT_EQ(EnvOf(own, "worker.0", {{"LEVEL", "9"}}).at("LEVEL"), "9");
}

TEST(Jax, GivesAHostsOnlyProcessAllItsDevices) {
  const auto ids = [](const std::string& framework, const std::string& worker, int devices) {
    const Env env = EnvOf(PlanOf("job:workers { per_host = 1, " + worker + " command = { 'x' } }",
                                 "framework = " + framework +
                                     ", cluster = { hosts = 2, devices_per_host = " + std::to_string(devices) + " },"),
                          "worker.1");
    const auto found = env.find("JAX_LOCAL_DEVICE_IDS");
    return found == env.end() ? std::string("none") : found->second;
  };
  const std::string slurm = "{ 'jax', imitate = 'slurm' }";
  EXPECT_EQ(ids(slurm, "devices = 4,", 4), "0,1,2,3");
  EXPECT_EQ(ids(slurm, "", 4), "0,1,2,3");
  EXPECT_EQ(ids("'jax'", "devices = 4,", 4), "0,1,2,3");
  EXPECT_EQ(ids("'jax'", "devices = 0,", 4), "0,1,2,3");
  EXPECT_EQ(ids("'jax'", "devices = 0,", 1), "none") << "JAX takes all it sees";
}

}  // namespace
}  // namespace muster::testing
