// Writes the report of a run to files in its directory when the run has ended.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "muster/diagnostic.h"
#include "run/report/report.h"

namespace muster {

struct ReportFiles {
  std::optional<Report> report;  // empty if the run directory cannot be read back
  Diagnostics problems;          // files that could not be written
};

// Writes report.json and report.txt of the ended run, made from its directory like any other report; `plan` as for
// MakeReport.
ReportFiles WriteReportFiles(int folder, const std::string& run_dir, std::shared_ptr<const Plan> plan = nullptr);

}  // namespace muster
