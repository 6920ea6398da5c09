// How much each parameter of a sweep decides about the result, and what distinguishes the best trials from all. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster {

// How much each parameter of a sweep decides about the result. Pure.
//
//   PED-ANOVA (Watanabe, Bansal, Hutter 2023, arXiv 2304.10255): compares the density of a parameter among the best
//   trials with its density among all. Kernels by Scott's rule on a grid, and a prior of weight 1, as in Optuna.
//   Means of a complete grid: the shares of the variance (analysis of variance with one trial per cell).

// A parameter, with its value in each trial.
struct ImportanceAxis {
  std::string name;
  bool choice = false;  // values are indices of choices, below `choices`; else numbers from `low` to `high`
  std::size_t choices = 0;
  bool log = false;
  bool whole = false;  // only whole numbers
  double low = 0;
  double high = 0;
  std::vector<double> values = {};  // NaN: the trial does not have this parameter
};

inline constexpr double kTopShare = 0.1;  // gamma
inline constexpr std::size_t kMinTrials = 5;

// Whether results differ: by more than kEqual times the larger one. Sums of equal numbers in another order differ by
// less.
inline constexpr double kEqual = 1e-9;
bool Differ(double a, double b);
bool Vary(const std::vector<double>& losses);

// The number of best trials: the share `gamma` of `trials`, rounded up.
std::size_t TopTrials(std::size_t trials, double gamma);

// For each axis, the divergence of the best trials from all, weighted by their share squared; to be read in proportion
// to one another. `losses`: one per trial, finite.
std::vector<double> PedAnova(const std::vector<ImportanceAxis>& axes, const std::vector<double>& losses,
                             double gamma = kTopShare);

struct GridEffects {
  std::vector<double> shares;  // of each axis; with `interaction` they sum to 1
  double interaction = 0;      // what no axis explains alone

  bool operator==(const GridEffects&) const = default;
};

// If every combination of the axes' values occurs, and all equally often. Nothing otherwise, and if the means do
// not vary. Repeated trials of a combination count with their mean.
std::optional<GridEffects> GridMeans(const std::vector<ImportanceAxis>& axes, const std::vector<double>& losses);

// What distinguishes the best trials of a sweep from all of them, as short texts. Pure.

struct Distinction {
  std::string name;
  std::string best;  // "0.0003 to 0.003", "adam in 9 of 10"
  std::string all;

  bool operator==(const Distinction&) const = default;
};

// The rows of the best trials, the best first: the share `gamma`, at least two, and those as good as the last of them.
// All if there are fewer than kMinTrials.
std::vector<std::size_t> BestTrials(const std::vector<double>& losses, double gamma = kTopShare);

// Of the parameters in which the best trials differ clearly from all: their numbers are within less than half of the
// range, or a choice is at least half more frequent among them and has more than half of them. `texts`: by axis, the
// texts of its choices. Empty if the best trials are more than half of all.
std::vector<Distinction> Distinctions(const std::vector<ImportanceAxis>& axes,
                                      const std::vector<std::vector<std::string>>& texts,
                                      const std::vector<double>& losses, double gamma = kTopShare);

}  // namespace muster
