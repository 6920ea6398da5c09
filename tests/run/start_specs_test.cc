#include "run/start/start_specs.h"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "plan/environment/inherited_environment.h"
#include "plan/text/plan_json.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"
#include "run/start/start_commands.h"
#include "support/places.h"

namespace muster {
namespace {

Binding BindingOfTwoHosts() {
  Binding binding;
  binding.run_id = "3f9a1c2b4d5e";
  binding.run_dir = "/runs/x";
  binding.hosts = {{"node-1", "192.0.2.11"}, {"node-2", "192.0.2.12"}};
  binding.ports = {{"rpc", 20300}, {"web", 20301}};
  binding.secrets = {{"token", "s3cret"}};
  return binding;
}

bool Has(const std::vector<std::string>& list, const std::string& entry) {
  return std::find(list.begin(), list.end(), entry) != list.end();
}

TEST(Starts, FillPlaceholdersInCommandFolderAndEnvironment) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.ports["rpc"] = {0, 0, "worker.1"};
  plan.secrets["token"] = {"TOKEN", ""};
  plan.roles[0].command = {"train", "--port=${muster:port:rpc}", "${muster:literal}x"};
  plan.roles[0].cwd = "${muster:run_dir}/files";
  plan.processes[1].env = {{"RPC", "${muster:host_address:0}:${muster:port:rpc}"}, {"TOKEN", "${muster:secret:token}"}};
  const Binding binding = BindingOfTwoHosts();
  const CallerEnvironment surroundings{{}, "/home/me", {"/opt/muster/bin"}};
  const Result<StartProcess> start = StartCommands(plan, binding, surroundings).Of(1, 0);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->argv, (std::vector<std::string>{"train", "--port=20300", "${muster:x"}));
  EXPECT_EQ(start->cwd, "/runs/x/files");
  EXPECT_EQ(start->search_dirs, std::vector<std::string>{"/opt/muster/bin"});
  EXPECT_EQ(start->log_path, "/runs/x/logs/worker.1.0.log");
  EXPECT_EQ(start->release_ports, std::vector<std::string>{"rpc"});
  EXPECT_TRUE(Has(start->env, "RPC=192.0.2.11:20300"));
  EXPECT_TRUE(Has(start->env, "TOKEN=s3cret"));
}

TEST(Starts, UseTheCallersFolderByDefault) {
  Plan plan = SamplePlan({{"worker", 3}});
  plan.processes[1].cwd = Text("data");
  plan.processes[2].cwd = Text("/data");
  const Binding binding = BindingOfTwoHosts();
  const CallerEnvironment surroundings{{}, "/home/me", {}};
  const StartCommands starts(plan, binding, surroundings);
  EXPECT_EQ(starts.Of(0, 0)->cwd, "/home/me");
  EXPECT_EQ(starts.Of(1, 0)->cwd, "/home/me/data");
  EXPECT_EQ(starts.Of(2, 0)->cwd, "/data");
}

TEST(Starts, RunAShellTextAsOneArgument) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.roles[0].shell = true;
  plan.roles[0].command = {"a | b > \"$HOME\""};
  const Binding binding = BindingOfTwoHosts();
  const CallerEnvironment surroundings;
  EXPECT_EQ(StartCommands(plan, binding, surroundings).Of(0, 0)->argv,
            (std::vector<std::string>{"/bin/sh", "-c", "a | b > \"$HOME\""}));
}

TEST(Starts, ReleaseEveryPortExactlyOnceOnItsHost) {
  Plan plan = SamplePlan({{"worker", 4}}, 2);  // 0 and 2 are on the first host
  plan.ports = {{"mine", {0, 0, "worker.2"}}, {"ours", {1, 0, ""}}, {"elsewhere", {0, 0, "worker.1"}}};
  const Binding binding = BindingOfTwoHosts();
  const CallerEnvironment surroundings;
  const StartCommands starts(plan, binding, surroundings);
  EXPECT_EQ(starts.Of(0, 0)->release_ports, std::vector<std::string>{"elsewhere"});
  EXPECT_EQ(starts.Of(1, 0)->release_ports, std::vector<std::string>{"ours"});
  EXPECT_EQ(starts.Of(2, 0)->release_ports, std::vector<std::string>{"mine"});
  EXPECT_EQ(starts.Of(3, 0)->release_ports, std::vector<std::string>{});
  EXPECT_EQ(PortsOfHost(plan, 1).ports.size(), 1U);
  EXPECT_EQ(PortsOfHost(plan, 0).ports[1].name, "mine");
}

TEST(Starts, NumberLaterAttempts) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.roles[0].env = {{"TRY", "${muster:attempt}"}, {"SAME", "x"}};
  const Binding binding = BindingOfTwoHosts();
  const CallerEnvironment surroundings;
  const StartCommands starts(plan, binding, surroundings);
  EXPECT_FALSE(Has(starts.Of(0, 0)->env, "TRY=0")) << "the block has it";
  EXPECT_TRUE(Has(starts.Of(0, 2)->env, "TRY=2"));
  EXPECT_FALSE(Has(starts.Of(0, 2)->env, "SAME=x"));
  EXPECT_EQ(starts.Of(0, 2)->log_path, "/runs/x/logs/worker.0.2.log");
}

TEST(EnvironmentBlocks, HoldVariablesSharedByRoleAndHost) {
  Plan plan = SamplePlan({{"scheduler", 1, Ending::kNever}, {"worker", 2}}, 3);
  plan.roles[1].unset = {"OMPI_*"};
  plan.roles[1].env = {{"MODE", "graph"}};
  const CallerEnvironment surroundings{{"HOME=/home/me", "OMPI_COMM_WORLD_RANK=3", "MODE=old"}, "/", {}};
  const auto blocks = EnvironmentBlocks(plan, BindingOfTwoHosts(), surroundings, 1);
  ASSERT_TRUE(blocks);
  ASSERT_EQ(blocks->size(), 1U) << "the scheduler is on another host";
  EXPECT_EQ(blocks->front().block, 1U);
  EXPECT_EQ(blocks->front().variables, (std::vector<std::string>{"HOME=/home/me", "MODE=graph"}));
}

TEST(EnvironmentBlocks, LeaveOutVariablesOfTheHostThatRoleOrActivationRemove) {
  Plan plan = SamplePlan({{"worker", 2}}, 2);
  plan.roles[0].unset = {"SLURM_*"};
  CallerEnvironment surroundings{{"PATH=/bin"}, "/home/me", {}};
  surroundings.of_host.take = {"CUDA_VISIBLE_DEVICES", "SLURM_NODEID"};
  surroundings.removed[1] = {"TMPDIR"};
  const auto blocks = EnvironmentBlocks(plan, BindingOfTwoHosts(), surroundings, 1);
  ASSERT_TRUE(blocks);
  const HostVariables& of_host = blocks->back().of_host;
  EXPECT_EQ(of_host.take, surroundings.of_host.take);
  EXPECT_EQ(of_host.leave, (std::vector<std::string>{"SLURM_*", "TMPDIR"}));
  surroundings.of_host = {};
  EXPECT_EQ(EnvironmentBlocks(plan, BindingOfTwoHosts(), surroundings, 1)->back().of_host, HostVariables());
}

TEST(GeneratedFiles, HoldAPortOfTheContextAsANumber) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.ports["rpc"] = {0, 0, ""};
  plan.roles[0].context = {{"set_ps_context.scheduler_manage_port", Value("${muster:port:rpc}")},
                           {"set_context.env_config_path", Value("${muster:run_dir}/files/${muster:port:rpc}")}};
  const auto files = GeneratedFiles(plan, BindingOfTwoHosts());
  ASSERT_TRUE(files);
  const std::string& context = files->at("context/worker.0.json");
  EXPECT_NE(context.find("\"scheduler_manage_port\":20300"), std::string::npos) << context;
  EXPECT_NE(context.find("\"env_config_path\":\"/runs/x/files/20300\""), std::string::npos) << context;
}

TEST(GeneratedFiles, HoldTheContextThatProcessesReferTo) {
  Plan plan = SamplePlan({{"scheduler", 1, Ending::kNever}, {"worker", 2}});
  plan.mindspore = "1.6.2";
  plan.roles[1].context = {{"set_context.mode", 0}, {"set_context.save_graphs_path", "${muster:run_dir}/graphs"}};
  plan.processes[2].context = {{"set_auto_parallel_context.global_rank", 1}};
  plan.files["files/hosts.txt"] = {Text("${muster:host_name:0}\n")};
  const auto files = GeneratedFiles(plan, BindingOfTwoHosts());
  ASSERT_TRUE(files);
  ASSERT_EQ(files->size(), 4U);
  EXPECT_EQ(
      files->at("context/worker.1.json"),
      R"({"context":{"set_auto_parallel_context":{"global_rank":1},"set_context":{"mode":0,"save_graphs_path":"/runs/x/graphs"}},)"
      R"("format":1,"index":1,"mindspore":"1.6.2","role":"worker"})"
      "\n");
  EXPECT_EQ(files->at("files/hosts.txt"), "node-1\n");
  EXPECT_EQ(files->at("context/scheduler.0.json"),
            R"({"context":{},"format":1,"index":0,"mindspore":"1.6.2","role":"scheduler"})"
            "\n");
}

TEST(GeneratedFiles, HoldAReferenceInsteadOfASecret) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.mindspore = "1.6.2";
  plan.accept_release = true;
  plan.secrets = {{"token", {"TOKEN", ""}}, {"other", {"OTHER", ""}}};
  plan.roles[0].context = {{"set_ps_context.client_password", "${muster:secret:token}"},
                           {"set_ps_context.server_password", "${muster:secret:token}"}};
  plan.processes[1].context = {{"set_ps_context.server_password", "${muster:secret:other}"}};
  Binding binding = BindingOfTwoHosts();
  binding.secrets = {{"token", "canary-1"}, {"other", "canary-2"}};
  const auto files = GeneratedFiles(plan, binding);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->at("context/worker.0.json"),
            R"({"accept_release":true,"context":{"set_ps_context":{"client_password":{"secret_fd":100},)"
            R"("server_password":{"secret_fd":100}}},"format":1,"index":0,"mindspore":"1.6.2","role":"worker"})"
            "\n");
  for (const auto& [path, content] : *files) EXPECT_EQ(content.find("canary"), std::string::npos) << path;

  const CallerEnvironment surroundings;
  const StartCommands starts(plan, binding, surroundings);
  const auto first = starts.Of(0, 0);
  ASSERT_EQ(first->passed.size(), 1U);
  EXPECT_EQ(first->passed[0].number, 100);
  EXPECT_EQ(first->passed[0].content, "canary-1");
  const auto second = starts.Of(1, 3);
  ASSERT_EQ(second->passed.size(), 2U);
  EXPECT_EQ(second->passed[0].content, "canary-2");
  EXPECT_EQ(second->passed[1].content, "canary-1");
  EXPECT_NE(files->at("context/worker.1.json")
                .find(R"("client_password":{"secret_fd":101},"server_password":{"secret_fd":100})"),
            std::string::npos)
      << files->at("context/worker.1.json");
  for (const StartProcess& start : {*first, *second}) {
    for (const auto* texts : {&start.argv, &start.env}) {
      for (const std::string& text : *texts) EXPECT_EQ(text.find("canary"), std::string::npos);
    }
  }
}

TEST(GeneratedFiles, HoldThePythonFilesIfAProcessUsesThem) {
  Plan plan = SamplePlan({{"worker", 2}});
  EXPECT_TRUE(GeneratedFiles(plan, BindingOfTwoHosts())->empty());
  plan.processes[1].env["PYTHONPATH"] = PythonPath(PythonUse::kOffered);
  const auto files = GeneratedFiles(plan, BindingOfTwoHosts());
  ASSERT_TRUE(files);
  std::size_t python = 0;
  const std::filesystem::path source = std::filesystem::path(MUSTER_SOURCE_DIR) / "python";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
    if (entry.path().extension() != ".py") continue;
    ++python;
    const std::string path = "python/" + entry.path().lexically_relative(source).string();
    ASSERT_TRUE(files->contains(path)) << path;
    EXPECT_EQ(files->at(path), ContentOf(entry.path())) << path;
  }
  EXPECT_EQ(python, files->size());
  EXPECT_TRUE(files->contains("python/site/sitecustomize.py"));
}

TEST(BindingValue, OmitsSecrets) {
  const Value binding = BindingValue(SamplePlan({{"worker", 1}}), BindingOfTwoHosts());
  EXPECT_EQ(binding.AsMap()->count("secrets"), 0U);
  EXPECT_EQ(*binding.AsMap()->at("ports").AsMap()->at("rpc").AsInt(), 20300);
}

TEST(ResolveSecrets, ReadsValuesFromVariablesAndFiles) {
  const ScratchFolder scratch;
  PutFile(scratch / "key", "from the file\n");
  Plan plan;
  plan.secrets = {{"a", {"TOKEN", ""}}, {"b", {"", scratch / "key"}}};
  const auto values = ResolveSecrets(plan, {"TOKEN_OLD=no", "TOKEN=t=1", "TOKEN=second"});
  ASSERT_TRUE(values);
  EXPECT_EQ(values->at("a"), "t=1");
  EXPECT_EQ(values->at("b"), "from the file");
}

TEST(ResolveSecrets, NamesEveryUnavailableSecretButNoValue) {
  const ScratchFolder scratch;
  PutFile(scratch / "binary", std::string("canary\0x", 8));
  PutFile(scratch / "long", std::string((1U << 20) + 1, 'c'));
  Plan plan;
  plan.secrets = {
      {"a", {"MISSING", ""}}, {"b", {"", "/no/such"}}, {"c", {"", scratch / "binary"}}, {"d", {"", scratch / "long"}}};
  const auto values = ResolveSecrets(plan, {});
  ASSERT_FALSE(values);
  ASSERT_EQ(values.error().size(), 4U);
  for (const Diagnostic& diagnostic : values.error()) {
    EXPECT_EQ(diagnostic.kind, "secret");
    EXPECT_EQ(diagnostic.message.find("canary"), std::string::npos);
  }
}

}  // namespace
}  // namespace muster
