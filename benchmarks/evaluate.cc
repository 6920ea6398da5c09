// What evaluating a recipe costs as a whole process (muster check), beside the floor: a process that does
// nothing, and muster that only prints its version. The difference between the two muster figures is the
// second, locked-down process with its interpreter.
//
// usage: evaluate [ROUNDS]    default 30
#include <cstdlib>

#include "whole_process.h"

using namespace muster::benchmark;

int main(int argc, char** argv) {
  const std::size_t rounds = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 30;
  std::vector<Contestant> contestants = {
      {"true", {"true"}, {}, 0},
      {"muster --version", {Program("muster"), "--version"}, {}, 0},
      {"muster check recipes/hello.lua", {Program("muster"), "check", Source("recipes/hello.lua")}, {}, 0},
      {"muster check recipes/parameter_server.lua",
       {Program("muster"), "check", Source("recipes/parameter_server.lua")},
       {},
       0},
  };
  TakeTurns(contestants, rounds, "", std::chrono::seconds(20));
  const double version = FiguresOf(contestants[1].seconds).median;
  PrintRatio("check hello.lua / --version", FiguresOf(contestants[2].seconds).median / version, "for information");
  return 0;
}
