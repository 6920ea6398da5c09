// Measures checking a recipe with forty attributes of the context API as a whole process. Baselines: a process that
// does nothing, muster printing its version, and the check of a recipe without attributes (two processes, the
// interpreter, no schema).
//
// usage: check [ROUNDS]    default 40
#include <cstdlib>
#include <fstream>

#include "whole_process.h"

using namespace muster::benchmark;

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 40;
  const ScratchFolder scratch;
  const std::string empty = scratch.path() + "/empty.lua";
  std::ofstream(empty) << "return require(\"muster\").recipe {\n"
                          "  name = \"empty\", plan = function(p, job) job:workers { command = { \"true\" } } end,\n"
                          "}\n";
  std::vector<Contestant> contestants = {
      {"true", {"true"}, {}, 0},
      {"muster --version", {Program("muster"), "--version"}, {}, 0},
      {"check, empty recipe", {Program("muster"), "check", empty}, {}, 0},
      {"check, 40 attributes (wanted: under 10 ms)",
       {Program("muster"), "check", Source("benchmarks/forty_attributes.lua")},
       {},
       0},
      {"check --mindspore 2.4, 40 attributes",
       {Program("muster"), "check", "--mindspore", "2.4", Source("benchmarks/forty_attributes.lua")},
       {},
       0},
  };
  TakeTurns(contestants, rounds, "", std::chrono::seconds(20));
  PrintRatio("40 attributes / empty recipe",
             FiguresOf(contestants[3].seconds).median / FiguresOf(contestants[2].seconds).median, "for information");
  return 0;
}
