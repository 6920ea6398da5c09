// Measures launching 4 and 16 Python processes that do nothing, from the command to its end. Compared with
// Debian's torchrun, and with starting the processes from a shell. torchrun (1.13) checks for exited workers
// every 5 s by default, here every 0.1 s (--monitor_interval 0.1). About a second of its time is the import of
// PyTorch.
//
// usage: torchrun [ROUNDS]    default 5
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "whole_process.h"

using namespace muster::benchmark;

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 5;
  const ScratchFolder scratch;
  const std::string script = scratch.path() + "/noop.py";
  std::ofstream(script) << "";
  for (const char* count : {"4", "16"}) {
    const std::string words = std::string(count) + " × python3 noop.py";
    std::vector<Contestant> contestants = {
        {"muster run, " + words,
         {Program("muster"), "run", "--quiet", Source("benchmarks/noop.lua"), std::string("workers=") + count,
          "script=" + script},
         {},
         0},
        {"torchrun --monitor_interval 0.1, " + words,
         {"/usr/bin/python3", "-B", Source("benchmarks/torchrun.py"), "--nproc_per_node", count, "--monitor_interval",
          "0.1", script},
         {},
         0},
        {"a shell, " + words,
         {"/bin/sh", "-c",
          "for i in $(seq " + std::string(count) + "); do /usr/bin/python3 " + script + " & done; wait"},
         {},
         0},
    };
    TakeTurns(contestants, rounds, scratch.path(), std::chrono::seconds(60));
    const double ours = FiguresOf(contestants[0].seconds).median;
    if (contestants[1].seconds.empty()) {
      std::puts("  torchrun is not installed or always failed: install python3-torch (tools/setup --all)");
      return 1;
    }
    PrintRatio("muster / torchrun", ours / FiguresOf(contestants[1].seconds).median, "at most 0.2");
    PrintRatio("muster / shell", ours / FiguresOf(contestants[2].seconds).median, "at most 1.5");
  }
  return 0;
}
