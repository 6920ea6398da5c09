// Measures how close samplers come to the optimum of test functions with 25, 50 and 100 trials, beside the figures of
// Optuna's TPE on the same functions; and how long TPE takes to choose a point.
//
// usage: samplers [SEEDS [FIRST_SEED]]    default 50 seeds from 0
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/test_functions.h"
#include "space/sampler.h"

using namespace muster;
using namespace muster::benchmark;

namespace {

constexpr std::array<std::uint64_t, 3> kTrials = {25, 50, 100};

// Median regrets of Optuna with the same startup trials, seeds 0 to 49: master 1d8ce7bb (2026-08-21) and tag v4.9.0.
// Of batches of 8 the variants that count running trials as bad ones.
struct Peer {
  const char* name;
  std::array<std::array<double, 3>, 7> medians;  // by function
};
constexpr Peer kPeers[] = {
    {"Optuna 5",
     {{{.563, .154, .0295},
       {.916, .365, .0993},
       {2570, 581, 102},
       {19.3, 18, 14.6},
       {.156, .152, .15},
       {.0423, .00608, .00175},
       {1.25, .642, .27}}}},
    {"Optuna 5, group",
     {{{.563, .154, .0295},
       {.916, .365, .0993},
       {2570, 581, 102},
       {19.3, 18, 14.6},
       {.156, .152, .15},
       {.025, .00411, 8.86e-4},
       {1.25, .642, .27}}}},
    {"Optuna 4",
     {{{1.01, .274, .0584},
       {1.59, .722, .326},
       {3170, 1040, 327},
       {19.2, 18.8, 17.1},
       {.131, .0347, .00781},
       {.0402, .00807, .00122},
       {1.14, .601, .58}}}},
    {"Optuna 4, group",
     {{{.624, .169, .0633},
       {1.15, .677, .322},
       {5040, 1020, 261},
       {19.8, 18.6, 17.3},
       {.103, .0167, .00318},
       {.0213, .0116, .00141},
       {.858, .433, .434}}}},
    {"Optuna 5, batches of 8",
     {{{1.23, .204, .0434},
       {1.53, .674, .208},
       {5160, 732, 131},
       {19.7, 18.2, 16.6},
       {.123, .0151, .00183},
       {.0396, .00441, 7.27e-4},
       {1.23, .784, .438}}}},
    {"Optuna 4, batches of 8",
     {{{.941, .26, .0427},
       {1.62, .817, .31},
       {5550, 1150, 307},
       {19.8, 18.6, 16.4},
       {.155, .0347, .00493},
       {.0694, .00518, .00114},
       {1.04, .729, .244}}}},
};

// The regret of the best-observed point after each number of trials.
std::array<double, 3> RegretsOf(const TestFunction& function, const CompiledSpace& space, SamplerChoice choice,
                                std::uint64_t batch) {
  choice.trials = kTrials.back();
  const auto sampler = Sampler::Of(space, choice);
  std::array<double, 3> regrets{};
  double observed = std::numeric_limits<double>::infinity();
  double regret = 0;
  for (std::uint64_t first = 0; first < kTrials.back(); first += batch) {
    const std::vector<Point> points = (*sampler)->Ask(first, std::min(batch, kTrials.back() - first));
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::uint64_t trial = first + i;
      const double loss = function.loss(points[i]);
      const double reported = loss + (function.noise != nullptr ? function.noise(choice.seed, trial) : 0);
      (*sampler)->Tell(trial, reported);
      if (reported < observed) {
        observed = reported;
        regret = loss - function.least;
      }
      for (std::size_t k = 0; k < kTrials.size(); ++k) {
        if (trial + 1 == kTrials[k]) regrets[k] = regret;
      }
    }
  }
  return regrets;
}

// numpy's: between the two nearest.
double QuantileOf(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double at = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const double above = values[std::min(below + 1, values.size() - 1)];
  return values[below] + (at - static_cast<double>(below)) * (above - values[below]);
}

void PrintRegrets(const TestFunction& function, const std::string& label, SamplerChoice choice, std::uint64_t batch,
                  std::uint64_t seeds, std::uint64_t first_seed) {
  const auto space = CompiledSpace::Of(function.space);
  std::array<std::vector<double>, 3> regrets;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    choice.seed = first_seed + seed;
    const auto reached = RegretsOf(function, *space, choice, batch);
    for (std::size_t k = 0; k < reached.size(); ++k) regrets[k].push_back(reached[k]);
  }
  std::printf("    %-24s", label.c_str());
  for (const auto& values : regrets) {
    std::printf("  %8.3g (%.2g/%.2g)", QuantileOf(values, .5), QuantileOf(values, .25), QuantileOf(values, .75));
  }
  std::printf("\n");
}

// Milliseconds to ask for one trial of Hartmann-6 after so many results.
double MillisecondsAfter(std::uint64_t results) {
  constexpr std::uint64_t kAsked = 50;
  const TestFunction& function = TestFunctions().at(1);
  const auto space = CompiledSpace::Of(function.space);
  const auto drawn = Sampler::Of(*space, {SamplerChoice::Kind::kRandom, results, 1});
  const auto sampler = Sampler::Of(*space, {SamplerChoice::Kind::kTpe, results + kAsked, 1});
  const std::vector<Point> points = (*drawn)->Ask(0, results);
  (*sampler)->Recall(0, points);
  for (std::uint64_t trial = 0; trial < results; ++trial) (*sampler)->Tell(trial, function.loss(points[trial]));
  std::vector<double> times;
  for (std::uint64_t trial = results; trial < results + kAsked; ++trial) {
    const auto began = std::chrono::steady_clock::now();
    const std::vector<Point> asked = (*sampler)->Ask(trial, 1);
    times.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    (*sampler)->Tell(trial, function.loss(asked.front()));
  }
  return QuantileOf(times, .5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 50;
  const std::uint64_t first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  std::printf("  regret after 25, 50 and 100 trials: median (quartiles) of %llu seeds\n",
              static_cast<unsigned long long>(seeds));
  const auto& functions = TestFunctions();
  for (std::size_t i = 0; i < functions.size(); ++i) {
    std::printf("  %s\n", functions[i].name.c_str());
    const auto print = [&](const std::string& label, SamplerChoice::Kind kind, std::uint64_t batch) {
      PrintRegrets(functions[i], label, {.kind = kind}, batch, seeds, first_seed);
    };
    print("random", SamplerChoice::Kind::kRandom, 1);
    print("Sobol", SamplerChoice::Kind::kSobol, 1);
    print("TPE", SamplerChoice::Kind::kTpe, 1);
    print("TPE, batches of 8", SamplerChoice::Kind::kTpe, 8);
    for (const Peer& peer : kPeers) {
      const auto& medians = peer.medians.at(i);
      std::printf("    %-24s  %8.3g %18.3g %18.3g\n", peer.name, medians[0], medians[1], medians[2]);
    }
  }
  std::printf("  a point of Hartmann-6 (wanted: under 1 ms after 1,000 results)\n");
  for (const std::uint64_t results : {100, 1000, 10'000}) {
    std::printf("    after %6llu results     %.3f ms\n", static_cast<unsigned long long>(results),
                MillisecondsAfter(results));
  }
  return 0;
}
