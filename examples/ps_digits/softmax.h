// Softmax regression: the mathematics, for a plain vector of weights. Independent of servers and workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ps_digits/dataset.h"

namespace ps_digits {

// One row of kClasses weights per pixel and a last row for the bias.
inline constexpr std::size_t kWeightRows = kPixels + 1;
inline constexpr std::size_t kWeightCount = kWeightRows * kClasses;

struct GradientSum {
  std::vector<double> values = std::vector<double>(kWeightCount);  // summed over images, not averaged
  double loss = 0;                                                 // likewise
};

// Adds one image's cross-entropy loss, and the gradient. With `smoothing` the latter is that of targets which have this
// share spread evenly over all digits.
void AddGradient(std::span<const double> weights, const Image& image, GradientSum& sum, double smoothing = 0);

double Loss(std::span<const double> weights, const Image& image);

std::size_t Predict(std::span<const double> weights, const Image& image);

// The fraction of images whose digit is predicted.
double Accuracy(std::span<const double> weights, std::span<const Image> images);

}  // namespace ps_digits
