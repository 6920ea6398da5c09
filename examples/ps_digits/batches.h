// Assigns training images to steps and workers. The order of all images and the minibatches depend only on the number
// of images, so any number of workers trains the same model (up to rounding): each worker computes its slice of every
// minibatch. Handles indices only.
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
