// Measures time and memory of judging the points of a sweep over recipes/gpt.lua: a million points with about a
// thousand layouts, each planned once; and fewer points that all need their own plan, with the cost per plan. Memory is
// the largest resident set of any of the command's processes.
//
// usage: sweep_preview [POINTS_OF_THEIR_OWN]    default 20000
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "whole_process.h"

using namespace muster::benchmark;

namespace {

// Seconds, or nothing after printing a message.
std::optional<double> Preview(const std::string& label, const std::vector<std::string>& words, double points) {
  std::vector<std::string> argv = {Program("muster"), "sweep", Source("recipes/gpt.lua")};
  argv.insert(argv.end(), words.begin(), words.end());
  argv.emplace_back("--preview");
  const auto seconds = TimeCommand(argv, "", std::chrono::seconds(600));
  if (!seconds) {
    std::printf("  %-52s failed\n", label.c_str());
    return seconds;
  }
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  std::printf("  %-52s %7.2f s   %8.2f µs a point   largest process so far %ld MB\n", label.c_str(), *seconds,
              *seconds / points * 1e6, used.ru_maxrss >> 10);
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string own = argc > 1 ? argv[1] : "20000";
  const double own_points = std::strtod(own.c_str(), nullptr);
  const std::vector<std::string> layouts = {"--grid", "hosts=1..16",
                                            "--grid", "pipeline_stages=1,2,4,8",
                                            "--grid", "tensor_parallel_size=1,2,4,8",
                                            "--grid", "micro_batch_size=1,2,4,8"};
  bool done = Preview("nothing but the start: 1 point", {"--grid", "hosts=8"}, 1).has_value();
  std::vector<std::string> million = layouts;
  million.insert(million.end(), {"--grid", "learning_rate=0.001..0.977:0.001"});
  done = Preview("1,000,448 points: 1,024 layouts × 977 learning rates", million, 1'000'448) && done;
  const auto each = Preview(own + " points, a plan for each", {"--grid", "global_batch_size=1.." + own}, own_points);
  std::printf("  wanted of the second: under 10 s and 200 MB\n");
  return done && each ? 0 : 1;
}
