// Measures the interactive commands as whole processes. Baseline: the start of a Python interpreter with the imports of
// a typical command-line tool.
//
// usage: cli [ROUNDS]    default 40
#include <cstdlib>

#include "whole_process.h"

using namespace muster::benchmark;

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 40;
  const std::string muster = Program("muster");
  const std::string recipe = Source("recipes/pipeline.lua");
  std::vector<Contestant> contestants = {
      {"python3 -c 'import argparse'", {"/usr/bin/python3", "-c", "import argparse"}, {}, 0},
      {"muster --help (wanted: under 10 ms)", {muster, "--help"}, {}, 0},
      {"muster plan --help (wanted: under 10 ms)", {muster, "plan", "--help"}, {}, 0},
      {"muster params (wanted: under 15 ms)", {muster, "params", recipe}, {}, 0},
      {"muster check (wanted: under 15 ms)", {muster, "check", recipe}, {}, 0},
      {"muster plan (wanted: under 15 ms)", {muster, "plan", recipe}, {}, 0},
      {"muster explain data_parallel_size (wanted: under 15 ms)",
       {muster, "explain", recipe, "data_parallel_size"},
       {},
       0},
      {"muster explain global_rank, of every process", {muster, "explain", recipe, "global_rank"}, {}, 0},
      {"muster docs pipeline_stages", {muster, "docs", "pipeline_stages"}, {}, 0},
      {"completion of a parameter", {muster, "completion", "--words", "--", "plan", recipe, "pip"}, {}, 0},
  };
  TakeTurns(contestants, rounds, "", std::chrono::seconds(20));
  return 0;
}
