// Compares the output of muster explain with golden files: tests/golden/explain/NAME.txt.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"
#include "support/golden.h"

namespace muster::testing {
namespace {

constexpr const char* kCluster = "recipes/mindspore_dynamic_cluster.lua";

void ExpectExplained(const std::string& kept, std::vector<std::string> words) {
  words.insert(words.begin(), "explain");
  const CommandResult result = Muster(std::move(words));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  ExpectGolden(result.out, "tests/golden/explain/" + kept + ".txt");
}

TEST(ExplainCommand, ExplainsEveryKindOfName) {
  ExpectExplained("derived", {kPipeline, "data_parallel_size"});
  ExpectExplained("parameter", {kPipeline, "pipeline_stages"});
  ExpectExplained("attribute", {kPipeline, "attribute:pipeline_stages"});
  ExpectExplained("attribute_of_ranks", {kPipeline, "global_rank"});
  ExpectExplained("attribute_not_set", {kPipeline, "set_context.save_graphs"});
  ExpectExplained("variable_of_stages", {kPipeline, "pipeline_stages=4", "FIRST_LAYER"});
  ExpectExplained("variable_of_the_contract", {kCluster, "MS_WORKER_NUM"});
  ExpectExplained("variable_removed", {kCluster, "RANK_TABLE_FILE"});
  ExpectExplained("word", {kPipeline, "command:--layers"});
  ExpectExplained("cluster", {kPipeline, "devices"});
}

TEST(ExplainCommand, ExplainsOneRank) {
  ExpectExplained("rank", {kPipeline, "pipeline_stages=4", "FIRST_LAYER", "--rank", "5"});
}

TEST(ExplainCommand, ExplainsAPlanForHundredsOfDevices) {
  const std::string recipe = "recipes/gpt_175b.lua";
  ExpectExplained("512_global_rank", {recipe, "global_rank"});
  ExpectExplained("512_global_rank_of_one", {recipe, "global_rank", "--rank", "300"});
  ExpectExplained("512_first_layer", {recipe, "FIRST_LAYER"});
  ExpectExplained("512_pipeline_stages", {recipe, "pipeline_stages"});
  ExpectExplained("512_worker_num", {recipe, "MS_WORKER_NUM"});
}

TEST(ExplainCommand, NamesTheSourceOfAParametersValue) {
  const CommandResult result = Muster({"explain", kPipeline, "layers=64", "layers"}, {"MUSTER_SET=micro_batches=32"});
  EXPECT_NE(result.out.find("layers = 64    command line\n"), std::string::npos) << result.out;
  const CommandResult set = Muster({"explain", kPipeline, "micro_batches"}, {"MUSTER_SET=micro_batches=32"});
  EXPECT_NE(set.out.find("micro_batches = 32    MUSTER_SET\n"), std::string::npos) << set.out;
}

TEST(ExplainCommand, RefusesUnknownNames) {
  const CommandResult misspelt = Muster({"explain", kPipeline, "layer_per_stage"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_EQ(misspelt.err,
            "muster: error: the plan of pipeline has nothing called \"layer_per_stage\"\n"
            "hint: did you mean \"layers_per_stage\"?\n");
  EXPECT_EQ(Muster({"explain", kPipeline}).exit_code, 2);
  EXPECT_EQ(Muster({"explain", kPipeline, "layers", "script"}).exit_code, 2);
  EXPECT_EQ(Muster({"explain", kPipeline, "FIRST_LAYER", "--rank", "99"}).exit_code, 2);
}

TEST(ExplainCommand, NamesTheVariantThatAParameterNeeds) {
  const CommandResult result = Muster({"explain", "recipes/gpt.lua", "optimizer=sgd", "optimizer.beta1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("parameter optimizer.beta1 belongs to optimizer = adam, which is not chosen"),
            std::string::npos)
      << result.err;
  EXPECT_NE(result.err.find("hint: optimizer=adam chooses it"), std::string::npos) << result.err;
}

TEST(ExplainCommand, FailsAsThePlanDoes) {
  const CommandResult result = Muster({"explain", kPipeline, "pipeline_stages=3", "FIRST_LAYER"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("can not be divided by"), std::string::npos) << result.err;
}

TEST(ExplainCommand, PrintsJsonForPrograms) {
  const CommandResult result = Muster({"explain", kPipeline, "layers_per_stage", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto document = nlohmann::json::parse(result.out);
  EXPECT_EQ(document["format"], 1);
  EXPECT_EQ(document["kind"], "derived");
  EXPECT_EQ(document["values"][0]["value"], "16");
  EXPECT_EQ(document["values"][0]["place"]["file"], kPipeline);
  EXPECT_EQ(document["formula"], "layers 32 / pipeline_stages 2");
  EXPECT_EQ(document["chain"][0]["name"], "layers");
  const auto effect = [&](const std::string& name) {
    for (const auto& one : document["dependences"]) {
      if (one["name"] == name) return one["effect"].get<std::string>();
    }
    return std::string("absent");
  };
  EXPECT_EQ(effect("layers"), "changes");
  EXPECT_EQ(effect("script"), "none");
}

}  // namespace
}  // namespace muster::testing
