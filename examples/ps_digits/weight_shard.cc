// See weight_shard.h.
#include "ps_digits/weight_shard.h"

#include <string>
#include <utility>

#include "ps_digits/softmax.h"

namespace ps_digits {

WeightShard::WeightShard(Range rows, std::uint32_t worker_num, std::vector<double> weights)
    : rows_(rows), weights_(std::move(weights)), contributions_(worker_num) {
  weights_.resize(rows.size() * kClasses);
}

Result<bool> WeightShard::Add(std::uint32_t rank, std::uint64_t step, Contribution contribution, double learning_rate) {
  if (rank >= contributions_.size()) return Failure{"rank " + std::to_string(rank) + " does not exist"};
  if (step != step_) {
    return Failure{"a gradient for step " + std::to_string(step) + " during step " + std::to_string(step_)};
  }
  if (contribution.gradient.size() != weights_.size()) {
    return Failure{"a gradient of " + std::to_string(contribution.gradient.size()) + " values, want " +
                   std::to_string(weights_.size())};
  }
  if (contributions_[rank]) return Failure{"a second gradient for step " + std::to_string(step)};
  contributions_[rank] = std::move(contribution);
  if (++present_ < contributions_.size()) return false;
  TakeStep(learning_rate);
  return true;
}

void WeightShard::TakeStep(double learning_rate) {
  std::vector<double> sum(weights_.size());
  double image_count = 0;
  double loss = 0;
  for (auto& contribution : contributions_) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += contribution->gradient[i];
    image_count += static_cast<double>(contribution->image_count);
    loss += contribution->loss;
    contribution.reset();
  }
  present_ = 0;
  ++step_;
  if (image_count == 0) return;
  for (std::size_t i = 0; i < sum.size(); ++i) weights_[i] -= learning_rate * sum[i] / image_count;
  last_loss_ = loss / image_count;
}

}  // namespace ps_digits
