// Measures how close samplers come to the optimum of test functions with 25, 50 and 100 trials, beside the figures of
// Optuna on the same functions; how close with points that are refused; and how long the samplers that learn take to
// choose a point.
//
// usage: samplers [SEEDS [FIRST_SEED [FUNCTION]]]    default 50 seeds from 0, all functions and the times
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
constexpr std::uint64_t kPeerSeeds = 10;  // of fewer, the slowest measurement of a peer is left out

// Median regrets of Optuna with the same startup trials, seeds 0 to 49 (GP: 0 to 19): master 1d8ce7bb (2026-08-21) and
// tag v4.9.0.
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
    {"Optuna 5, GP",
     {{{.0333, 3.92e-5, 1.51e-5},
       {.561, .00585, 3.43e-4},
       {2490, 744, 127},
       {19.1, 15.1, 7.95},
       {.0374, 4.5e-6, 8.49e-7},
       {.113, .0746, .0488},
       {.161, .253, .352}}}},
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

// The regret of the best-observed point after each number of trials. `failing`: refused points are trials that fail;
// otherwise they are no trials.
std::array<double, 3> RegretsOf(const TestFunction& function, const CompiledSpace& space, SamplerChoice choice,
                                std::uint64_t batch, bool failing = false) {
  constexpr std::uint64_t kMostAsked = 10'000;
  choice.trials =
      function.possible == nullptr ? kTrials.back() : std::min(kMostAsked, space.size().value_or(kMostAsked));
  const auto sampler = Sampler::Of(space, choice);
  std::array<double, 3> regrets{};
  double observed = std::numeric_limits<double>::infinity();
  double regret = observed;
  std::uint64_t started = 0;
  for (std::uint64_t first = 0; first < *choice.trials && started < kTrials.back(); first += batch) {
    const std::vector<Point> points = (*sampler)->Ask(first, std::min(batch, *choice.trials - first));
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::uint64_t trial = first + i;
      if (function.possible != nullptr && !function.possible(points[i])) {
        if (!failing) {
          (*sampler)->TellImpossible(trial);
          continue;
        }
        (*sampler)->Tell(trial, std::nullopt);
      } else {
        const double loss = function.loss(points[i]);
        const double reported = loss + (function.noise != nullptr ? function.noise(choice.seed, trial) : 0);
        (*sampler)->Tell(trial, reported);
        if (reported < observed) {
          observed = reported;
          regret = loss - function.least;
        }
      }
      ++started;
      for (std::size_t k = 0; k < kTrials.size(); ++k) {
        if (started <= kTrials[k]) regrets[k] = regret;
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
                  std::uint64_t seeds, std::uint64_t first_seed, bool failing = false) {
  const auto space = CompiledSpace::Of(function.space);
  std::array<std::vector<double>, 3> regrets;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    choice.seed = first_seed + seed;
    const auto reached = RegretsOf(function, *space, choice, batch, failing);
    for (std::size_t k = 0; k < reached.size(); ++k) regrets[k].push_back(reached[k]);
  }
  std::printf("    %-24s", label.c_str());
  for (const auto& values : regrets) {
    std::printf("  %8.3g (%.2g/%.2g)", QuantileOf(values, .5), QuantileOf(values, .25), QuantileOf(values, .75));
  }
  std::printf("\n");
  std::fflush(stdout);
}

// Milliseconds to ask for one trial of Hartmann-6 after so many results.
double MillisecondsAfter(SamplerChoice::Kind kind, std::uint64_t results) {
  constexpr std::uint64_t kAsked = 20;
  const TestFunction& function = TestFunctions().at(1);
  const auto space = CompiledSpace::Of(function.space);
  const auto drawn = Sampler::Of(*space, {SamplerChoice::Kind::kRandom, results, 1});
  const auto sampler = Sampler::Of(*space, {kind, results + kAsked, 1});
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
  const std::string only = argc > 3 ? argv[3] : "";
  using Kind = SamplerChoice::Kind;
  constexpr std::uint64_t kBatch = 8;
  std::printf("  regret after 25, 50 and 100 trials: median (quartiles) of %llu seeds\n",
              static_cast<unsigned long long>(seeds));
  const auto& functions = TestFunctions();
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (!only.empty() && functions[i].name != only) continue;
    std::printf("  %s\n", functions[i].name.c_str());
    const auto print = [&](const std::string& label, Kind kind, std::uint64_t batch) {
      PrintRegrets(functions[i], label, {.kind = kind}, batch, seeds, first_seed);
    };
    print("random", Kind::kRandom, 1);
    print("Sobol", Kind::kSobol, 1);
    for (const std::uint64_t batch : {std::uint64_t{1}, kBatch}) {
      const std::string batches = batch == 1 ? "" : ", batches of 8";
      print("TPE" + batches, Kind::kTpe, batch);
      print("GP" + batches, Kind::kGp, batch);
      const auto space = CompiledSpace::Of(functions[i].space);
      const auto chosen = ChooseSampler(*space, {Kind::kAuto, kTrials.back()}, true, batch);
      std::printf("    %-24s  %s\n", ("auto" + batches).c_str(), chosen.why.c_str());
    }
    for (const Peer& peer : kPeers) {
      const auto& medians = peer.medians.at(i);
      std::printf("    %-24s  %8.3g %18.3g %18.3g\n", peer.name, medians[0], medians[1], medians[2]);
    }
  }
  for (const TestFunction& function : RefusingFunctions()) {
    if (!only.empty() && function.name != only) continue;
    std::printf("  %s: regret by started trials\n", function.name.c_str());
    const auto print = [&](const std::string& label, Kind kind, bool failing) {
      PrintRegrets(function, label, {.kind = kind}, 1, seeds, first_seed, failing);
    };
    print("random", Kind::kRandom, false);
    print("TPE", Kind::kTpe, false);
    print("GP", Kind::kGp, false);
    print("TPE, refused ones fail", Kind::kTpe, true);
    print("GP, refused ones fail", Kind::kGp, true);
    std::fflush(stdout);
    const auto which = &function - RefusingFunctions().data();
    const std::string peer = "/usr/bin/python3 " MUSTER_SOURCE_DIR "/benchmarks/samplers_optuna.py --refused " +
                             std::to_string(which) + " " + std::to_string(seeds) + " " + std::to_string(first_seed);
    if (std::system((peer + " 2>/dev/null").c_str()) != 0) {
      std::printf("    %-24s not measured: needs python3-optuna\n", "Optuna's TPE");
    }
  }
  if (!only.empty()) return 0;
  std::printf(
      "  milliseconds for a point of Hartmann-6 after 100, 300, 500, 1,000 and 10,000 results (wanted of TPE: 1 and 10 "
      "after 1,000 and 10,000; of GP: 50 after 300)\n");
  for (const Kind kind : {Kind::kTpe, Kind::kGp}) {
    std::printf("    %-24s", KindOf({kind}).name);
    for (const std::uint64_t results : {100, 300, 500, 1'000, 10'000}) {
      std::printf(" %8.3f", MillisecondsAfter(kind, results));
    }
    std::printf("%s\n", kind == Kind::kGp ? "  (after 500 results it does as tpe)" : "");
    std::fflush(stdout);
  }
  const std::string optuna = "/usr/bin/python3 " MUSTER_SOURCE_DIR "/benchmarks/samplers_optuna.py 100 300 500 1000";
  if (std::system((optuna + (seeds >= kPeerSeeds ? " 10000" : "") + " 2>/dev/null").c_str()) != 0) {
    std::printf("    %-24s not measured: needs python3-optuna\n", "Optuna's TPE");
  }
  // Measured on another machine, with the trials in memory.
  std::printf("    %-24s %8s %8s %8s %8s %8s\n", "Optuna 5, TPE", "2.3", "", "", "11.8", "86");
  std::printf("    %-24s %8s %8s %8s %8s\n", "Optuna 5, GP", "110", "", "", "31600");
  return 0;
}
