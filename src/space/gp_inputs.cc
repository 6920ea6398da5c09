#include "space/gp_inputs.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace muster {

RowsOf::RowsOf(const std::vector<const LearnedTrial*>& trials, std::size_t dimensions) : columns_(dimensions) {
  for (const LearnedTrial* trial : trials) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const Cell& cell = trial->cells[d];
      if (cell.exists && !cell.ordered) columns_[d].names.emplace(cell.low, 0);
    }
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    columns_[d].first = dimension_of_.size();
    std::size_t name = 0;
    for (auto& [low, number] : columns_[d].names) number = name++;
    dimension_of_.insert(dimension_of_.end(), columns_[d].names.empty() ? 1 : name + 1, d);
  }
}

void RowsOf::Add(const std::vector<Cell>& cells, std::vector<double>& numbers) const {
  const std::size_t first = numbers.size();
  numbers.resize(first + dimension_of_.size(), 0.0);
  for (std::size_t d = 0; d < cells.size(); ++d) {
    const Column& column = columns_[d];
    double* number = &numbers[first + column.first];
    if (column.names.empty()) {
      *number = cells[d].exists ? cells[d].centre : 0.5;
    } else if (cells[d].exists) {
      const auto name = column.names.find(cells[d].low);
      number[name == column.names.end() ? column.names.size() : name->second] = std::numbers::sqrt2 / 2;
    }
  }
}

void CompressWorse(std::vector<double>& losses) {
  if (losses.empty()) return;
  std::vector<double> sorted = losses;
  std::sort(sorted.begin(), sorted.end());
  const double middle = sorted[sorted.size() / 2];
  const double scale = middle - sorted.front();
  if (!(scale > 0)) return;
  for (double& loss : losses) {
    if (loss > middle) loss = middle + scale * std::log1p((loss - middle) / scale);
  }
}

Moments Standardise(std::vector<double>& numbers) {
  Moments had;
  for (const double number : numbers) had.mean += number / static_cast<double>(numbers.size());
  double variance = 0;
  for (const double number : numbers) {
    variance += (number - had.mean) * (number - had.mean) / static_cast<double>(numbers.size());
  }
  if (variance > 0 && std::isfinite(variance)) had.deviation = std::sqrt(variance);
  for (double& number : numbers) number = (number - had.mean) / had.deviation;
  return had;
}

std::vector<std::size_t> FittedPlaces(std::size_t results) {
  constexpr std::size_t kMaxFitted = 150;
  constexpr std::size_t kBest = kMaxFitted / 3;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < std::min(results, kMaxFitted); ++i) {
    places.push_back(
        i < kBest || results <= kMaxFitted ? i : kBest + (i - kBest) * (results - kBest) / (kMaxFitted - kBest));
  }
  return places;
}

}  // namespace muster
