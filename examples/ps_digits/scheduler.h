// The scheduler: gathers the processes, gives them ranks, tells workers where the servers are, and stays until
// all have unregistered. It sees no weights and no data.
#pragma once

#include "ps_digits/cluster_settings.h"
#include "ps_digits/failure.h"

namespace ps_digits {

Result<void> RunScheduler(const ClusterSettings& settings);

}  // namespace ps_digits
