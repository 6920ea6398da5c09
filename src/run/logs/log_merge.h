// Merges logs into one stream, ordered by when their lines were complete, as far as known
// (run/directory/log_time_reader.h).
//
// Depends on files and times. Holds at most a few blocks of each log in memory, and one descriptor at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "run/logs/line_cutter.h"
#include "run/logs/log_follower.h"

namespace muster {

// Bytes of a log of the folder to be shown.
struct LogSpan {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Emits the lines of all spans, lines of equal times in the spans' order; `emit` returns whether to continue. Logs
// without known times come first. Unfinished lines at the ends are emitted too, unless `rest` is not null: then it
// gets, for each span, the state for continuing its log. `dropped` is called for bytes of a span that the log's limit
// dropped meanwhile.
using EmitMerged = std::function<bool(std::size_t span, std::string_view piece, bool continues)>;
using ReportedDropped = std::function<void(std::size_t span, std::uint64_t bytes)>;
void MergeLogs(int logs_folder, const std::vector<LogSpan>& spans, const EmitMerged& emit,
               const ReportedDropped& dropped, std::vector<LineCutter>* rest = nullptr);

}  // namespace muster
