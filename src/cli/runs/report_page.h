// Writes the page of runs and sweeps: muster report --html.
#pragma once

#include <string>
#include <vector>

namespace muster {

struct Report;

// The words name runs, sweeps or trials; without one, the newest. `file`: "-" is stdout; an existing file is replaced
// as a whole. The exit code.
int WriteReportPage(const std::vector<std::string>& words, const std::string& file);

// Prints an error for each log that its report could not read; whether there is none.
bool PrintUnreadableLogs(const Report& report);

}  // namespace muster
