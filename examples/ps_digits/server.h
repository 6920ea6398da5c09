// A parameter server: holds some rows of the weights, answers pulls and takes pushes of all workers. It reads
// no data, and learns from the workers how to train.
#pragma once

#include "ps_digits/cluster_settings.h"
#include "ps_digits/failure.h"

namespace ps_digits {

Result<void> RunServer(const ClusterSettings& settings);

}  // namespace ps_digits
