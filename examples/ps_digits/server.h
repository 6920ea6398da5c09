// A parameter server: stores some rows of the weights, answers pulls and accepts pushes of all workers. It reads no
// data but the checkpoint that the training continues from, and gets the training settings from the workers.
#pragma once

#include "ps_digits/cluster_settings.h"
#include "ps_digits/failure.h"
#include "ps_digits/options.h"

namespace ps_digits {

Result<void> RunServer(const ClusterSettings& settings, const Options& options);

}  // namespace ps_digits
