// Measures a whole run of 4 processes that do nothing, from the command's start to its end with the report. Compared
// with mpirun -n 4 of the same program. mpirun 4.1.4 sometimes hangs on processes that end at once, so every run has a
// limit; runs that hang are counted, but not part of the figures.
//
// usage: run [ROUNDS]    default 10
#include <cstdio>
#include <cstdlib>

#include <unistd.h>

#include "whole_process.h"

using namespace muster::benchmark;

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10;
  const ScratchFolder scratch;
  std::vector<std::string> mpirun = {"mpirun", "-n", "4", "--oversubscribe"};
  if (geteuid() == 0) mpirun.push_back("--allow-run-as-root");
  mpirun.insert(mpirun.end(), {"sleep", "0"});
  std::vector<Contestant> contestants = {
      {"muster run, 4 × sleep 0",
       {Program("muster"), "run", "--quiet", Source("benchmarks/sleep.lua"), "count=4"},
       {},
       0},
      {"mpirun -n 4 sleep 0", mpirun, {}, 0},
  };
  TakeTurns(contestants, rounds, scratch.path(), std::chrono::seconds(20));
  if (contestants[1].seconds.empty()) {
    std::puts("  mpirun is not installed or always failed: install openmpi-bin (tools/setup --all)");
    return 1;
  }
  PrintRatio("muster / mpirun", FiguresOf(contestants[0].seconds).median / FiguresOf(contestants[1].seconds).median,
             "at most 0.5");
  return 0;
}
