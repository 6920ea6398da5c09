// The scheduler: waits for all processes, assigns ranks, sends the servers' addresses to workers, and stays until all
// have unregistered. It handles no weights and no data.
#pragma once

#include "ps_digits/cluster_settings.h"
#include "ps_digits/failure.h"

namespace ps_digits {

Result<void> RunScheduler(const ClusterSettings& settings);

}  // namespace ps_digits
