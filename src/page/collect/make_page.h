// Collects the page of a run, a sweep, or several of them, of which each run is one row.
#pragma once

#include <string>
#include <vector>

#include "muster/result.h"
#include "page/collect/page_content.h"
#include "sweep/index/sweep_view.h"

namespace muster {

// Collects the page of a run, a sweep, or several of them.

// One run: its processes. Otherwise the trials of all sweeps and the runs as rows, with what differs. Fails as
// AddSweep, and as MakeReport does for a run.
Result<PageContent> MakePage(const std::vector<NamedRunOrSweep>& folders);

}  // namespace muster
