// Points and losses as numbers for a Gaussian process (gaussian_process.h).
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "space/gaussian_process.h"
#include "space/learning_sampler.h"

namespace muster {

// Points as numbers for the process: an ordered dimension is its coordinate, an unordered one has a number for each
// name that a trial has and one for all others. A dimension that a point does not have is in the middle of all its
// values, so that all those at one place of the others are equally far from it.
class RowsOf {
 public:
  // By the names that the cells of these have.
  RowsOf(const std::vector<const LearnedTrial*>& trials, std::size_t dimensions);

  GpRows Empty() const { return {dimension_of_}; }
  std::size_t width() const { return dimension_of_.size(); }
  std::size_t ColumnOf(std::size_t dimension) const { return columns_[dimension].first; }
  std::size_t DimensionOf(std::size_t column) const { return dimension_of_[column]; }
  void Add(const std::vector<Cell>& cells, std::vector<double>& numbers) const;

 private:
  struct Column {
    std::size_t first = 0;
    std::map<double, std::size_t> names = {};
  };
  std::vector<Column> columns_;
  std::vector<std::size_t> dimension_of_;
};

// Of the worse half, distances from the middle grow as their logarithm: how bad a bad result is would otherwise hide
// the differences among the good ones, in losses over several powers of ten.
void CompressWorse(std::vector<double>& losses);

struct Moments {
  double mean = 0;
  double deviation = 1;
};

// To mean 0 and variance 1; the moments that they had.
Moments Standardise(std::vector<double>& numbers);

// Of so many results, the places by how good they are that the scales of a process are fitted to: at most 150, the best
// ones and some of the others.
std::vector<std::size_t> FittedPlaces(std::size_t results);

}  // namespace muster
