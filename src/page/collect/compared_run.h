// Adds a run as one row of a page that compares several: its parameters, last metrics and curves.
#pragma once

#include <string>

#include "muster/result.h"
#include "page/collect/page_content.h"

namespace muster {

// Fails as MakeReport.
Result<void> AddComparedRun(const std::string& run_dir, PageContent& page);

}  // namespace muster
