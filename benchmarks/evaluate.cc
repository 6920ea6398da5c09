// Measures evaluating a recipe as a whole process (muster check). Baselines: a process that does nothing, and muster
// printing its version. The difference between the two muster figures is the second, locked-down process with its
// interpreter. Also measures many plans, each by a fresh evaluator: started as a program, and forked by a fork server;
// CPU time is that of both sides.
//
// usage: evaluate [ROUNDS]    default 30
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include <sys/resource.h>

#include "evaluator/evaluator.h"
#include "whole_process.h"

using namespace muster::benchmark;

namespace {

// CPU time in seconds of this process and of the children that it has waited for.
double ProcessorSeconds() {
  double seconds = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& part : {usage.ru_utime, usage.ru_stime}) {
      seconds += static_cast<double>(part.tv_sec) + static_cast<double>(part.tv_usec) * 1e-6;
    }
  }
  return seconds;
}

// Makes so many plans of the recipe with `evaluate`; `finish` ends the evaluators.
void TimePlans(const std::string& label, std::size_t plans, const std::function<bool()>& evaluate,
               const std::function<void()>& finish) {
  std::vector<double> seconds;
  evaluate();  // starts the fork server
  const double before = ProcessorSeconds();
  for (std::size_t i = 0; i < plans; ++i) {
    const std::uint64_t began = MonotonicNow();
    if (!evaluate()) {
      std::printf("  %s: no plan\n", label.c_str());
      std::exit(1);
    }
    seconds.push_back(SecondsBetween(began, MonotonicNow()));
  }
  Print(label, FiguresOf(seconds));
  finish();
  std::printf("  %-44s %.2f ms of processor time each\n", "",
              (ProcessorSeconds() - before) * 1e3 / static_cast<double>(plans));
}

void ComparePlans(const std::string& recipe, std::size_t plans, bool with_schema) {
  muster::EvaluationOptions options;
  options.recipe_file = Source(recipe);
  options.program = Program("muster-evaluator");
  TimePlans(
      "plan of " + recipe + ", whole evaluator", plans, [&] { return muster::EvaluateRecipe(options).has_value(); },
      [] {});
  const auto files = muster::RecipeFiles::Open(options.recipe_file);
  if (!files) return;
  auto fork_server = std::make_shared<muster::EvaluatorForkServer>(muster::StartOf(options), with_schema);
  TimePlans(
      "plan of " + recipe + ", of a fork server", plans,
      [&] {
        auto pending = muster::Evaluator(fork_server, files->Again()).Begin(options, true);
        return pending && pending->Await().has_value();
      },
      [&] { fork_server.reset(); });
}

}  // namespace

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
  ComparePlans("recipes/hello.lua", 10 * rounds, false);
  ComparePlans("recipes/parameter_server.lua", 10 * rounds, true);
  return 0;
}
