// The report of a run as files of its directory, written when it has ended.
#pragma once

#include <optional>
#include <string>

#include "muster/diagnostic.h"
#include "run/report/report.h"

namespace muster {

struct ReportFiles {
  std::optional<Report> report;  // nothing if the run directory cannot be read back
  Diagnostics problems;          // files that could not be written
};

// report.json and report.txt of the run that has ended, made from its directory as anybody else would make them.
ReportFiles WriteReportFiles(int folder, const std::string& run_dir);

}  // namespace muster
