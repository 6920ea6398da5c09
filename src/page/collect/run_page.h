// Collects the page of one run: its processes over time, its plan, its use of processors and memory, its first
// failure, its metrics.
#pragma once

#include <string>

#include "muster/result.h"
#include "page/collect/page_content.h"

namespace muster {

// Collects the page of one run: its processes over time, its start-up, its first failure, its plan, and last lines of
// logs. From the run directory alone; shows nothing that the report or the printed plan hides.

// Fails as MakeReport.
Result<void> AddRun(const std::string& run_dir, PageContent& page);

}  // namespace muster
