// Measures planning as a whole process: 8 and 4,096 devices of recipes/pipeline.lua. Baseline: muster printing its
// version.
//
// usage: plan [ROUNDS]    default 20
#include <cstdlib>

#include "whole_process.h"

using namespace muster::benchmark;

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 20;
  const std::string recipe = Source("recipes/pipeline.lua");
  std::vector<Contestant> contestants = {
      {"muster --version", {Program("muster"), "--version"}, {}, 0},
      {"plan, 8 devices (wanted: under 15 ms)", {Program("muster"), "plan", recipe}, {}, 0},
      {"plan, 4096 devices (wanted: under 300 ms)",
       {Program("muster"), "plan", recipe, "hosts=512", "pipeline_stages=16", "tensor_parallel_size=8"},
       {},
       0},
      {"plan --json, 4096 devices",
       {Program("muster"), "plan", "--json", recipe, "hosts=512", "pipeline_stages=16", "tensor_parallel_size=8"},
       {},
       0},
  };
  TakeTurns(contestants, rounds, "", std::chrono::seconds(60));
  return 0;
}
