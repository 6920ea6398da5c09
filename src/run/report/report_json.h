// Dumps as JSON (docs/run_directory.md), and the schemas of reports and dumps.
#pragma once

#include <string>

#include "run/report/dump_report.h"

namespace muster {

// One element of `dumps` in report.json.
std::string DumpJson(const DumpReport& dump);

// The output of muster dump --json, newline included.
std::string DumpJsonText(const std::string& run_dir, const DumpReport& dump);

// Schemas (wire/archive/json_schema.h) of report.json, and of dumps: with the run's directory, or as in reports.
std::string ReportSchema();
std::string DumpSchema(bool of_run);

}  // namespace muster
