// Regression by a Gaussian process: what a loss is expected to be between the points where it is known, and how certain
// that is (Rasmussen, Williams: Gaussian Processes for Machine Learning, 2006). Pure; the arithmetic has a fixed order.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace muster {

// Points as rows of numbers. Each number belongs to a dimension, and all of a dimension share its length: one number
// for an ordered dimension, one for each name of an unordered one, of which one is √½, so that two names are at
// distance 1.
struct GpRows {
  std::vector<std::size_t> dimension_of;  // of each number
  std::vector<double> numbers = {};       // row after row

  std::size_t dimensions() const { return dimension_of.empty() ? 0 : dimension_of.back() + 1; }
  std::size_t width() const { return dimension_of.size(); }
  std::size_t size() const { return dimension_of.empty() ? 0 : numbers.size() / dimension_of.size(); }
};

// Of the kernel, Matérn 5/2 with a length for each dimension, and of the noise, in units of the losses.
struct GpScales {
  std::vector<double> lengths;
  double variance = 1;
  double noise = 1e-2;  // a variance
};
inline constexpr double kLeastGpNoise = 1e-8;

// The logarithm of the posterior density of the scales, but for a constant: of the losses (mean 0, variance 1), and a
// prior that prefers lengths near the range of a dimension and little noise. The scales are given by their logarithms:
// of 1/length² by dimension, of the variance, and of the noise less its least. Its gradient is by these. -∞ if the
// numbers cannot be computed with.
double LogPosteriorOf(const GpRows& rows, const std::vector<double>& losses, const std::vector<double>& log_scales,
                      std::vector<double>* gradient);

// The scales for which it is the greatest near the prior's.
GpScales FitScales(const GpRows& rows, const std::vector<double>& losses);

// The least value of a function in a box, from a start within it: L-BFGS (Nocedal, Wright: Numerical Optimization,
// 2006), of which steps end at the sides of the box. The function sets its gradient; not finite: no such place.
using Minimized = std::function<double(const std::vector<double>& x, std::vector<double>& gradient)>;
std::vector<double> MinimizeInBox(const Minimized& function, std::vector<double> start, double low, double high,
                                  std::size_t steps);

// The logarithm of the expected improvement by z standard deviations: log(φ(z) + zΦ(z)), and its derivative, exact far
// into the tail (Ament et al.: Unexpected Improvements to Expected Improvement for Bayesian Optimization, NeurIPS
// 2023).
struct Sloped {
  double value;
  double slope;
};
Sloped LogImprovementOf(double z);
// log Φ(z), likewise.
Sloped LogNormalBelow(double z);

class GaussianProcess {
 public:
  // `rows`: those with losses, then those of which nothing is known but that it will be; the latter make predictions
  // near them certain and change no mean. `losses` have mean 0. `repeats`: how many results each loss is the mean of,
  // which divides its noise; empty: one each.
  GaussianProcess(GpRows rows, const std::vector<double>& losses, GpScales scales,
                  const std::vector<double>& repeats = {});
  GaussianProcess(GaussianProcess&&) noexcept;
  ~GaussianProcess();

  struct Prediction {
    double mean = 0;
    double deviation = 0;  // without the noise
  };
  std::vector<Prediction> At(const GpRows& rows) const;
  // One row, with the gradients of mean and deviation by its numbers.
  Prediction At(const std::vector<double>& row, std::vector<double>& mean_slope,
                std::vector<double>& deviation_slope) const;
  // The least mean at the rows with losses.
  double least_mean() const;
  const GpScales& scales() const;

 private:
  struct Solved;
  std::unique_ptr<Solved> solved_;
};

// By how much a result with these predictions is expected to enlarge the area that the results so far dominate, up to a
// corner that is a tenth of their front's size worse than its ends; at least a tenth of a standard deviation.
class HypervolumeImprovement {
 public:
  // Results of two losses, of which those that no other one dominates matter; at least one.
  explicit HypervolumeImprovement(const std::vector<std::pair<double, double>>& losses);

  struct Result {
    double value = 0;  // the logarithm
    std::array<double, 2> by_mean = {};
    std::array<double, 2> by_deviation = {};
  };
  Result At(const GaussianProcess::Prediction& first, const GaussianProcess::Prediction& second) const;

 private:
  // The front between -∞ and the corner: up to a first loss, what is not dominated is below a second one.
  std::vector<std::pair<double, double>> strips_;
};

}  // namespace muster
