// Measures a sweep over points that do nothing, two at a time. Compared with GNU parallel and xargs, which start the
// same program as often, without records. Each of muster's trials is planned, journalled and a run with its own
// directory.
//
// usage: sweep [TRIALS [ROUNDS]]    default 10000 1
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "whole_process.h"

using namespace muster::benchmark;

namespace {

// One argument per line, for programs that read their points from a file.
std::string WritePoints(const std::string& folder, std::size_t trials) {
  const std::string file = folder + "/points";
  std::ofstream points(file);
  for (std::size_t i = 0; i < trials; ++i) points << i << '\n';
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t trials = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000;
  const std::size_t rounds = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1;
  const ScratchFolder scratch;
  const std::string points = WritePoints(scratch.path(), trials);
  const std::string last = std::to_string(trials - 1);
  std::vector<Contestant> contestants = {
      {"muster sweep --slots 2",
       {Program("muster"), "sweep", Source("benchmarks/point.lua"), "--grid", "x=0.." + last, "--slots", "2",
        "--quiet"},
       {},
       0},
      {"xargs -P 2", {"xargs", "-a", points, "-n", "1", "-P", "2", "/bin/true"}, {}, 0},
      {"GNU parallel -j 2", {"parallel", "-a", points, "-j", "2", "/bin/true"}, {}, 0},
  };
  std::printf("%zu trials that do nothing, 2 at a time\n", trials);
  TakeTurns(contestants, rounds, scratch.path(), std::chrono::seconds(600));
  std::vector<Figures> figures;
  for (const Contestant& contestant : contestants) {
    figures.push_back(FiguresOf(contestant.seconds));
    std::fputs(PerTrialText(contestant.label, figures.back(), trials).c_str(), stdout);
  }
  if (figures[0].count > 0 && figures[1].count > 0) {
    std::printf("  muster's overhead over xargs  %6.2f ms a trial   (wanted: under 2)\n",
                (figures[0].median - figures[1].median) / static_cast<double>(trials) * 1000);
  }
  PrintRatio("muster / GNU parallel", figures[0].median / figures[2].median, "for information");
  return contestants[0].seconds.empty() ? 1 : 0;
}
