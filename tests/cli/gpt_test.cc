// Tests sweeping recipes/gpt.lua: of a known space of layouts, exactly those that divide evenly are possible.
#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

TEST(Gpt, HasFifteenPossibleLayoutsOfTwentyFour) {
  std::map<std::string, int> counted;
  for (const char* micro_batch_size : {"1", "2", "4"}) {
    for (const auto& [stages, tensor] : {std::pair("1", "8"), {"2", "4"}, {"4", "4"}, {"8", "4"}}) {
      for (const char* hosts : {"2", "4"}) {
        const CommandResult result =
            Muster({"plan", "recipes/gpt.lua", "global_batch_size=64",
                    std::string("micro_batch_size=") + micro_batch_size, std::string("pipeline_stages=") + stages,
                    std::string("tensor_parallel_size=") + tensor, std::string("hosts=") + hosts, "--json"});
        const auto document = nlohmann::json::parse(result.out);
        if (result.exit_code != 0) {
          ASSERT_EQ(document["diagnostics"].size(), 1U) << result.err;
          ++counted[document["diagnostics"][0]["kind"]];
        } else {
          ++counted[document["derived"]["bubble"] <= 0.15 ? "possible" : "bubble"];
        }
      }
    }
  }
  EXPECT_EQ(counted, (std::map<std::string, int>{{"possible", 15}, {"bubble", 6}, {"division", 3}}));
}

TEST(Gpt, ReportsLayoutsThatDoNotFit) {
  const auto said = [](const std::string& word) {
    const CommandResult result = Muster({"check", "recipes/gpt_175b.lua", word});
    EXPECT_EQ(result.exit_code, 2) << word;
    return result.err;
  };
  EXPECT_NE(said("device_memory=24GiB").find("of memory are needed on the fullest device"), std::string::npos);
  EXPECT_NE(said("devices_per_host=6").find("does not fit on a host with 6 devices"), std::string::npos);
  EXPECT_NE(said("heads=95").find("heads"), std::string::npos);
  EXPECT_NE(said("pipeline_stages=5").find("pipeline_stages"), std::string::npos);
  EXPECT_NE(said("global_batch_size=32").find("leaves some of the 16 stages idle"), std::string::npos);
  EXPECT_NE(said("warmup_steps=100000").find("warmup_steps = 100000 is more than steps = 64000"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
