// Measures a rehearsal of 64 workers and their scheduler, all connected to each other, from the command's start to its
// end. Baseline: muster run of as many processes that do nothing.
//
// usage: rehearse [ROUNDS]    default 10
#include <cstdlib>

#include "whole_process.h"

using namespace muster::benchmark;

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
  const ScratchFolder scratch;
  std::vector<Contestant> contestants = {
      // The script may be any file: it is not run.
      {"muster rehearse, 64 + 1 stubs",
       {"/usr/bin/env", "MUSTER_HOST_DEVICES=64", Program("muster"), "rehearse", Source("recipes/pipeline.lua"),
        "devices_per_host=64", "layers=64", "script=" + Source("recipes/pipeline.lua")},
       {},
       0},
      {"muster run, 65 × sleep 0",
       {Program("muster"), "run", "--quiet", Source("benchmarks/sleep.lua"), "count=65"},
       {},
       0},
  };
  TakeTurns(contestants, rounds, scratch.path(), std::chrono::seconds(60));
  if (contestants[0].seconds.empty() || contestants[1].seconds.empty()) return 1;
  PrintRatio("rehearse / run", FiguresOf(contestants[0].seconds).median / FiguresOf(contestants[1].seconds).median,
             "a rehearsal under 3 s");
  return 0;
}
