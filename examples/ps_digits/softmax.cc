// See softmax.h.
#include "ps_digits/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ps_digits {
namespace {

using Scores = std::array<double, kClasses>;

Scores ClassScores(std::span<const double> weights, const Image& image) {
  Scores scores;
  std::copy_n(weights.begin() + kPixels * kClasses, kClasses, scores.begin());
  for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
    const double value = image.pixels[pixel];
    const double* row = weights.data() + pixel * kClasses;
    for (std::size_t c = 0; c < kClasses; ++c) scores[c] += value * row[c];
  }
  return scores;
}

// Converts scores to probabilities; returns the logarithm of their sum. Subtracts the largest score first, which keeps
// exp() from overflowing.
double Normalise(Scores& scores) {
  const double top = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) {
    score = std::exp(score - top);
    sum += score;
  }
  for (double& score : scores) score /= sum;
  return top + std::log(sum);
}

}  // namespace

void AddGradient(std::span<const double> weights, const Image& image, GradientSum& sum, double smoothing) {
  Scores scores = ClassScores(weights, image);
  const double wanted_score = scores[image.digit];
  sum.loss += Normalise(scores) - wanted_score;
  for (double& score : scores) score -= smoothing / kClasses;
  scores[image.digit] -= 1 - smoothing;
  for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
    const double value = image.pixels[pixel];
    double* row = sum.values.data() + pixel * kClasses;
    for (std::size_t c = 0; c < kClasses; ++c) row[c] += value * scores[c];
  }
  double* bias = sum.values.data() + kPixels * kClasses;
  for (std::size_t c = 0; c < kClasses; ++c) bias[c] += scores[c];
}

double Loss(std::span<const double> weights, const Image& image) {
  Scores scores = ClassScores(weights, image);
  const double wanted_score = scores[image.digit];
  return Normalise(scores) - wanted_score;
}

std::size_t Predict(std::span<const double> weights, const Image& image) {
  const Scores scores = ClassScores(weights, image);
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

double Accuracy(std::span<const double> weights, std::span<const Image> images) {
  const auto right =
      std::count_if(images.begin(), images.end(), [&](const Image& i) { return Predict(weights, i) == i.digit; });
  return static_cast<double>(right) / static_cast<double>(images.size());
}

}  // namespace ps_digits
