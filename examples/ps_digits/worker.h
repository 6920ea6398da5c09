// A worker: pulls the weights, computes the gradient of its part of each minibatch, pushes it. Worker 0 also prints the
// progress. Handles the data and the servers; independent of other workers.
#pragma once

#include "ps_digits/cluster_settings.h"
#include "ps_digits/failure.h"
#include "ps_digits/options.h"

namespace ps_digits {

Result<void> RunWorker(const ClusterSettings& settings, const Options& options);

}  // namespace ps_digits
