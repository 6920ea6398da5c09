// Collects the page of one run: its processes over time, its start-up, its first failure, its plan, and last lines of
// logs. From the run directory alone; shows nothing that the report or the printed plan hides.
#pragma once

#include <string>

#include "muster/result.h"
#include "page/collect/page_content.h"

namespace muster {

// Fails as MakeReport.
Result<void> AddRun(const std::string& run_dir, PageContent& page);

}  // namespace muster
