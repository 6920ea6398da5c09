#include "space/gaussian_process.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

// The only file with Eigen, which takes long to compile. No threads, and blocks of the same size on every processor:
// sums are of the same order everywhere.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace muster {
namespace {

using Eigen::ArrayXXd;
using Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

void FixBlocks() {
  static const bool fixed = [] {
    Eigen::setCpuCacheSizes(std::ptrdiff_t{32} << 10U, std::ptrdiff_t{512} << 10U, std::ptrdiff_t{4} << 20U);
    return true;
  }();
  static_cast<void>(fixed);
}

Matrix MatrixOf(const GpRows& rows) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(rows.numbers.data(), static_cast<Eigen::Index>(rows.size()),
                                    static_cast<Eigen::Index>(rows.width()));
}

VectorXd VectorOf(const std::vector<double>& numbers) {
  return Eigen::Map<const VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

// The squares of the distances between rows, of which each number is divided by its length.
ArrayXXd SquaresBetween(const Matrix& one, const Matrix& other) {
  Matrix squares = -2 * one * other.transpose();
  squares.colwise() += one.rowwise().squaredNorm();
  squares.rowwise() += other.rowwise().squaredNorm().transpose();
  return squares.array().max(0.0);
}

// Matérn 5/2, and -2 times its derivative by the square of the distance.
struct Kernel {
  ArrayXXd values, slopes;
};
Kernel KernelOf(const ArrayXXd& squares, double variance) {
  const ArrayXXd roots = (5 * squares).sqrt();
  const ArrayXXd decay = variance * (-roots).exp();
  return {decay * (1 + roots + (5.0 / 3) * squares), decay * (1 + roots) * (5.0 / 3)};
}

VectorXd RootsByNumber(const GpRows& rows, const std::vector<double>& inverse_squares) {
  VectorXd roots(static_cast<Eigen::Index>(rows.width()));
  for (std::size_t i = 0; i < rows.width(); ++i) {
    roots[static_cast<Eigen::Index>(i)] = std::sqrt(inverse_squares[rows.dimension_of[i]]);
  }
  return roots;
}

// The priors: heuristics of Optuna's GPSampler (optuna/_gp/prior.py), which keep lengths between a third of the range
// and three times it unless the losses say otherwise.
constexpr double kLengthPrior = 0.1;
constexpr double kNoiseRate = 30;

constexpr double kLeastLog = -20;  // of scales
constexpr double kMostLog = 12;

}  // namespace

double LogPosteriorOf(const GpRows& rows, const std::vector<double>& losses, const std::vector<double>& log_scales,
                      std::vector<double>* gradient) {
  FixBlocks();
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  const std::size_t dimensions = rows.dimensions();
  std::vector<double> scales;
  for (const double log : log_scales) scales.push_back(std::exp(log));
  const double variance = scales[dimensions];
  const double noise = scales[dimensions + 1];
  const Matrix scaled = MatrixOf(rows) * RootsByNumber(rows, scales).asDiagonal();
  const Kernel kernel = KernelOf(SquaresBetween(scaled, scaled), variance);
  Matrix covariance = kernel.values.matrix();
  covariance.diagonal().setConstant(variance + kLeastGpNoise + noise);
  const Eigen::LLT<Matrix> factor(covariance);
  if (factor.info() != Eigen::Success) return kNone;
  const VectorXd target = VectorOf(losses);
  const VectorXd weights = factor.solve(target);
  double density = -0.5 * target.dot(weights) - factor.matrixLLT().diagonal().array().log().sum();
  for (std::size_t d = 0; d < dimensions; ++d) density -= kLengthPrior * (1 / scales[d] + scales[d]);
  density += std::log(variance) - variance;  // a gamma distribution of shape 2
  density += kLengthPrior * std::log(kLeastGpNoise + noise) - kNoiseRate * noise;
  if (!std::isfinite(density)) return kNone;
  if (gradient == nullptr) return density;

  // Of the covariance: by a number θ it changes by ½ tr(A dK/dθ).
  Matrix change = -factor.solve(Matrix::Identity(covariance.rows(), covariance.cols()));
  change.noalias() += weights * weights.transpose();
  gradient->assign(log_scales.size(), 0.0);
  const Matrix sloped = (change.array() * kernel.slopes).matrix();
  const VectorXd sums = sloped.rowwise().sum();
  const Matrix products = sloped * scaled;
  for (std::size_t i = 0; i < rows.width(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const double squares =
        2 * (sums.dot(scaled.col(column).cwiseAbs2()) - products.col(column).dot(scaled.col(column)));
    (*gradient)[rows.dimension_of[i]] -= 0.25 * squares;
  }
  for (std::size_t d = 0; d < dimensions; ++d) (*gradient)[d] += kLengthPrior * (1 / scales[d] - scales[d]);
  (*gradient)[dimensions] = 0.5 * (change.array() * kernel.values).sum() + 1 - variance;
  // The values above have the noise-free variance on the diagonal.
  (*gradient)[dimensions + 1] = noise * (0.5 * change.trace() + kLengthPrior / (kLeastGpNoise + noise) - kNoiseRate);
  return density;
}

GpScales FitScales(const GpRows& rows, const std::vector<double>& losses) {
  const std::size_t dimensions = rows.dimensions();
  const Minimized function = [&](const std::vector<double>& x, std::vector<double>& gradient) {
    const double density = LogPosteriorOf(rows, losses, x, &gradient);
    for (double& slope : gradient) slope = -slope;
    return -density;
  };
  constexpr std::size_t kSteps = 60;
  std::vector<double> best;
  double best_density = -std::numeric_limits<double>::infinity();
  for (const double inverse_square : {1.0, 16.0}) {
    std::vector<double> start(dimensions + 2, std::log(inverse_square));
    start[dimensions] = 0;
    start[dimensions + 1] = std::log(1e-2);
    std::vector<double> found = MinimizeInBox(function, std::move(start), kLeastLog, kMostLog, kSteps);
    const double density = LogPosteriorOf(rows, losses, found, nullptr);
    if (!best.empty() && density <= best_density) continue;
    best = std::move(found);
    best_density = density;
  }
  GpScales scales;
  for (std::size_t d = 0; d < dimensions; ++d) scales.lengths.push_back(std::exp(-best[d] / 2));
  scales.variance = std::exp(best[dimensions]);
  scales.noise = kLeastGpNoise + std::exp(best[dimensions + 1]);
  return scales;
}

std::vector<double> MinimizeInBox(const Minimized& function, std::vector<double> start, double low, double high,
                                  std::size_t steps) {
  constexpr std::size_t kMemory = 8;
  constexpr double kFlat = 1e-7;
  constexpr int kMaxHalvings = 20;
  VectorXd x = VectorOf(start);
  std::vector<double> slopes;
  const auto evaluate = [&](const VectorXd& at, VectorXd& gradient) {
    const double value = function(std::vector<double>(at.data(), at.data() + at.size()), slopes);
    if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
    gradient = VectorOf(slopes);
    return gradient.allFinite() ? value : std::numeric_limits<double>::infinity();
  };
  VectorXd gradient;
  double value = evaluate(x, gradient);
  if (!std::isfinite(value)) return start;
  struct Pair {
    VectorXd step, change;
  };
  std::deque<Pair> pairs;
  for (std::size_t i = 0; i < steps; ++i) {
    // What presses against a side stays there.
    const auto free = [&](const VectorXd& vector) {
      VectorXd kept = vector;
      for (Eigen::Index k = 0; k < x.size(); ++k) {
        if ((x[k] <= low && gradient[k] > 0) || (x[k] >= high && gradient[k] < 0)) kept[k] = 0;
      }
      return kept;
    };
    const VectorXd pull = free(gradient);
    if (pull.lpNorm<Eigen::Infinity>() < kFlat) break;
    VectorXd direction = pull;
    std::vector<double> factors(pairs.size());
    for (std::size_t k = pairs.size(); k-- > 0;) {
      factors[k] = pairs[k].step.dot(direction) / pairs[k].step.dot(pairs[k].change);
      direction -= factors[k] * pairs[k].change;
    }
    if (!pairs.empty()) {
      direction *= pairs.back().step.dot(pairs.back().change) / pairs.back().change.squaredNorm();
    } else {
      direction *= std::min(1.0, 0.1 * (high - low) / direction.norm());
    }
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      const double back = pairs[k].change.dot(direction) / pairs[k].step.dot(pairs[k].change);
      direction += (factors[k] - back) * pairs[k].step;
    }
    direction = free(direction);
    if (direction.dot(pull) <= 0) {
      pairs.clear();
      direction = pull * std::min(1.0, 0.1 * (high - low) / pull.norm());
    }
    VectorXd next_gradient;
    VectorXd next;
    double next_value = std::numeric_limits<double>::infinity();
    double length = 1;
    int halvings = 0;
    for (; halvings < kMaxHalvings; ++halvings, length *= halvings < 3 ? 0.5 : 0.2) {
      next = (x - length * direction).cwiseMax(low).cwiseMin(high);
      next_value = evaluate(next, next_gradient);
      if (next_value <= value - 1e-4 * gradient.dot(x - next)) break;
    }
    if (halvings == kMaxHalvings) {
      if (pairs.empty()) break;
      pairs.clear();
      continue;
    }
    Pair pair{next - x, next_gradient - gradient};
    const bool still = value - next_value <= 1e-9 * std::max(1.0, std::abs(value));
    if (pair.step.dot(pair.change) > 1e-12 * pair.change.squaredNorm()) {
      pairs.push_back(std::move(pair));
      if (pairs.size() > kMemory) pairs.pop_front();
    }
    x = next;
    value = next_value;
    gradient = next_gradient;
    if (still) break;
  }
  return {x.data(), x.data() + x.size()};
}

namespace {

double LogNormalDensity(double z) { return -0.5 * z * z - 0.5 * std::log(2 * std::numbers::pi); }

// For z up to -1: Φ(z)/φ(z), and 1 - |z| times this.
struct Mills {
  double ratio;
  double rest;
};
Mills MillsOf(double z) {
  constexpr double kFar = -20;
  if (z > kFar) {
    const double ratio = std::sqrt(std::numbers::pi / 2) * std::exp(0.5 * z * z) * std::erfc(-z / std::numbers::sqrt2);
    return {ratio, 1 + z * ratio};
  }
  const double s = 1 / (z * z);
  const double rest = s * (1 - s * (3 - s * (15 - s * (105 - s * (945 - s * 10395)))));
  return {(1 - rest) / -z, rest};
}

}  // namespace

Sloped LogImprovementOf(double z) {
  if (z > -1) {
    const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    const double improvement = std::exp(LogNormalDensity(z)) + z * below;
    return {std::log(improvement), below / improvement};
  }
  const Mills mills = MillsOf(z);  // φ(z) + zΦ(z) = φ(z)(1 - |z|·Φ(z)/φ(z))
  return {LogNormalDensity(z) + std::log(mills.rest), mills.ratio / mills.rest};
}

Sloped LogNormalBelow(double z) {
  if (z > -1) {
    const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    return {std::log(below), std::exp(LogNormalDensity(z)) / below};
  }
  const double ratio = MillsOf(z).ratio;
  return {LogNormalDensity(z) + std::log(ratio), 1 / ratio};
}

HypervolumeImprovement::HypervolumeImprovement(const std::vector<std::pair<double, double>>& losses) {
  std::vector<std::pair<double, double>> sorted = losses;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::pair<double, double>> front;
  for (const auto& each : sorted) {
    if (front.empty() || each.second < front.back().second) front.push_back(each);
  }
  constexpr double kMargin = 0.1;
  const double width = front.back().first - front.front().first;
  const double height = front.front().second - front.back().second;
  double below = front.front().second + kMargin * std::max(height, 1.0);
  for (const auto& [first, second] : front) {
    strips_.emplace_back(first, below);
    below = second;
  }
  strips_.emplace_back(front.back().first + kMargin * std::max(width, 1.0), below);
}

// The sum over the strips of ∫P(first ≤ u)du over the strip times ∫P(second ≤ v)dv below it. The integral of P(Y ≤ u)
// up to c is the expected improvement of c.
HypervolumeImprovement::Result HypervolumeImprovement::At(const GaussianProcess::Prediction& first,
                                                          const GaussianProcess::Prediction& second) const {
  struct Term {
    double log = 0;
    double by_mean = 0;
    double by_deviation = 0;
  };
  const auto improvement = [](const GaussianProcess::Prediction& of, double bound) {
    const double z = (bound - of.mean) / of.deviation;
    const Sloped h = LogImprovementOf(z);
    return Term{h.value + std::log(of.deviation), -h.slope / of.deviation, (1 - h.slope * z) / of.deviation};
  };
  std::vector<std::pair<Term, Term>> terms;
  std::optional<Term> before;
  double most = -std::numeric_limits<double>::infinity();
  for (const auto& [bound, below] : strips_) {
    const Term up_to = improvement(first, bound);
    Term strip = up_to;
    if (before) {
      const double share = std::exp(before->log - up_to.log);
      constexpr double kLeast = 1e-12;
      if (!(1 - share > kLeast)) continue;
      strip.log += std::log1p(-share);
      strip.by_mean = (up_to.by_mean - share * before->by_mean) / (1 - share);
      strip.by_deviation = (up_to.by_deviation - share * before->by_deviation) / (1 - share);
    }
    before = up_to;
    terms.emplace_back(strip, improvement(second, below));
    most = std::max(most, terms.back().first.log + terms.back().second.log);
  }
  Result result;
  double sum = 0;
  for (const auto& [strip, depth] : terms) {
    const double weight = std::exp(strip.log + depth.log - most);
    sum += weight;
    result.by_mean[0] += weight * strip.by_mean;
    result.by_mean[1] += weight * depth.by_mean;
    result.by_deviation[0] += weight * strip.by_deviation;
    result.by_deviation[1] += weight * depth.by_deviation;
  }
  result.value = most + std::log(sum);
  for (auto* slopes : {&result.by_mean, &result.by_deviation}) {
    for (double& slope : *slopes) slope /= sum;
  }
  return result;
}

struct GaussianProcess::Solved {
  GpRows rows;
  GpScales scales;
  VectorXd roots;  // by number
  Matrix scaled;
  Matrix lower;
  VectorXd weights;  // of the rows with losses
  double least_mean = 0;
};

GaussianProcess::GaussianProcess(GpRows rows, const std::vector<double>& losses, GpScales scales,
                                 const std::vector<double>& repeats)
    : solved_(std::make_unique<Solved>()) {
  FixBlocks();
  Solved& solved = *solved_;
  solved.rows = std::move(rows);
  solved.scales = std::move(scales);
  std::vector<double> inverse_squares;
  for (const double length : solved.scales.lengths) inverse_squares.push_back(1 / (length * length));
  solved.roots = RootsByNumber(solved.rows, inverse_squares);
  solved.scaled = MatrixOf(solved.rows) * solved.roots.asDiagonal();
  Matrix covariance = KernelOf(SquaresBetween(solved.scaled, solved.scaled), solved.scales.variance).values.matrix();
  const Matrix without_noise = covariance;
  double noise = solved.scales.noise;
  for (int attempt = 0; attempt < 6; ++attempt, noise *= 10) {
    covariance.diagonal().setConstant(solved.scales.variance + noise);
    for (std::size_t i = 0; i < repeats.size(); ++i) {
      covariance.diagonal()[static_cast<Eigen::Index>(i)] = solved.scales.variance + noise / repeats[i];
    }
    Eigen::LLT<Matrix> factor(covariance);
    if (factor.info() != Eigen::Success) continue;
    solved.lower = factor.matrixL();
    break;
  }
  const auto known = static_cast<Eigen::Index>(losses.size());
  const auto of_known = solved.lower.topLeftCorner(known, known);
  solved.weights = of_known.triangularView<Eigen::Lower>().solve(VectorOf(losses));
  of_known.transpose().triangularView<Eigen::Upper>().solveInPlace(solved.weights);
  if (known > 0) solved.least_mean = (without_noise.topLeftCorner(known, known) * solved.weights).minCoeff();
}
GaussianProcess::GaussianProcess(GaussianProcess&&) noexcept = default;
GaussianProcess::~GaussianProcess() = default;

double GaussianProcess::least_mean() const { return solved_->least_mean; }
const GpScales& GaussianProcess::scales() const { return solved_->scales; }

namespace {

// What rounding may leave of a variance of 0.
constexpr double kLeastShare = 1e-12;

}  // namespace

std::vector<GaussianProcess::Prediction> GaussianProcess::At(const GpRows& rows) const {
  const Solved& solved = *solved_;
  const Matrix scaled = MatrixOf(rows) * solved.roots.asDiagonal();
  Matrix covariance = KernelOf(SquaresBetween(solved.scaled, scaled), solved.scales.variance).values.matrix();
  const VectorXd means = covariance.topRows(solved.weights.size()).transpose() * solved.weights;
  solved.lower.triangularView<Eigen::Lower>().solveInPlace(covariance);
  std::vector<Prediction> predictions;
  for (Eigen::Index i = 0; i < means.size(); ++i) {
    const double variance = solved.scales.variance - covariance.col(i).squaredNorm();
    predictions.push_back({means[i], std::sqrt(std::max(variance, kLeastShare * solved.scales.variance))});
  }
  return predictions;
}

GaussianProcess::Prediction GaussianProcess::At(const std::vector<double>& row, std::vector<double>& mean_slope,
                                                std::vector<double>& deviation_slope) const {
  const Solved& solved = *solved_;
  const VectorXd scaled = VectorOf(row).cwiseProduct(solved.roots);
  // Computed from differences, which is exact for near points.
  const Matrix apart = solved.scaled.rowwise() - scaled.transpose();
  const Kernel kernel = KernelOf(apart.rowwise().squaredNorm().array(), solved.scales.variance);
  const VectorXd values = kernel.values.col(0).matrix();
  const VectorXd slopes = kernel.slopes.col(0).matrix();
  const Eigen::Index known = solved.weights.size();
  Prediction prediction;
  prediction.mean = values.head(known).dot(solved.weights);
  VectorXd solution = solved.lower.triangularView<Eigen::Lower>().solve(values);
  const double variance = solved.scales.variance - solution.squaredNorm();
  const double least = kLeastShare * solved.scales.variance;
  prediction.deviation = std::sqrt(std::max(variance, least));
  solved.lower.transpose().triangularView<Eigen::Upper>().solveInPlace(solution);
  // By the scaled numbers of the row a kernel changes by its slope times the difference.
  const VectorXd mean_by = apart.topRows(known).transpose() * slopes.head(known).cwiseProduct(solved.weights);
  const VectorXd variance_by = -2 * (apart.transpose() * slopes.cwiseProduct(solution));
  mean_slope.assign(row.size(), 0.0);
  deviation_slope.assign(row.size(), 0.0);
  for (std::size_t i = 0; i < row.size(); ++i) {
    const auto k = static_cast<Eigen::Index>(i);
    mean_slope[i] = mean_by[k] * solved.roots[k];
    if (variance > least) deviation_slope[i] = variance_by[k] * solved.roots[k] / (2 * prediction.deviation);
  }
  return prediction;
}

}  // namespace muster
