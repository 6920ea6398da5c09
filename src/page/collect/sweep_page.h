// Collects the page of a sweep: its trials with parameters, results and curves, what ran where, failures, rungs and the
// importance of parameters. Reads the directory of the sweep and those of its trials; writes nothing.
#pragma once

#include <string>

#include "muster/result.h"
#include "page/collect/page_content.h"

namespace muster {

// Adds the sweep as a further source of the page. Fails as SweepView::Open and ReadSweepFile do.
Result<void> AddSweep(const std::string& sweep_dir, PageContent& page);

}  // namespace muster
