// Tests how a launched Python finds its context: PYTHONPATH by framework, role and recipe, and secrets.
#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "plan/environment/inherited_environment.h"

namespace muster::testing {
namespace {

const std::string kMindSpore = "framework = 'mindspore', mindspore = '1.6',";
const std::string kApplied =
    "${muster:run_dir}/python/site:${muster:run_dir}/python${muster:inherited_path:PYTHONPATH}";
const std::string kOffered = "${muster:run_dir}/python${muster:inherited_path:PYTHONPATH}";

// Returns PYTHONPATH of worker.0, "" if it is not set.
std::string PathOf(const std::string& role, const std::string& fields, const std::string& before = "") {
  const Plan plan = PlanOf(before + "job:workers { count = 1, " + role + " }", fields);
  const auto env = OwnEnv(plan, "worker.0");
  const auto path = env.find("PYTHONPATH");
  return path == env.end() ? "" : path->second;
}

TEST(PythonPath, AppliesTheContextInPythonProcessesOfMindSpore) {
  for (const char* framework : {"mindspore", "mindspore-ps"}) {
    const std::string fields = "framework = '" + std::string(framework) + "', mindspore = '1.6',";
    const std::string servers = framework == std::string("mindspore-ps")
                                    ? "context.set_ps_context { enable_ps = true } job:servers { command = { 'x' } } "
                                    : "";
    for (const char* command : {"{ 'python3', 'train.py' }", "{ '/usr/bin/python3.11' }", "{ './train.py' }"}) {
      EXPECT_EQ(PathOf(std::string("command = ") + command, fields, servers), kApplied) << command;
    }
    EXPECT_EQ(PathOf("command = { 'ps_digits' }", fields, servers), "");
  }
}

TEST(PythonPath, OffersMusterContextIfNoContextIsApplied) {
  EXPECT_EQ(PathOf("command = { 'python3' }", "framework = 'mindspore',"), kOffered) << "no release, no context";
  EXPECT_EQ(PathOf("command = { 'python3' }", "framework = 'none', mindspore = '1.6',"), kOffered);
  EXPECT_EQ(PathOf("devices = 0, command = muster.shell 'cd /tmp && python3 train.py'", "framework = 'torch',"),
            kOffered);
  EXPECT_EQ(PathOf("command = { 'sleep', '1' }", "framework = 'none',"), "");
}

TEST(PythonPath, OffersThePackagesToWhateverNamesAPythonProgram) {
  for (const char* command :
       {"{ 'torchrun', '--nproc-per-node', '2', '-m', 'train' }", "{ '/opt/bin/accelerate', 'launch', 'x' }",
        "{ 'conda', 'run', '-n', 'x', 'train.py' }", "{ 'sh', '-c', './train.py; true' }", "{ 'nice', 'python3.11' }",
        "muster.shell './train.py --lr 1'", "{ 'mpirun', 'deepspeed', '--num_gpus', '1' }"}) {
    EXPECT_EQ(PathOf(std::string("command = ") + command, "framework = 'none',"), kOffered) << command;
  }
  for (const char* command : {"{ './train', '--model', 'x.pyc' }", "{ 'sh', '-c', './train.sh' }",
                              "{ 'echo', 'happy' }", "{ 'torchrunner' }", "{ 'cat', 'a.pyx' }"}) {
    EXPECT_EQ(PathOf(std::string("command = ") + command, "framework = 'none',"), "") << command;
  }
}

TEST(PythonPath, OffersThePackagesInEachFramework) {
  const std::string workers = "command = { 'python3', 'train.py' }";
  for (const char* framework : {"none", "torch", "mpi", "jax", "ps-lite", "byteps", "mindspore"}) {
    const bool servers = framework == std::string("ps-lite") || framework == std::string("byteps");
    const std::string before = servers ? "job:servers { count = 1, command = { 'x' } } " : "";
    EXPECT_EQ(PathOf(workers, "framework = '" + std::string(framework) + "',", before), kOffered) << framework;
  }
}

TEST(PythonPath, IsAlsoSetForTheScheduler) {
  const Plan plan = PlanOf("job:workers { command = { 'python3', 'train.py' } }", kMindSpore);
  EXPECT_EQ(OwnEnv(plan, "scheduler.0").at("PYTHONPATH"), kApplied);
  const Plan off = PlanOf("job:workers { apply_context = false, command = { 'python3', 'train.py' } }", kMindSpore);
  EXPECT_EQ(OwnEnv(off, "scheduler.0").at("PYTHONPATH"), kOffered) << "it runs the worker's command";
}

TEST(PythonPath, OnlyOffersTheContextIfTheRoleOrTheRecipeRequestsIt) {
  EXPECT_EQ(PathOf("command = { 'python3' }, apply_context = false", kMindSpore), kOffered);
  EXPECT_EQ(PathOf("command = { 'python3' }", kMindSpore + "apply_context = false,"), kOffered);
  EXPECT_EQ(PathOf("command = { 'python3' }, apply_context = true", kMindSpore + "apply_context = false,"), kApplied);
  EXPECT_EQ(PathOf("command = { 'x' }, apply_context = false", kMindSpore), "");
}

TEST(PythonPath, IsSetForAnyCommandIfTheRoleRequestsIt) {
  EXPECT_EQ(PathOf("command = muster.shell 'exec python3 train.py', apply_context = true", kMindSpore), kApplied);
  EXPECT_EQ(PathOf("command = { 'numactl', 'python3' }, apply_context = true", "mindspore = '1.6',"), kApplied);
  const std::string other = "job:role 'watch' { command = { 'python3', 'watch.py' }";
  const std::string workers = " } job:workers { count = 1, command = { 'x' } }";
  EXPECT_EQ(OwnEnv(PlanOf(other + workers, kMindSpore), "watch.0").at("PYTHONPATH"), kOffered);
  EXPECT_EQ(OwnEnv(PlanOf(other + ", apply_context = true" + workers, kMindSpore), "watch.0").at("PYTHONPATH"),
            kApplied);
}

TEST(PythonPath, PrecedesTheRecipesOwn) {
  const std::string ours = "${muster:run_dir}/python/site:${muster:run_dir}/python";
  const std::string command = "command = { 'python3' }";
  EXPECT_EQ(PathOf(command + ", env = { PYTHONPATH = '/a:/b' }", kMindSpore), ours + ":/a:/b");
  EXPECT_EQ(PathOf(command, kMindSpore, "job:env { PYTHONPATH = '/job' } "), ours + ":/job");
  EXPECT_EQ(PathOf(command + ", env = { PYTHONPATH = '' }", kMindSpore), ours);
  EXPECT_EQ(PathOf(command + ", env = { PYTHONPATH = muster.unset }", kMindSpore), ours);
  const Plan each =
      PlanOf("job:workers { count = 2, " + command +
                 ", each = function(process) if process.rank == 1 then process.env.PYTHONPATH = '/one' end end }",
             kMindSpore);
  EXPECT_EQ(OwnEnv(each, "worker.0").at("PYTHONPATH"), kApplied);
  EXPECT_EQ(OwnEnv(each, "worker.1").at("PYTHONPATH"), ours + ":/one");
}

TEST(PythonPath, DependsOnTheCommandOfEachProcess) {
  const Plan plan = PlanOf(
      "job:scheduler { command = { 'x' } } job:workers { count = 2, each = function(process) process.command = "
      "process.rank == 0 and { 'python3' } or { "
      "'x' } end }",
      kMindSpore);
  EXPECT_EQ(OwnEnv(plan, "worker.0").at("PYTHONPATH"), kApplied);
  EXPECT_EQ(OwnEnv(plan, "worker.1").count("PYTHONPATH"), 0U);
  EXPECT_EQ(PythonUseOf(EffectiveEnv(plan, ProcessNamed(plan, "worker.0"))), PythonUse::kApplied);
  EXPECT_EQ(PythonUseOf(EffectiveEnv(plan, ProcessNamed(plan, "worker.1"))), PythonUse::kNone);
  EXPECT_TRUE(WantsPython(plan));
}

TEST(ApplyContext, IsTrueOrFalseAndNeedsARelease) {
  EXPECT_EQ(ProblemsOf("job:workers { count = 1, command = { 'x' }, apply_context = 'yes' }", kMindSpore),
            Lines{"recipe.lua:4 error type: apply_context of role worker must be true or false, got \"yes\""});
  EXPECT_EQ(
      ProblemsOf("job:workers { count = 1, command = { 'x' }, apply_context = true }", "framework = 'mindspore',"),
      Lines{"recipe.lua:4 error missing: apply_context of role worker: the recipe names no release of MindSpore, "
            "so there is no context"});
  EXPECT_EQ(ProblemsOf("", "mindspore = '1.6', apply_context = 1,"),
            Lines{"recipe.lua:2 error type: apply_context must be a boolean, got 1"});
}

TEST(AcceptRelease, IsPartOfThePlan) {
  const std::string workers = "job:workers { count = 1, command = { 'x' } }";
  EXPECT_TRUE(PlanOf(workers, "mindspore = '1.6', accept_release = true,").accept_release);
  EXPECT_FALSE(PlanOf(workers, "mindspore = '1.6', accept_release = false,").accept_release);
  EXPECT_FALSE(PlanOf(workers, "mindspore = '1.6',").accept_release);
  EXPECT_EQ(ProblemsOf(workers, "accept_release = true,"),
            Lines{"recipe.lua:2 error missing: accept_release is about a release of MindSpore, and the recipe names "
                  "none"});
}

TEST(Secrets, AreNotInheritedUnderTheirSourceVariable) {
  const std::string fields = "params = { token = muster.secret { from_env = 'HUB_TOKEN' } },";
  const Plan plan = PlanOf(
      "job:workers { count = 1, command = { 'x' } } "
      "job:role 'given' { command = { 'x' }, env = { HUB_TOKEN = p.token } }",
      fields);
  for (const Role& role : plan.roles) {
    EXPECT_NE(std::find(role.unset.begin(), role.unset.end(), "HUB_TOKEN"), role.unset.end()) << role.name;
  }
  EXPECT_EQ(OwnEnv(plan, "worker.0").count("HUB_TOKEN"), 0U);
  EXPECT_EQ(OwnEnv(plan, "given.0").at("HUB_TOKEN"), "${muster:secret:token}");
}

TEST(Secrets, MustBeWholeValuesOfAttributes) {
  const std::string fields = kMindSpore + "params = { token = muster.secret { from_env = 'HUB_TOKEN' } },";
  const std::string workers = " job:workers { count = 1, command = { 'x' } }";
  const Plan plan = PlanOf(
      "context.set_ps_context { enable_ssl = true, client_password = p.token, server_password = p.token }" + workers,
      fields);
  EXPECT_EQ(EffectiveContext(plan, ProcessNamed(plan, "worker.0")).at("set_ps_context.client_password"),
            Value("${muster:secret:token}"));
  for (const char* call : {"context.set_context { ascend_config = { precision_mode = p.token } }",
                           "context.set_context { save_graphs_path = '/graphs/' .. p.token }",
                           "context.set_auto_parallel_context { all_reduce_fusion_config = { 1, { p.token } } }"}) {
    const Lines problems = ProblemsOf(call + workers, fields);
    ASSERT_EQ(problems.size(), 1U) << call;
    EXPECT_TRUE(problems[0].starts_with("recipe.lua:4 error secret: ")) << problems[0];
    EXPECT_NE(problems[0].find("holds the secret token beside something else"), std::string::npos) << problems[0];
  }
}

}  // namespace
}  // namespace muster::testing
