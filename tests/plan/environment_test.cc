// Tests which source sets a variable, and which variables reach a process.
#include "plan/environment/environment.h"

#include <gtest/gtest.h>

#include "plan/check/plan_check.h"
#include "plan/sample_plan.h"

namespace muster {
namespace {

Place At(std::uint32_t line) { return {"recipe.lua", line}; }

EnvironmentLayer Make(Layer layer, LayerVariables variables, std::string owner = {}) {
  return {layer, std::move(owner), std::move(variables)};
}
LayerVariable To(const char* value, std::uint32_t line = 1, bool override = false) {
  return {Text(value), At(line), override};
}
LayerVariable Gone(std::uint32_t line = 1, bool override = false) { return {std::nullopt, At(line), override}; }

Result<MergedEnvironment> Merged(const std::vector<EnvironmentLayer>& layers) {
  std::vector<const EnvironmentLayer*> pointers;
  for (const EnvironmentLayer& layer : layers) pointers.push_back(&layer);
  return MergeEnvironment(pointers);
}

TEST(EnvironmentMerge, PrefersTheHigherLayerInAnyOrder) {
  const EnvironmentLayer job = Make(Layer::kJob, {{"A", To("job", 1)}, {"B", To("job", 1)}, {"C", To("job", 1)}});
  const EnvironmentLayer role = Make(Layer::kRole, {{"B", To("role", 2)}, {"C", To("role", 2)}});
  const EnvironmentLayer each = Make(Layer::kEach, {{"C", To("each", 3)}});
  for (const auto& layers : {std::vector{job, role, each}, std::vector{each, role, job}}) {
    const auto merged = Merged(layers);
    ASSERT_TRUE(merged);
    EXPECT_EQ(merged->set, (Variables{{"A", "job"}, {"B", "role"}, {"C", "each"}}));
    EXPECT_EQ(merged->sources.at("B"), (VariableSource{Layer::kRole, At(2)}));
    EXPECT_TRUE(merged->unset.empty());
  }
}

TEST(EnvironmentMerge, DistinguishesSetEmptyAndUnset) {
  const auto merged = Merged({Make(Layer::kJob, {{"SET", To("x")}, {"EMPTY", To("")}, {"GONE", Gone()}})});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->set, (Variables{{"EMPTY", ""}, {"SET", "x"}}));
  EXPECT_EQ(merged->unset, std::vector<std::string>{"GONE"});
}

TEST(EnvironmentMerge, RemovesVariablesOfLowerLayersByPattern) {
  const auto merged = Merged({Make(Layer::kJob, {{"PS_A", To("1")}, {"PS_B", To("2")}, {"P", To("3")}}),
                              Make(Layer::kRole, {{"PS_*", Gone(4)}, {"PS_B", To("kept")}})});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->set, (Variables{{"P", "3"}, {"PS_B", "kept"}}));
  EXPECT_EQ(merged->unset, std::vector<std::string>{"PS_*"});
  EXPECT_EQ(merged->sources.at("PS_*"), (VariableSource{Layer::kRole, At(4)}));
  EXPECT_FALSE(merged->sources.contains("PS_A"));
}

TEST(EnvironmentMerge, UsesASettledLayerOnlyForChecks) {
  EnvironmentLayer cleared = Make(Layer::kContract, {{"PS_*", Gone(9)}}, "contract x");
  cleared.settled = true;
  const auto kept = Merged({Make(Layer::kDefaults, {{"PS_A", To("1")}}), cleared});
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->set, (Variables{{"PS_A", "1"}}));
  EXPECT_TRUE(kept->unset.empty());
  const auto refused = Merged({Make(Layer::kEach, {{"PS_A", To("1", 4)}}), cleared});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().front().kind, "contract_variable");
}

TEST(EnvironmentMerge, AllowsAContractToClearAndSetOneName) {
  const auto merged = Merged({Make(Layer::kContract, {{"RANK_ID", To("3")}}),
                              Make(Layer::kContract, {{"RANK_*", Gone()}, {"RANK_ID", Gone()}})});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->set, (Variables{{"RANK_ID", "3"}}));
  EXPECT_EQ(merged->unset, (std::vector<std::string>{"RANK_*", "RANK_ID"}));
}

TEST(EnvironmentMerge, RefusesToChangeAContractsVariable) {
  const EnvironmentLayer contract =
      Make(Layer::kContract, {{"MS_ROLE", To("MS_WORKER", 80)}, {"OMPI_*", {std::nullopt, {"ps.lua", 81}, false}}},
           "contract mindspore-ps");
  for (const Layer layer : {Layer::kJob, Layer::kRole, Layer::kEach}) {
    const auto merged = Merged({contract, Make(layer, {{"MS_ROLE", To("MS_SCHED", 9)}})});
    ASSERT_FALSE(merged);
    const Diagnostic& diagnostic = merged.error().front();
    EXPECT_EQ(diagnostic.kind, "contract_variable");
    EXPECT_EQ(diagnostic.place, At(9));
    EXPECT_NE(diagnostic.message.find("MS_ROLE belongs to contract mindspore-ps, which sets it"), std::string::npos);
    EXPECT_NE(diagnostic.hint.find("override = true"), std::string::npos);
    ASSERT_EQ(diagnostic.notes.size(), 1U);
    EXPECT_EQ(diagnostic.notes.front().place, At(80));
  }
  const auto cleared = Merged({contract, Make(Layer::kRole, {{"OMPI_COMMAND", To("x", 9)}})});
  ASSERT_FALSE(cleared);
  EXPECT_EQ(cleared.error().front().notes.front().place, (Place{"ps.lua", 81}));
  EXPECT_FALSE(Merged({contract, Make(Layer::kRole, {{"MS_ROLE", Gone(9)}})}));
}

TEST(EnvironmentMerge, PrefersTheContractToLowerLayersSilently) {
  const EnvironmentLayer contract = Make(Layer::kContract, {{"MS_ROLE", To("MS_WORKER")}, {"OMPI_*", Gone()}});
  const auto merged = Merged({contract, Make(Layer::kSite, {{"MS_ROLE", To("x")}, {"OMPI_A", To("x")}}),
                              Make(Layer::kRole, {{"OMPI_*", Gone()}, {"MS_*", Gone()}})});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->set, (Variables{{"MS_ROLE", "MS_WORKER"}}));
}

TEST(EnvironmentMerge, AllowsARecipeToOverrideAContract) {
  const EnvironmentLayer contract =
      Make(Layer::kContract, {{"MS_ROLE", To("MS_WORKER")}, {"MS_NODE_ID", To("worker_00")}, {"OMPI_*", Gone()}});
  const auto merged =
      Merged({contract, Make(Layer::kEach, {{"MS_ROLE", To("MS_SERVER", 9, true)}, {"OMPI_X", To("1", 9, true)}}),
              Make(Layer::kRole, {{"MS_NODE_ID", Gone(9, true)}})});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->set, (Variables{{"MS_ROLE", "MS_SERVER"}, {"OMPI_X", "1"}}));
  EXPECT_EQ(merged->sources.at("MS_ROLE").layer, Layer::kEach);
  EXPECT_EQ(merged->unset, (std::vector<std::string>{"MS_NODE_ID", "OMPI_*"}));
}

TEST(EnvironmentMerge, KeepsMustersOwnVariablesEvenAgainstAnOverride) {
  const EnvironmentLayer own = Make(Layer::kMuster, {{"MUSTER_RANK", To("0")}});
  const auto merged = Merged({own, Make(Layer::kEach, {{"MUSTER_RANK", To("1", 9, true)}})});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().front().kind, "contract_variable");
  EXPECT_EQ(merged.error().front().hint, "leave it out");
}

TEST(EnvironmentMerge, RefusesInvalidNamesAndValues) {
  const std::string zero("a\0b", 3);
  const LayerVariables wrong[] = {
      {{"", To("x")}},     {{"A=B", To("x")}},  {{zero, To("x")}}, {{"A", {Text(zero), At(1), false}}},
      {{"A", To("\xff")}}, {{"\xff", To("x")}}, {{"A*", To("x")}}};
  for (const auto& variables : wrong) {
    const auto merged = Merged({Make(Layer::kJob, variables)});
    ASSERT_FALSE(merged);
    EXPECT_EQ(merged.error().front().kind, "variable");
  }
  EXPECT_TRUE(Merged({Make(Layer::kJob, {{"*", Gone()}, {"with blank", To("a=b")}})}));
}

TEST(EnvironmentMerge, RefusesToUnsetForOneProcess) {
  const auto merged = Merged({Make(Layer::kEach, {{"A", Gone(9)}})});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().front().kind, "variable");
  EXPECT_NE(merged.error().front().hint.find("role"), std::string::npos);
}

TEST(EnvironmentMerge, ReportsEveryMistake) {
  const auto merged =
      Merged({Make(Layer::kJob, {{"A=B", To("x")}, {"", To("x")}}), Make(Layer::kEach, {{"A", Gone()}})});
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().size(), 3U);
}

TEST(EnvironmentMerge, SkipsSourcesUnlessRequested) {
  const EnvironmentLayer layer = Make(Layer::kJob, {{"A", To("x")}});
  const EnvironmentLayer* const layers[] = {&layer};
  EXPECT_TRUE(MergeEnvironment(layers, false)->sources.empty());
}

LayerVariable Before(const char* value) {
  LayerVariable variable = To(value);
  variable.prepend = true;
  return variable;
}

TEST(EnvironmentMerge, PutsAPathPrefixBeforeTheRecipesValue) {
  const EnvironmentLayer ours = Make(Layer::kMuster, {{"P", Before("/m")}});
  const std::pair<LayerVariable, const char*> cases[] = {{To("/mine"), "/m:/mine"}, {To(""), "/m"}, {Gone(), "/m"}};
  for (const Layer layer : {Layer::kJob, Layer::kRole}) {
    for (const auto& [theirs, expected] : cases) {
      const auto merged = Merged({ours, Make(layer, {{"P", theirs}})});
      ASSERT_TRUE(merged) << "muster contradicts nobody here";
      EXPECT_EQ(merged->set.at("P"), expected);
      EXPECT_EQ(merged->sources.at("P").layer, Layer::kMuster);
      EXPECT_EQ(merged->sources.at("P").place, theirs.place);
    }
  }
  EXPECT_EQ(Merged({ours})->set.at("P"), "/m${muster:inherited_path:P}");
  EXPECT_EQ(Merged({ours, Make(Layer::kRole, {{"P*", Gone()}})})->set.at("P"), "/m");
}

TEST(StandardVariables, IdentifyAProcess) {
  const Plan plan = ParameterServerPlan();
  const Variables worker = StandardVariables(plan, plan.processes.at(5));
  EXPECT_EQ(worker, (Variables{{"MUSTER_ATTEMPT", "${muster:attempt}"},
                               {"MUSTER_CONTEXT", "${muster:run_dir}/context/worker.2.json"},
                               {"MUSTER_ERROR_FILE", "${muster:run_dir}/errors/worker.2.${muster:attempt}.json"},
                               {"MUSTER_HOST", "${muster:host_name:0}"},
                               {"MUSTER_HOST_INDEX", "0"},
                               {"MUSTER_INDEX", "2"},
                               {"MUSTER_LOCAL_RANK", "2"},
                               {"MUSTER_LOCAL_SIZE", "4"},
                               {"MUSTER_METRICS", "${muster:run_dir}/metrics/worker.2.${muster:attempt}.jsonl"},
                               {"MUSTER_PROCESS", "${muster:run_id}/worker.2.${muster:attempt}"},
                               {"MUSTER_RANK", "2"},
                               {"MUSTER_ROLE", "worker"},
                               {"MUSTER_RUN_DIR", "${muster:run_dir}"},
                               {"MUSTER_RUN_ID", "${muster:run_id}"},
                               {"MUSTER_WORLD_SIZE", "4"}}));
  EXPECT_FALSE(StandardVariables(plan, plan.processes.at(0)).contains("MUSTER_RANK"));
  for (const auto& [name, value] : worker) {
    const auto names = StandardVariableNames();
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

Binding SampleBinding() {
  Binding binding;
  binding.run_id = "r1";
  binding.run_dir = "/runs/r1";
  binding.hosts = {{"n01", "192.0.2.11"}};
  binding.ports = {{"scheduler", std::uint16_t{20300}}};
  return binding;
}

TEST(ComposedEnvironment, IsInheritedMinusUnsetPlusSet) {
  const Plan plan = ParameterServerPlan();
  const std::vector<std::string> inherited = {"HOME=/home/u",       "OMPI_COMMAND=x", "PATH=/bin", "RANK_ID=9",
                                              "MUSTER_RANK=7",      "HOME=second",    "broken",    "=odd",
                                              "RANK_TABLE_FILE=/t", "EMPTY="};
  const auto composed = ComposeEnvironment(inherited, plan, plan.processes.at(4), SampleBinding(), 0);
  ASSERT_TRUE(composed);
  EXPECT_EQ(*composed, (std::vector<std::string>{"EMPTY=", "HOME=/home/u", "MS_SCHED_PORT=20300", "MS_WORKER_NUM=4",
                                                 "PATH=/bin", "RANK_ID=1"}));
}

TEST(ComposedEnvironment, HasTwoPartsThatFormTheWhole) {
  const Plan plan = ParameterServerPlan();
  const std::vector<std::string> inherited = {"HOME=/home/u", "OMPI_COMMAND=x", "RANK_ID=9"};
  for (const Process& process : plan.processes) {
    const auto whole = ComposeEnvironment(inherited, plan, process, SampleBinding(), 1);
    const auto common = ComposeRoleEnvironment(inherited, plan.roles[process.role], SampleBinding(), 1);
    const auto own = ComposeOwnEnvironment(inherited, plan.roles[process.role], process, SampleBinding(), 1);
    ASSERT_TRUE(whole && common && own);
    std::map<std::string, std::string> merged;
    for (const auto* part : {&*common, &*own}) {
      for (const std::string& entry : *part) merged.insert_or_assign(entry.substr(0, entry.find('=')), entry);
    }
    std::vector<std::string> entries;
    for (const auto& [name, entry] : merged) entries.push_back(entry);
    EXPECT_EQ(entries, *whole);
  }
}

TEST(ComposedEnvironment, ExtendsInheritedPathsWithoutAnEmptyEntry) {
  Plan plan = ParameterServerPlan();
  Process& process = plan.processes.at(4);
  Role& role = plan.roles[process.role];
  const auto path = [&](const std::vector<std::string>& inherited) {
    const auto whole = ComposeEnvironment(inherited, plan, process, SampleBinding(), 0);
    const auto own = ComposeOwnEnvironment(inherited, role, process, SampleBinding(), 0);
    const auto common = ComposeRoleEnvironment(inherited, role, SampleBinding(), 0);
    const auto& part = process.env.contains("P") ? own : common;
    for (const std::string& entry : part.value()) {
      if (!entry.starts_with("P=")) continue;
      EXPECT_NE(std::find(whole->begin(), whole->end(), entry), whole->end()) << entry;
      return entry;
    }
    return std::string();
  };
  for (Variables* holder : {&role.env, &process.env}) {
    (*holder)["P"] = "/m${muster:inherited_path:P}";
    EXPECT_EQ(path({"P=/theirs:/b"}), "P=/m:/theirs:/b");
    EXPECT_EQ(path({"P="}), "P=/m");
    EXPECT_EQ(path({"PP=/x"}), "P=/m");
  }
  role.unset.emplace_back("P");
  EXPECT_EQ(path({"P=/theirs"}), "P=/m");
}

TEST(ComposedEnvironment, UsesADefaultOnlyIfNothingIsInherited) {
  Plan plan = ParameterServerPlan();
  const Process& process = plan.processes.at(0);
  Role& role = plan.roles.at(process.role);
  role.env["THREADS"] = "${muster:inherited:THREADS:1}";
  const auto threads = [&](const std::vector<std::string>& inherited) {
    const auto composed = ComposeEnvironment(inherited, plan, process, SampleBinding(), 0);
    for (const std::string& entry : composed.value()) {
      if (entry.starts_with("THREADS=")) return entry;
    }
    return std::string();
  };
  EXPECT_EQ(threads({}), "THREADS=1");
  EXPECT_EQ(threads({"THREADS=16"}), "THREADS=16");
  EXPECT_EQ(threads({"THREADS="}), "THREADS=");
}

TEST(ComposedEnvironment, OmitsTheMarkOfAPythonThatStartedMuster) {
  const Plan plan = ParameterServerPlan();
  const auto composed = ComposeEnvironment({"MUSTER_CONTEXT_HOLDER=1.2 other/worker.0.0"}, plan, plan.processes.at(0),
                                           SampleBinding(), 0);
  for (const std::string& entry : composed.value()) EXPECT_FALSE(entry.starts_with("MUSTER_CONTEXT_HOLDER")) << entry;
}

TEST(ComposedEnvironment, FailsIfAPlaceholderCannotBeFilled) {
  const Plan plan = ParameterServerPlan();
  Binding binding = SampleBinding();
  binding.ports.clear();
  EXPECT_EQ(ComposeEnvironment({}, plan, plan.processes.at(0), binding, 0).error().front().kind, "binding");
  EXPECT_FALSE(ComposeRoleEnvironment({}, plan.roles.at(0), binding, 0));
}

}  // namespace
}  // namespace muster
