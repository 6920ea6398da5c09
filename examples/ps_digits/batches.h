// Which training images belong to which step and worker. The order of all images and the minibatches cut from
// it depend on nothing but their number, so any number of workers trains the same model (up to rounding): a
// worker's part of the data is its slice of every minibatch. Knows indices only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ps_digits/sharding.h"

namespace ps_digits {

// The fixed order in which images are cut into minibatches: a permutation of 0..count-1.
std::vector<std::size_t> ImageOrder(std::size_t count);

// The minibatches of one pass, as ranges of that order; the last one may be smaller.
std::vector<Range> CutBatches(std::size_t image_count, std::size_t batch_size);

// The order in which epoch `epoch` (from 1) visits the minibatches.
std::vector<std::size_t> BatchOrder(std::size_t batch_count, std::uint32_t epoch);

// The part of a minibatch that worker `rank` computes; empty if the batch is smaller than the workers.
Range WorkerSlice(const Range& batch, std::uint32_t worker_num, std::uint32_t rank);

}  // namespace ps_digits
