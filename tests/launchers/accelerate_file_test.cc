// Tests conversion of Accelerate's configuration file to options.
#include <gtest/gtest.h>

#include "launchers/launcher_call.h"

namespace muster::testing {
namespace {

using OptionValues = std::vector<std::pair<std::string, std::string>>;

TEST(AccelerateFile, GivesOptionsOfAllItsMaps) {
  const auto words = WordsOfAccelerateFile(
      "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n  "
      "zero3_init_flag: true\n"
      "main_process_ip: null\ngpu_ids: 0,1\ntpu_env: []\n",
      "f.yaml");
  ASSERT_TRUE(words.has_value());
  EXPECT_EQ(
      *words,
      (OptionValues{
          {"--use_deepspeed", "true"}, {"--zero3_init_flag", "true"}, {"--zero_stage", "3"}, {"--gpu_ids", "0,1"}}));
}

TEST(AccelerateFile, RefusesSettingsThatStartNoLocalProcess) {
  const auto refusal = [](const char* text) {
    const auto words = WordsOfAccelerateFile(text, "f.yaml");
    return words ? std::string("taken") : words.error().front().message;
  };
  EXPECT_EQ(refusal("compute_environment: AMAZON_SAGEMAKER"),
            "compute_environment \"AMAZON_SAGEMAKER\" starts no process here");
  EXPECT_EQ(refusal("distributed_type: TPU"),
            "distributed_type \"TPU\" starts workers by the TPU runtime, which has no counterpart");
  EXPECT_EQ(refusal("- a"), "expected a map of Accelerate's settings");
  EXPECT_NE(refusal("a: [1"), "taken");
}

}  // namespace
}  // namespace muster::testing
