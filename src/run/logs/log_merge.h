// Logs as one stream, ordered by when their lines were complete, as far as that is known (run/logs/log_time_reader.h).
//
// Knows files and times. Holds a few blocks of each log at most, however large it is, and one descriptor at a time.
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

// Bytes of a log of the folder that are to be shown.
struct LogSpan {
  std::string name;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Gives the lines of all spans, of equal times in the spans' order; `emit` returns whether it wants more. Logs of
// which no times are known come first. Unfinished lines at the ends are given too, unless `rest` is not null: then it
// gets, for each span, the state from which its log goes on. `dropped` is told of bytes of a span that the log's limit
// dropped while others were shown.
using EmitMerged = std::function<bool(std::size_t span, std::string_view piece, bool continues)>;
using ReportedDropped = std::function<void(std::size_t span, std::uint64_t bytes)>;
void MergeLogs(int logs_folder, const std::vector<LogSpan>& spans, const EmitMerged& emit,
               const ReportedDropped& dropped, std::vector<LineCutter>* rest = nullptr);

}  // namespace muster
