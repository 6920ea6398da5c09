// Tests the head's commands for activations, its handling of the answers, and which part of the results is stored.
#include <algorithm>

#include <gtest/gtest.h>

#include "run/directory/run_files.h"
#include "run/sample_plan.h"
#include "run/start/start_specs.h"

namespace muster {
namespace {

using Set = std::map<std::string, std::string>;
using Lines = std::vector<std::string>;

Plan ActivatedPlan() {
  Plan plan = SamplePlan({{"worker", 2}}, 2);
  plan.activation = {{ActivationStep::Kind::kSource, "/opt/set_env.sh"}, {ActivationStep::Kind::kModule, "cuda/12"}};
  plan.secrets["token"] = {"HUB", ""};
  return plan;
}

Binding SampleBinding() {
  Binding binding;
  binding.run_id = "3f9a1c2b4d5e";
  binding.run_dir = "/runs/x";
  binding.secrets = {{"token", "s3cret"}};
  return binding;
}

TEST(ActivateHost, StartsWithTheInheritedEnvironmentWithoutSecrets) {
  const CallerEnvironment surroundings{
      {"HOME=/home/me", "HUB=s3cret", "MUSTER_RANK=7", "no variable", "=C:"}, "/base", {}};
  const Activate command = ActivateHost(ActivatedPlan(), SampleBinding(), surroundings, 1);
  EXPECT_EQ(command.environment, (Lines{"HOME=/home/me", "MUSTER_RUN_ID=3f9a1c2b4d5e", "MUSTER_RUN_DIR=/runs/x",
                                        "MUSTER_PROCESS=3f9a1c2b4d5e/activation.host1"}));
  EXPECT_EQ(command.steps, ActivatedPlan().activation);
  EXPECT_EQ(command.cwd, "/base");
  EXPECT_EQ(command.log_path, "/runs/x/logs/activation.host1.log");
}

TEST(ActivateHost, IsLimitedByTheStartTimeoutOrFiveMinutes) {
  Plan plan = ActivatedPlan();
  EXPECT_EQ(ActivateHost(plan, SampleBinding(), {}, 0).within_ms, 300'000U);
  plan.start_limit_ms = 1'500;
  EXPECT_EQ(ActivateHost(plan, SampleBinding(), {}, 0).within_ms, 1'500U);
  plan.start_limit_ms = std::uint64_t{1} << 40;
  EXPECT_EQ(ActivateHost(plan, SampleBinding(), {}, 0).within_ms, 4'294'967'295U);
}

TEST(ActivatedEnvironment, IsTheInheritedOneWithItsChanges) {
  HostActivated reported;
  reported.set = {{"A", "new"}, {"B", ""}, {"MUSTER_RANK", "3"}};
  reported.unset = {"GONE", "MUSTER_PROCESS"};
  reported = WithoutOwnVariables(std::move(reported));
  EXPECT_EQ(ActivatedEnvironment({"A=old", "GONE=1", "KEPT=a=b", "A=older"}, reported),
            (Lines{"A=new", "B=", "KEPT=a=b"}));
  EXPECT_EQ(reported.unset, Lines{"GONE"});
}

TEST(ActivationFailure, NamesHostStepAndReason) {
  HostActivated reported;
  reported.failed_step = 2;
  reported.error = "exit code 1";
  EXPECT_EQ(ActivationFailure(ActivatedPlan(), "node-1", reported),
            "the activation of node-1 failed in step 2 (module cuda/12): exit code 1");
  reported.failed_step = 0;
  EXPECT_EQ(ActivationFailure(ActivatedPlan(), "node-1", reported),
            "the activation of node-1 failed in the shell: exit code 1");
  reported.failed_step = 7;  // an agent may report any number
  EXPECT_NE(ActivationFailure(ActivatedPlan(), "node-1", reported).find("the shell"), std::string::npos);
}

TEST(HiddenValues, AreThoseOfSecretsAndOfNamesLikeSecrets) {
  const Plan plan = ActivatedPlan();
  const Binding binding = SampleBinding();
  const HiddenValues hidden(plan, binding.secrets);
  for (const char* name :
       {"API_TOKEN", "aws_secret_access", "DbPassword", "PASSWD", "SSH_KEY_FILE", "MyCredentials", "HUB"}) {
    EXPECT_EQ(hidden.Shown(name, "x"), "(hidden)") << name;
  }
  EXPECT_EQ(hidden.Shown("URL", "https://me:s3cret@hub"), "(hidden)");
  EXPECT_EQ(hidden.Shown("PATH", "/usr/bin"), "/usr/bin");
  HostActivated reported;
  reported.set = {{"A", "1"}, {"A_TOKEN", "abc"}};
  EXPECT_EQ(Shown(reported, hidden).set, (Set{{"A", "1"}, {"A_TOKEN", "(hidden)"}}));
}

TEST(RecordedVariables, AreThoseThatAffectPrograms) {
  const Plan plan = ActivatedPlan();
  const HiddenValues hidden(plan, {});
  EXPECT_EQ(RecordedVariables({"PATH=/bin", "PATHS=x", "LD_LIBRARY_PATH=", "PYTHONPATH=/p", "CONDA_PREFIX=/c",
                               "HOME=/h", "ASCEND_HOME=/a", "CUDA_VISIBLE_DEVICES=0", "NCCL_DEBUG=INFO", "HCCL_IF=\xff",
                               "GLOG_v=1", "OMP_NUM_THREADS=4", "OMP=1", "CONDA_TOKEN=t", "PATH"},
                              hidden),
            (Set{{"PATH", "/bin"},
                 {"LD_LIBRARY_PATH", ""},
                 {"PYTHONPATH", "/p"},
                 {"CONDA_PREFIX", "/c"},
                 {"CONDA_TOKEN", "(hidden)"},
                 {"ASCEND_HOME", "/a"},
                 {"CUDA_VISIBLE_DEVICES", "0"},
                 {"NCCL_DEBUG", "INFO"},
                 {"HCCL_IF", "\\xff"},
                 {"GLOG_v", "1"},
                 {"OMP_NUM_THREADS", "4"}}));
}

}  // namespace
}  // namespace muster
