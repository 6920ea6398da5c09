// The command lines of all runtimes, as golden texts; errors in recipes; and the container in a plan's forms.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "plan/check/plan_check.h"
#include "plan/plan/roles.h"
#include "plan/text/plan_diff.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "plan/text/shell_text.h"
#include "run/start/rehearsal_plan.h"
#include "run/start/start_commands.h"
#include "support/golden.h"

namespace muster::testing {
namespace {

const std::string kWorker = "job:workers { count = 2, command = { 'train' } }";

Binding SampleBinding() {
  Binding binding;
  binding.run_id = "3f9a1c2b4d5e";
  binding.run_dir = "/runs/x";
  binding.hosts = {{"node-1", "192.0.2.11", {"0"}}};
  binding.secrets = {{"token", "s3cret"}};
  return binding;
}

StartProcess StartOf(const Plan& plan, const std::string& name, bool terminal = false) {
  const Binding binding = SampleBinding();
  const CallerEnvironment surroundings{{"PATH=/usr/bin", "HOME=/home/me", "OTHER=1"}, "/home/me/job", {}};
  const StartCommands starts(plan, binding, surroundings);
  const auto process = static_cast<ProcessId>(&ProcessNamed(plan, name) - plan.processes.data());
  Result<StartProcess> start = starts.Of(process, 0, terminal);
  EXPECT_TRUE(start) << start.error().front().message;
  return start.value_or(StartProcess{});
}

std::string Lines(const std::string& title, const std::vector<std::string>& words) {
  std::string text = title + "\n";
  for (const std::string& word : words) text += "  " + word + "\n";
  return text;
}

std::string VariableIn(const std::vector<std::string>& env, const std::string& name) {
  for (const std::string& variable : env) {
    if (variable.starts_with(name + "=")) return variable.substr(name.size() + 1);
  }
  return "none";
}

class EveryRuntime : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Containers, EveryRuntime, ::testing::Values("podman", "apptainer", "docker", "enroot"),
                         [](const auto& each) { return std::string(each.param); });

TEST_P(EveryRuntime, IsCalledByTheseWords) {
  const std::string runtime = GetParam();
  std::string said;
  for (const std::string kind : {"", "cuda", "hip", "ascend"}) {
    const Plan plan = PlanOf(
        "job:env { LR = '0.1', PATH = '/opt/bin:/bin' }\n"
        "job:workers { count = 1, devices = " +
            std::string(kind.empty() ? "0" : "1") + ", command = { 'train', '--fast' } }",
        (kind.empty() ? "" : "cluster = { device_kind = '" + kind + "' }, ") +
            "container = { image = 'train:1', runtime = '" + runtime +
            "', mounts = { '/data', '/models:/mnt/models:ro' }, options = { '--one', '--two=2' } },");
    const StartProcess start = StartOf(plan, "worker.0");
    said += Lines(kind.empty() ? "without devices" : kind, start.argv);
    if (kind.empty()) {
      said += Lines("on a terminal", StartOf(plan, "worker.0", true).argv);
      said += Lines("removal", start.remove);
    }
  }
  ExpectGolden(said, "tests/containers/words/" + runtime + ".txt");
}

TEST_P(EveryRuntime, KeepsValuesOutOfTheWords) {
  const std::string runtime = GetParam();
  const Plan plan =
      PlanOf("job:env { TOKEN = p.token, GREETING = 'hello there' }\n" + kWorker,
             "params = { token = muster.secret { from_env = 'T' } }, container = { image = 'x', runtime = '" + runtime +
                 "' },");
  const StartProcess start = StartOf(plan, "worker.1");
  for (const std::string& word : start.argv) {
    EXPECT_EQ(word.find("s3cret"), std::string::npos) << word;
    EXPECT_EQ(word.find("hello"), std::string::npos) << word;
  }
  const Binding binding = SampleBinding();
  const CallerEnvironment surroundings{{"PATH=/usr/bin"}, "/home/me/job", {}};
  std::vector<std::string> env = EnvironmentBlocks(plan, binding, surroundings, 0)->front().variables;
  env.insert(env.end(), start.env.begin(), start.env.end());
  const std::string prefix = plan.roles[0].container.runtime.variable_prefix;
  EXPECT_EQ(VariableIn(env, prefix + "TOKEN"), "s3cret");
  EXPECT_EQ(VariableIn(env, prefix + "MUSTER_INDEX"), "1");
}

TEST(Containers, LeaveTheRuntimeItsOwnPath) {
  const Plan plan = PlanOf("job:env { PATH = '/inside' }\n" + kWorker, "container = { image = 'x' },");
  const Binding binding = SampleBinding();
  const CallerEnvironment surroundings{{"PATH=/outside"}, "/home/me", {}};
  EXPECT_EQ(VariableIn(EnvironmentBlocks(plan, binding, surroundings, 0)->front().variables, "PATH"), "/outside");
  const StartProcess start = StartOf(plan, "worker.1");
  EXPECT_EQ(VariableIn(start.env, "PATH"), "none");
  EXPECT_NE(std::find(start.argv.begin(), start.argv.end(), "--env=PATH=/inside"), start.argv.end());
}

TEST(Containers, PassSecretsOfTheContextFromDescriptorThreeOn) {
  const Plan plan = PlanOf(
      "context.set_ps_context { enable_ssl = true, client_password = p.token, server_password = p.token }\n" + kWorker,
      "mindspore = '1.6', params = { token = muster.secret { from_env = 'T' } }, container = { image = 'x' },");
  const StartProcess start = StartOf(plan, "worker.0");
  ASSERT_EQ(start.passed.size(), 1U);
  EXPECT_EQ(start.passed[0].number, 3);
  EXPECT_NE(std::find(start.argv.begin(), start.argv.end(), "--preserve-fds=1"), start.argv.end());
}

TEST(Containers, MountFoldersOnce) {
  const auto mounts = [](const std::string& given, const std::string& cwd) {
    const Plan plan = PlanOf("job:workers { count = 1, cwd = '" + cwd + "', command = { 'x' } }",
                             "container = { image = 'x', mounts = { " + given + " } },");
    std::string found;
    for (const std::string& word : StartOf(plan, "worker.0").argv) {
      if (word.starts_with("--volume=")) found += word.substr(9) + " ";
    }
    return found;
  };
  EXPECT_EQ(mounts("", "/base"), "/base:/base:rw /runs/x:/runs/x:rw ");
  EXPECT_EQ(mounts("", "/"), "/runs/x:/runs/x:rw ");
  EXPECT_EQ(mounts("'/runs'", "/runs/x/files"), "/runs:/runs:rw ");
  EXPECT_EQ(mounts("'/other:/base'", "/base"), "/other:/base:rw /runs/x:/runs/x:rw ");
  EXPECT_EQ(mounts("'/runs:ro'", "/"), "/runs:/runs:ro /runs/x:/runs/x:rw ");
}

TEST(Containers, AreMergedFromRecipeAndRole) {
  const Plan plan = PlanOf(
      "job:role 'a' { command = { 'x' } }\n"
      "job:role 'b' { command = { 'x' }, container = { image = 'own:2' } }\n"
      "job:role 'c' { command = { 'x' }, container = false }",
      "container = { image = 'train:1', runtime = 'apptainer', options = '--nv' },");
  EXPECT_EQ(plan.roles[0].container.image.marked, "train:1");
  EXPECT_EQ(plan.roles[1].container.image.marked, "own:2");
  EXPECT_EQ(plan.roles[1].container.runtime.name, "apptainer");
  EXPECT_EQ(plan.roles[1].container.options.at(0).marked, "--nv");
  EXPECT_EQ(plan.roles[2].container, Container{});
}

TEST(Containers, AreGivenToTheRolesOfTheContract) {
  const Plan plan = PlanOf(
      "context.set_ps_context { enable_ps = true }\njob:servers { count = 1, command = { 'x' } }\njob:workers { count "
      "= 1, command = { 'x' }, container = { image = "
      "'w' } }",
      "framework = 'mindspore-ps', mindspore = '1.6',");
  ASSERT_EQ(plan.roles.at(0).name, "scheduler");
  EXPECT_EQ(plan.roles[0].container.image.marked, "w");
}

TEST(Containers, ArePartOfEveryFormOfAPlan) {
  const std::string fields = "container = { image = 'train:1', mounts = { '/data:/d:ro' }, options = '--x' },";
  const Plan plan = PlanOf(kWorker, fields);
  EXPECT_TRUE(ValidatePlan(plan).empty());
  const Result<Plan> read = PlanFromJson(PlanToJson(plan));
  ASSERT_TRUE(read) << read.error().front().message;
  EXPECT_EQ(read->roles[0].container, plan.roles[0].container);
  EXPECT_EQ(PlanId(*read), PlanId(plan));
  Plan other = plan;
  other.roles[0].container.image = "train:2";
  EXPECT_NE(PlanId(other), PlanId(plan));
  const Result<std::string> line = ShellLine(plan, plan.processes[0], {});
  ASSERT_TRUE(line);
  EXPECT_NE(line->find("outside its container (podman, image train:1)"), std::string::npos) << *line;
  const Plan rehearsal = RehearsalPlan(plan, {});
  EXPECT_EQ(rehearsal.roles[0].container, Container{});
  EXPECT_EQ(RehearsedWords(rehearsal, rehearsal.processes[0]), (std::vector<::muster::Text>{"podman"}));
}

TEST(Containers, OfInvalidPlansAreRefused) {
  Plan plan = PlanOf(kWorker, "container = { image = 'x' },");
  plan.roles[0].container.runtime.run.clear();
  EXPECT_FALSE(ValidatePlan(plan).empty());
  plan.roles[0].container = {};
  plan.roles[0].container.options = {"--x"};
  EXPECT_FALSE(ValidatePlan(plan).empty());
}

TEST(Containers, RefuseSecretsThatTheCommandLineWouldShow) {
  const std::string token = "params = { token = muster.secret { from_env = 'T' } }, ";
  EXPECT_EQ(
      ProblemsOf("job:workers { count = 1, env = { HOME = p.token }, command = { 'x' } }",
                 token + "container = { image = 'x' },"),
      (::muster::testing::Lines{
          "recipe.lua:4 error container: HOME of role worker is a secret, and podman can set it in a container by its "
          "command line only, which others can read"}));
  EXPECT_EQ(
      ProblemsOf("context.set_ps_context { enable_ssl = true, client_password = p.token, server_password = p.token }\n"
                 "job:workers { count = 1, command = { 'x' } }",
                 "mindspore = '1.6', " + token + "container = { image = 'x', runtime = 'docker' },")
          .front(),
      "recipe.lua:5 error container: set_ps_context.client_password of role worker is a secret, and docker passes no "
      "descriptors into a container, from which the process would read it");
}

TEST(Containers, ReportMistakesAtTheirLine) {
  const auto problem = [](const std::string& container) {
    const auto found = ProblemsOf("job:workers { count = 1, command = { 'x' }, container = " + container + " }");
    return found.empty() ? "" : found.front();
  };
  EXPECT_EQ(problem("'x'"), "recipe.lua:4 error type: container of role worker must be a table, got \"x\"");
  EXPECT_EQ(problem("{ runtime = 'podman' }"), "recipe.lua:4 error missing: container of role worker names no image");
  EXPECT_EQ(problem("{ image = 'x', runtime = 'podmn' }"),
            "recipe.lua:4 error enum: container of role worker: runtime must be \"podman\", \"apptainer\", \"docker\" "
            "or \"enroot\", "
            "got \"podmn\"");
  EXPECT_EQ(
      problem("{ image = '--privileged' }"),
      "recipe.lua:4 error type: container of role worker: image must be the name of an image, got \"--privileged\"");
  EXPECT_EQ(problem("{ image = 'x', mount = '/a' }"),
            "recipe.lua:4 error unknown_key: container of role worker has no option \"mount\"");
  EXPECT_EQ(problem("{ image = 'x', mounts = { 'data' } }"),
            "recipe.lua:4 error format: container of role worker: mount \"data\": \"data\" is not an absolute path");
  EXPECT_EQ(problem("{ image = 'x', mounts = { '/a:/b:/c' } }"),
            "recipe.lua:4 error format: container of role worker: mount \"/a:/b:/c\": it has too many parts");
  EXPECT_EQ(problem("{ image = 'x', options = { a = 1 } }"),
            "recipe.lua:4 error type: container of role worker: options must be a list of texts, got {a = 1}");
  EXPECT_EQ(
      ProblemsOf("job:workers { count = 1, command = { 'x' } }", "framework = 'mpi', container = { image = 'x' },")
          .front(),
      "recipe.lua:4 error conflict: role worker has a container, but its processes are started by \"mpirun\"");
}

TEST(Containers, AreNamedAfterRunProcessAndAttempt) {
  const Plan plan = PlanOf(kWorker, "container = { image = 'x' },");
  EXPECT_EQ(ContainerName(plan, plan.processes[1], "a/b c", 2), "muster-a-b-c-worker.1.2");
}

TEST(Containers, MentionTheHostsOfTheirTexts) {
  const Plan plan = PlanOf(
      "job:workers { count = 1, command = { 'x' }, container = { image = 'x', options = '--add-host=' .. "
      "job:address('s', { part = 'host' }) } }\n"
      "job:role 's' { ports = 'rpc', on_hosts = 1, command = { 's' } }",
      "cluster = { hosts = 2 },");
  EXPECT_TRUE(RefersToHost(plan, plan.processes[0], 1));
  Plan outside = plan;
  outside.roles[0].container = {};
  EXPECT_FALSE(RefersToHost(outside, outside.processes[0], 1));
}

}  // namespace
}  // namespace muster::testing
