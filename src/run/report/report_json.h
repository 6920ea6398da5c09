// Dumps as JSON (docs/run_directory.md).
#pragma once

#include <string>

#include "run/report/dump_report.h"

namespace muster {

// One element of `dumps` in report.json.
std::string DumpJson(const DumpReport& dump);

// The output of muster dump --json, newline included.
std::string DumpJsonText(const std::string& run_dir, const DumpReport& dump);

}  // namespace muster
