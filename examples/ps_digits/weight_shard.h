// The weights on one server and the synchronous training step: it is performed when every worker has contributed, and
// sums in rank order, so the result does not depend on the order of arrival. Independent of the network.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ps_digits/failure.h"
#include "ps_digits/sharding.h"

namespace ps_digits {

struct Contribution {
  std::uint64_t image_count = 0;
  double loss = 0;               // summed over the images
  std::vector<double> gradient;  // likewise, this server's rows only
};

class WeightShard {
 public:
  // `weights`: those to begin with, of these rows; empty: zeros.
  WeightShard(Range rows, std::uint32_t worker_num, std::vector<double> weights = {});

  // True if this was the last contribution and the step has been performed.
  Result<bool> Add(std::uint32_t rank, std::uint64_t step, Contribution contribution, double learning_rate);

  std::uint64_t step() const { return step_; }     // steps taken
  double last_loss() const { return last_loss_; }  // mean loss of the images of the step before
  bool collecting() const { return present_ > 0; }
  const Range& rows() const { return rows_; }
  const std::vector<double>& weights() const { return weights_; }

 private:
  void TakeStep(double learning_rate);

  Range rows_;
  std::vector<double> weights_;
  std::vector<std::optional<Contribution>> contributions_;  // by rank
  std::size_t present_ = 0;
  std::uint64_t step_ = 0;
  double last_loss_ = 0;
};

}  // namespace ps_digits
