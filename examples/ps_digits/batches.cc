// See batches.h.
#include "ps_digits/batches.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace ps_digits {
namespace {

constexpr std::uint64_t kImageSeed = 19980701;  // arbitrary, but fixed, so that runs are reproducible

// std::shuffle may differ between standard libraries; the engine itself is defined by the standard.
std::vector<std::size_t> Permutation(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 engine(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[engine() % i]);
  return order;
}

}  // namespace

std::vector<std::size_t> ImageOrder(std::size_t count) { return Permutation(count, kImageSeed); }

std::vector<Range> CutBatches(std::size_t image_count, std::size_t batch_size) {
  std::vector<Range> batches;
  for (std::size_t begin = 0; begin < image_count; begin += batch_size) {
    batches.push_back({begin, std::min(begin + batch_size, image_count)});
  }
  return batches;
}

std::vector<std::size_t> BatchOrder(std::size_t batch_count, std::uint32_t epoch) {
  return Permutation(batch_count, epoch);
}

Range WorkerSlice(const Range& batch, std::uint32_t worker_num, std::uint32_t rank) {
  const Range slice = ShardRange(batch.size(), worker_num, rank);
  return {batch.begin + slice.begin, batch.begin + slice.end};
}

}  // namespace ps_digits
