// Tests the contracts of frameworks other than MindSpore: values of all variables with the placeholders filled,
// inherited variables that reach processes, and properties common to all contracts.
#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lua/evaluated.h"
#include "lua/filled_env.h"
#include "lua/state/own_files.h"
#include "muster/binding.h"
#include "plan/environment/environment.h"
#include "support/golden.h"

namespace muster::testing {
namespace {

using nlohmann::json;

TEST(Torch, SetsTheVariablesOfItsOwnLauncher) {
  const Plan plan = PlanOf("job:port('master', { number = 29500 }) job:workers { devices = 1, command = { 'x' } }",
                           "framework = 'torch', cluster = { hosts = 2, devices_per_host = 4 },");
  EXPECT_EQ(plan.ports.at("master"), (PlanPort{0, 29500, "worker.0"}));
  const Env all{{"WORLD_SIZE", "8"},
                {"LOCAL_WORLD_SIZE", "4"},
                {"GROUP_WORLD_SIZE", "2"},
                {"MASTER_ADDR", "192.0.2.11"},
                {"MASTER_PORT", "29500"},
                {"ROLE_NAME", "default"},
                {"ROLE_WORLD_SIZE", "8"},
                {"TORCHELASTIC_RESTART_COUNT", "0"},
                {"TORCHELASTIC_MAX_RESTARTS", "0"},
                {"TORCHELASTIC_RUN_ID", "0123456789ab"},
                {"OMP_NUM_THREADS", "1"},
                {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
                {"NCCL_ASYNC_ERROR_HANDLING", "1"}};
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    const std::string r = std::to_string(rank);
    EXPECT_EQ(EnvOf(plan, "worker." + r),
              With(all, {{"RANK", r},
                         {"ROLE_RANK", r},
                         {"LOCAL_RANK", std::to_string(rank % 4)},
                         {"GROUP_RANK", std::to_string(rank / 4)},
                         {"TORCHELASTIC_ERROR_FILE", "/run/errors/worker." + r + ".0.json"}}));
  }
  EXPECT_EQ(EffectiveEnv(plan, plan.processes[3]).at("MUSTER_ERROR_FILE"),
            EffectiveEnv(plan, plan.processes[3]).at("TORCHELASTIC_ERROR_FILE"));
}

TEST(Torch, ComparesTheMasterWithTheNamedHosts) {
  const auto problems_on = [](const std::string& hosts) {
    return ProblemsOf(
        "job:workers { count = 2, command = { 'x' }, env = { MASTER_ADDR = '192.0.2.12', override = true } }",
        "framework = 'torch', cluster = { host_list = { " + hosts + " } },");
  };
  EXPECT_EQ(problems_on("'192.0.2.12:1', '192.0.2.11:1'"), Lines{});
  EXPECT_EQ(
      problems_on("'192.0.2.11:1', '192.0.2.12:1'"),
      Lines{"recipe.lua:2 error hosts: MASTER_ADDR = 192.0.2.12 of worker.0 is host 1 of the run, and worker.0 is "
            "on host 0 (192.0.2.11)"});
  EXPECT_EQ(
      problems_on("'192.0.2.1:1', '192.0.2.2:1'"),
      Lines{"recipe.lua:2 warning hosts: MASTER_ADDR = 192.0.2.12 of worker.0 is no host of the run, and worker.0 "
            "is on host 0 (192.0.2.1)"});
}

TEST(Torch, LeavesMereSuggestionsToTheRecipe) {
  const std::string fields = "framework = 'torch',";
  EXPECT_FALSE(
      EnvOf(PlanOf("job:workers { count = 1, command = { 'x' } }", fields), "worker.0").contains("OMP_NUM_THREADS"))
      << "one worker on a host has all its cores";
  const Plan plan = PlanOf(
      "job:workers { count = 2, command = { 'x' }, env = { OMP_NUM_THREADS = 4 },"
      " each = function(process) process.env.NCCL_ASYNC_ERROR_HANDLING = 0 end }",
      fields);
  EXPECT_EQ(EnvOf(plan, "worker.1").at("OMP_NUM_THREADS"), "4");
  EXPECT_EQ(EnvOf(plan, "worker.1").at("NCCL_ASYNC_ERROR_HANDLING"), "0");
  EXPECT_EQ(ProblemsOf("job:workers { count = 2, command = { 'x' }, env = { RANK = 4 } }", fields),
            Lines{"recipe.lua:4 error contract_variable: role worker: RANK belongs to contract torch, which sets it"});
}

TEST(Torch, HasOneRendezvousPerWorld) {
  const Plan plan = PlanOf(
      "job:role 'trainer' { as = 'worker', world = 'train', count = 3, command = { 'x' } }"
      "job:role 'rollout' { as = 'worker', world = 'play', count = 2, on_hosts = 1, command = { 'y' } }"
      "job:role 'judge' { as = 'worker', world = 'play', count = 1, command = { 'z' } }",
      "framework = 'torch', cluster = { hosts = 2 },");
  EXPECT_EQ(plan.ports.at("master"), (PlanPort{0, 0, "trainer.0"}));
  EXPECT_EQ(plan.ports.at("master_play"), (PlanPort{1, 0, "rollout.0"}));
  const Env judge = EnvOf(plan, "judge.0");
  EXPECT_EQ(judge.at("RANK"), "2");
  EXPECT_EQ(judge.at("WORLD_SIZE"), "3");
  EXPECT_EQ(judge.at("ROLE_NAME"), "judge");
  EXPECT_EQ(judge.at("ROLE_RANK"), "0");
  EXPECT_EQ(judge.at("ROLE_WORLD_SIZE"), "1");
  EXPECT_EQ(judge.at("MASTER_ADDR"), "192.0.2.12");
  EXPECT_EQ(judge.at("GROUP_RANK"), "1") << "host 0 comes second in its world";
  EXPECT_EQ(EnvOf(plan, "trainer.2").at("MASTER_ADDR"), "192.0.2.11");
  EXPECT_EQ(EnvOf(plan, "trainer.2").at("WORLD_SIZE"), "3");
}

TEST(PsLite, NamesTheRolesAndAssignsNoRanks) {
  const Plan plan = PlanOf(
      "job:port('scheduler', { number = 20310 }) job:servers { count = 2, command = { 'x' } }"
      " job:workers { count = 2, command = { 'x' } }",
      "framework = 'ps-lite',");
  ASSERT_EQ(plan.processes.size(), 5U);
  const Env all{{"DMLC_NUM_WORKER", "2"},       {"DMLC_NUM_SERVER", "2"},         {"DMLC_PS_ROOT_URI", "192.0.2.11"},
                {"DMLC_PS_ROOT_PORT", "20310"}, {"DMLC_NODE_HOST", "192.0.2.11"}, {"DMLC_JOB_CLUSTER", "local"},
                {"DMLC_NUM_ATTEMPT", "0"}};
  EXPECT_EQ(EnvOf(plan, "scheduler.0"), With(all, {{"DMLC_ROLE", "scheduler"}}));
  EXPECT_EQ(EnvOf(plan, "server.1"), With(all, {{"DMLC_ROLE", "server"}, {"DMLC_TASK_ID", "3"}}));
  EXPECT_EQ(EnvOf(plan, "worker.1"), With(all, {{"DMLC_ROLE", "worker"}, {"DMLC_TASK_ID", "1"}}));
}

TEST(BytePs, CountsHostsAsWorkers) {
  const std::string fields = "framework = 'byteps', cluster = { hosts = 2, devices_per_host = 2 },";
  const Plan plan = PlanOf("job:servers {} job:workers { devices = 1, command = { 'x' } }", fields);
  EXPECT_EQ(CommandOf(plan, "server.0"), (Lines{"python3", "-c", "import byteps.server"}));
  EXPECT_EQ(CommandOf(plan, "scheduler.0"), CommandOf(plan, "server.0"));
  const Env env = EnvOf(plan, "worker.3");
  EXPECT_EQ(env.at("DMLC_NUM_WORKER"), "2");
  EXPECT_EQ(env.at("DMLC_WORKER_ID"), "1");
  EXPECT_EQ(env.at("BYTEPS_LOCAL_RANK"), "1");
  EXPECT_EQ(env.at("BYTEPS_LOCAL_SIZE"), "2");
  EXPECT_FALSE(env.contains("BYTEPS_FORCE_DISTRIBUTED"));
  EXPECT_EQ(
      ProblemsOf("job:servers {} job:workers { count = 3, devices = 1, command = { 'x' } }", fields),
      Lines{"recipe.lua:4 error roles: role worker: BytePS requires as many workers on every host, but there are 1 on "
            "one and 2 on another"});
}

TEST(TensorFlow, GivesEveryTaskTheClusterAndItsIndex) {
  const std::string roles =
      "job:role 'chief' { as = 'chief', on_hosts = 0, command = { 'x' } } job:workers { count = 2, command = { 'x' } }"
      " job:servers { count = 1, on_hosts = 1, command = { 'x' } } job:role 'eval' { as = 'evaluator', command = { 'x' "
      "} "
      "}";
  const Plan plan = PlanOf(roles, "framework = { 'tensorflow', port = 2222 }, cluster = { hosts = 2 },");
  const json cluster = {
      {"chief", {"192.0.2.11:2222"}}, {"worker", {"192.0.2.11:2223", "192.0.2.12:2222"}}, {"ps", {"192.0.2.12:2223"}}};
  const auto config = [&](const Plan& of, const std::string& name) {
    return json::parse(EnvOf(of, name).at("TF_CONFIG"));
  };
  EXPECT_EQ(config(plan, "chief.0"), json({{"cluster", cluster}, {"task", {{"type", "chief"}, {"index", 0}}}}));
  EXPECT_EQ(config(plan, "worker.1"), json({{"cluster", cluster}, {"task", {{"type", "worker"}, {"index", 1}}}}));
  EXPECT_EQ(config(plan, "server.0"), json({{"cluster", cluster}, {"task", {{"type", "ps"}, {"index", 0}}}}));
  EXPECT_EQ(config(plan, "eval.0"), json({{"cluster", cluster}, {"task", {{"type", "evaluator"}, {"index", 0}}}}));
  EXPECT_EQ(plan.ports.at("worker.1.grpc"), (PlanPort{1, 2222, "worker.1"}));
  EXPECT_FALSE(plan.ports.contains("eval.0.grpc")) << "nobody calls an evaluator that is not in the cluster";

  const auto ending = [](const Plan& of, const std::string& role) {
    for (const Role& candidate : of.roles) {
      if (candidate.name == role) return candidate.ending;
    }
    return Ending::kAny;
  };
  EXPECT_EQ(ending(plan, "worker"), Ending::kNever) << "servers of ParameterServerStrategy's workers never return";
  const Plan estimator =
      PlanOf(roles, "framework = { 'tensorflow', ends = 'workers', evaluator = 'listed' }, cluster = { hosts = 2 },");
  EXPECT_EQ(ending(estimator, "worker"), Ending::kAll);
  EXPECT_EQ(ending(estimator, "server"), Ending::kNever);
  EXPECT_EQ(config(estimator, "worker.0")["cluster"].count("evaluator"), 1U);
  EXPECT_EQ(
      ProblemsOf("job:servers { command = { 'x' } }", "framework = 'tensorflow',"),
      Lines{"recipe.lua:2 error roles: framework tensorflow needs a chief or workers, and the recipe describes none"});
}

TEST(Jax, NumbersItsProcessesAndImitatesAStepOnRequest) {
  const std::string body =
      "job:port('coordinator', { number = 12355 }) job:workers { per_host = 1, command = { 'x' } }";
  const Plan plan = PlanOf(body, "framework = 'jax', cluster = { hosts = 2 },");
  const Env all{{"JAX_COORDINATOR_ADDRESS", "192.0.2.11:12355"}, {"JAX_NUM_PROCESSES", "2"}};
  EXPECT_EQ(EnvOf(plan, "worker.1"), With(all, {{"JAX_PROCESS_ID", "1"}, {"JAX_PROCESS_INDEX", "1"}}));
  const Plan imitated = PlanOf(body, "framework = { 'jax', imitate = 'slurm' }, cluster = { hosts = 2 },");
  EXPECT_EQ(EnvOf(imitated, "worker.1"), With(all, {{"JAX_PROCESS_ID", "1"},
                                                    {"JAX_PROCESS_INDEX", "1"},
                                                    {"JAX_LOCAL_DEVICE_IDS", "0"},
                                                    {"SLURM_JOB_ID", "1"},
                                                    {"SLURM_STEP_NODELIST", "192.0.2.11,192.0.2.12"},
                                                    {"SLURM_NTASKS", "2"},
                                                    {"SLURM_PROCID", "1"},
                                                    {"SLURM_LOCALID", "0"}}));
  const Plan several = PlanOf("job:workers { count = 2, devices = 2, command = { 'x' } }",
                              "framework = 'jax', cluster = { devices_per_host = 4 },");
  EXPECT_EQ(EnvOf(several, "worker.1").at("JAX_LOCAL_DEVICE_IDS"), "2,3");
  const Plan own = PlanOf("job:workers { count = 2, devices = 2, visible = 'own', command = { 'x' } }",
                          "framework = 'jax', cluster = { devices_per_host = 4 },");
  EXPECT_EQ(EnvOf(own, "worker.1").at("JAX_LOCAL_DEVICE_IDS"), "0,1");
}

TEST(Mpi, LeavesTheRanksToItsLauncher) {
  const std::string body = "job:workers { count = 3, devices = 1, command = { 'x', 'y' } }";
  const std::string cluster = "cluster = { hosts = 2, devices_per_host = 2 },";
  const Plan plan = PlanOf(body, "framework = 'mpi', " + cluster);
  ASSERT_EQ(plan.processes.size(), 1U);
  EXPECT_EQ(CommandOf(plan, "worker.0"),
            (Lines{"mpirun", "-n", "3", "--host", "${muster:host_address:0}:2,${muster:host_address:1}:1", "x", "y"}));
  EXPECT_EQ(plan.processes[0].devices, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(plan.processes[0].rank, std::nullopt) << "a rank would be inherited by all of its children";
  const Plan slurm =
      PlanOf(body, "framework = { 'mpi', start = 'srun', pmi = 'pmi2', args = { '--exclusive' } }, " + cluster);
  EXPECT_EQ(CommandOf(slurm, "worker.0"),
            (Lines{"srun", "--mpi=pmi2", "--ntasks=3", "--nodes=2", "--exclusive", "x", "y"}));
  const auto cleared = [](const Plan& of) {
    return std::set<std::string>(of.roles[0].unset.begin(), of.roles[0].unset.end());
  };
  EXPECT_TRUE(cleared(plan).contains("SLURM_*"));
  EXPECT_FALSE(cleared(slurm).contains("SLURM_*")) << "srun finds its allocation there";
  const Plan variables = PlanOf(body, "framework = { 'mpi', start = 'variables' }, " + cluster);
  EXPECT_EQ(EnvOf(variables, "worker.2"), (Env{{"OMPI_COMM_WORLD_RANK", "2"},
                                               {"OMPI_COMM_WORLD_SIZE", "3"},
                                               {"OMPI_UNIVERSE_SIZE", "3"},
                                               {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                                               {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                                               {"OMPI_COMM_WORLD_NODE_RANK", "0"}}));
  EXPECT_EQ(
      ProblemsOf("job:workers { count = 1, command = { 'x' } } job:role 'more' { as = 'worker', command = { 'x' } }",
                 "framework = 'mpi',")
          .front()
          .substr(0, 75),
      "recipe.lua:4 error roles: roles worker and more share a world, and one mpir");
}

TEST(Mpi, PassesNoDevicesOfTheFirstHostToRanksOnOthers) {
  const std::string body = "job:workers { count = 2, devices = 1, command = { 'x' } }";
  const auto plan_on = [&](const std::string& start, int hosts) {
    return PlanOf(body, "framework = { 'mpi', start = '" + start + "' }, cluster = { hosts = " + std::to_string(hosts) +
                            ", devices_per_host = " + std::to_string(2 / hosts) + ", device_kind = 'cuda' },");
  };
  const auto sets = [](const Plan& plan) { return EnvOf(plan, "worker.0").count("CUDA_VISIBLE_DEVICES") == 1; };
  const auto removes = [](const Plan& plan) {
    const auto& unset = plan.roles[0].unset;
    return std::find(unset.begin(), unset.end(), "CUDA_VISIBLE_DEVICES") != unset.end();
  };
  EXPECT_TRUE(sets(plan_on("srun", 1)));
  EXPECT_FALSE(sets(plan_on("srun", 2))) << "srun passes its environment to all nodes";
  EXPECT_TRUE(removes(plan_on("srun", 2)));
  EXPECT_TRUE(sets(plan_on("mpirun", 1)));
  EXPECT_TRUE(sets(plan_on("mpirun", 2))) << "mpirun passes only what -x names";
}

TEST(Restarts, OfSingleProcessesAreRefusedIfTheFrameworkCannotReadmitThem) {
  const std::string worker = "job:workers { count = 2, command = { 'x' }, restart = { max = 1, scope = '";
  for (const auto& [framework, refused] :
       {std::pair("'torch'", true), std::pair("'jax'", true), std::pair("{ 'mindspore', recovery = 'off' }", true),
        std::pair("'mindspore'", false), std::pair("'none'", false)}) {
    const std::string fields = std::string("framework = ") + framework + ",";
    const Lines problems = ProblemsOf(worker + "process' } }", fields);
    EXPECT_EQ(problems.size(), refused ? 1U : 0U) << framework;
    if (refused) {
      EXPECT_TRUE(problems[0].starts_with("recipe.lua:4 error restart: role worker: ")) << problems[0];
    }
    EXPECT_EQ(ProblemsOf(worker + "job' } }", fields), Lines{}) << framework;
  }
}

TEST(MindSpore, RegistersAgainWithRecovery) {
  const Plan plan = PlanOf("job:workers { count = 2, command = { 'x' }, restart = 1 }",
                           "framework = { 'mindspore', recovery = 'on' },");
  EXPECT_EQ(EnvOf(plan, "scheduler.0").at("MS_NODE_ID"), "sched");
  EXPECT_EQ(EnvOf(plan, "worker.1").at("MS_ENABLE_RECOVERY"), "1");
  EXPECT_EQ(EnvOf(plan, "worker.1").at("MS_RECOVERY_PATH"), "/run/recovery");
}

TEST(MindSpore, WarnsOfNamesWithoutEffect) {
  EXPECT_EQ(
      ProblemsOf("job:env { MS_CLUSTER_RETRY_NUM = 3 } job:workers { count = 1, command = { 'x' },"
                 " env = { MS_ENABLE_SECURITY = 1, MS_CLUSTER_TIMEOUT = muster.unset },"
                 " each = function(process) process.env.MS_INTERFACE = 'eth0' end }",
                 "framework = 'mindspore',"),
      (Lines{"recipe.lua:4 warning no_such_variable: job:env: MS_CLUSTER_RETRY_NUM has no effect: only MindSpore 2.2 "
             "read it",
             "recipe.lua:4 warning no_such_variable: env of role worker: MS_ENABLE_SECURITY has no effect: MindSpore "
             "has no "
             "such variable; ENABLE_SECURITY is an option of its build",
             "recipe.lua:4 warning no_such_variable: process.env of role worker: MS_INTERFACE has no effect: MindSpore "
             "has not read it since 1.1"}));
  EXPECT_EQ(ProblemsOf("job:port('scheduler', { number = 8118 }) job:workers { count = 1, command = { 'x' } }",
                       "framework = 'mindspore',"),
            Lines{"recipe.lua:4 warning contract_port: port scheduler has the number 8118: MindSpore's workers and "
                  "servers open "
                  "their own ports in 8118 to 16309"});
}

// Variables that other launchers, or an earlier start of the same one, leave in a shell.
const std::vector<std::string> kLeftovers = {"MS_ROLE=MS_PSERVER",
                                             "MS_SCHED_HOST=10.0.0.1",
                                             "MS_SCHED_PORT=1",
                                             "MS_WORKER_NUM=99",
                                             "MS_NODE_ID=7",
                                             "RANK_TABLE_FILE=/x",
                                             "RANK_ID=7",
                                             "RANK_SIZE=99",
                                             "DEVICE_ID=7",
                                             "OMPI_COMMAND=x",
                                             "OMPI_COMM_WORLD_RANK=7",
                                             "OMPI_COMM_WORLD_SIZE=99",
                                             "OMPI_MCA_orte_hnp_uri=x",
                                             "PMIX_RANK=7",
                                             "PMIX_NAMESPACE=x",
                                             "SLURM_JOB_ID=7",
                                             "SLURM_PROCID=7",
                                             "SLURM_NTASKS=99",
                                             "SLURM_STEP_NODELIST=n[1-9]",
                                             "SLURM_LOCALID=7",
                                             "TORCHELASTIC_USE_AGENT_STORE=True",
                                             "TORCHELASTIC_RUN_ID=x",
                                             "PET_NNODES=9",
                                             "RANK=7",
                                             "WORLD_SIZE=99",
                                             "LOCAL_RANK=7",
                                             "MASTER_ADDR=10.0.0.1",
                                             "MASTER_PORT=1",
                                             "DMLC_ROLE=sever",
                                             "DMLC_PS_ROOT_URI=x",
                                             "DMLC_RANK=7",
                                             "PORT=1",
                                             "TF_CONFIG={}",
                                             "JAX_COORDINATOR_ADDRESS=x",
                                             "JAX_PROCESS_ID=7",
                                             "http_proxy=http://10.0.0.1",
                                             "MUSTER_RANK=7"};

// Only leftovers that the framework does not read may reach processes; everything else must be as in a clean shell. The
// test records what passes for each framework, so that a change is noticed.
TEST(Leftovers, ChangeNothingThatTheFrameworkReads) {
  const std::map<std::string, std::vector<std::string>> reads = {
      {"mindspore", {"MS_", "RANK_", "DEVICE_ID", "LOCAL_RANK", "OMPI_", "PMIX_"}},
      {"mindspore-ps", {"MS_", "RANK_", "DEVICE_ID", "LOCAL_RANK", "OMPI_", "PMIX_"}},
      {"mindspore-ranktable", {"MS_", "RANK_", "DEVICE_ID", "LOCAL_RANK", "OMPI_", "PMIX_"}},
      {"torch", {"TORCHELASTIC_", "PET_", "RANK=", "WORLD_SIZE", "LOCAL_RANK", "MASTER_", "OMPI_", "PMIX_", "SLURM_"}},
      {"ps-lite", {"DMLC_", "PORT"}},
      {"byteps", {"DMLC_", "PORT"}},
      {"tensorflow", {"TF_CONFIG"}},
      {"jax", {"JAX_", "SLURM_", "OMPI_", "PMIX_", "http_proxy"}},
      {"mpi", {"OMPI_", "PMIX_", "SLURM_"}}};
  const std::vector<std::string> clean = {"PATH=/usr/bin", "HOME=/home/me", "OMPI_ALLOW_RUN_AS_ROOT=1"};
  std::vector<std::string> littered = clean;
  littered.insert(littered.end(), kLeftovers.begin(), kLeftovers.end());
  std::string let_be;
  for (const auto& [framework, own] : reads) {
    const std::string name = framework == "mindspore-ranktable"
                                 ? "{ 'mindspore-ranktable', servers = { { devices = { '198.51.100.1' } } } }"
                                 : "'" + framework + "'";
    const bool servers = framework == "mindspore-ps" || framework == "ps-lite" || framework == "byteps";
    const Plan plan = PlanOf((servers ? "job:servers { command = { 'x' } } " : "") +
                                 std::string("job:workers { count = 1, command = { 'x' } }"),
                             "framework = " + name + ", cluster = { devices_per_host = 1 },");
    EXPECT_FALSE(own.empty());
    for (const Process& process : plan.processes) {
      const auto without = ComposeEnvironment(clean, plan, process, BindingOf(plan), 0);
      const auto with = ComposeEnvironment(littered, plan, process, BindingOf(plan), 0);
      ASSERT_TRUE(without && with);
      const std::set<std::string> expected(without->begin(), without->end());
      let_be += framework + " " + ProcessName(plan, process) + "\n";
      for (const std::string& variable : *with) {
        if (expected.contains(variable)) continue;
        let_be += "  " + variable + "\n";
        const auto is_own = [&](const std::string& prefix) { return variable.starts_with(prefix); };
        EXPECT_TRUE(std::none_of(own.begin(), own.end(), is_own)) << framework << " " << variable;
        EXPECT_FALSE(variable.starts_with("MUSTER_"));
      }
      EXPECT_GE(with->size(), without->size());
    }
  }
  ExpectGolden(let_be, "tests/golden/leftovers.txt");
}

TEST(Contracts, DocumentEveryVariableTheySet) {
  const std::string more = "job:role 'judge' { as = 'worker', count = 2, command = { 'x' } }";
  const std::string servers = "job:servers { count = 2, command = { 'x' } } ";
  const std::string workers = "job:workers { count = 2, devices = 1, command = { 'x' } } ";
  const std::pair<const char*, std::string> cases[] = {
      {"'mindspore'", workers + more},
      {"{ 'mindspore', recovery = 'on' }", "context.set_context { mode = 0, device_target = 'CPU' } " + workers},
      {"'mindspore-ps'", servers + workers + more},
      {"{ 'mindspore-ranktable', servers = { { devices = { '198.51.100.1', '198.51.100.2' } } } }", workers},
      {"'torch'", workers + more},
      {"'ps-lite'", servers + workers},
      {"'byteps'", servers + workers},
      {"'tensorflow'", servers + workers},
      {"{ 'jax', imitate = 'slurm' }", workers},
      {"{ 'mpi', start = 'variables' }", workers}};
  std::map<std::string, std::set<std::string>> set;
  for (const auto& [framework, body] : cases) {
    const Plan plan =
        PlanOf((std::string(framework).find("-ps'") != std::string::npos
                    ? "context.set_ps_context { enable_ps = true, scheduler_manage_port = 11000 } "
                    : "") +
                   body,
               std::string("framework = ") + framework + ", mindspore = '2.3', cluster = { devices_per_host = 2 },");
    for (const Process& process : plan.processes) {
      for (const auto& [name, unused] : EnvOf(plan, ProcessName(plan, process))) set[plan.framework].insert(name);
    }
  }
  EXPECT_EQ(set.size(), 9U);
  for (const auto& [framework, names] : set) {
    for (const EmbeddedFile& file : EmbeddedLua()) {
      if (file.path != "muster/frameworks/" + framework + ".lua" &&
          !file.path.starts_with("muster/frameworks/parts/dmlc"))
        continue;
      if (file.path.ends_with("dmlc.lua")) continue;
      for (const std::string& name : names) {
        const bool reported = file.text.find("{ \"" + name + "\", \"") != std::string_view::npos;
        const bool shared = name.starts_with("DMLC_") && file.text.find("dmlc.variables") != std::string_view::npos;
        EXPECT_TRUE(reported || shared) << framework << " sets " << name << " and does not tell it";
      }
    }
  }
}

}  // namespace
}  // namespace muster::testing
