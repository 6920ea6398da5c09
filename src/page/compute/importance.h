// How much each parameter of a sweep decides about the result. Pure.
//
//   PED-ANOVA (Watanabe, Bansal, Hutter 2023, arXiv 2304.10255): compares the density of a parameter among the best
//   trials with its density among all. Kernels by Scott's rule on a grid, and a prior of weight 1, as in Optuna.
//   Means of a complete grid: the shares of the variance (analysis of variance with one trial per cell).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster {

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
inline constexpr std::size_t kLeastTrials = 5;

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

}  // namespace muster
