// Reads the last lines of a process's log, and finds the line that most likely states why the process failed.
//
// Independent of runs. A log is untrusted; the results are safe for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster {

inline constexpr std::size_t kLastLines = 20;
inline constexpr std::size_t kLastBytes = 64U << 10;

// At most `most` of the last lines in the last `window` bytes, each at most 2,000 bytes, control bytes and invalid
// UTF-8 as \xNN, known secrets as "(hidden)". If carriage returns overwrote a line, its last state. Empty if the file
// cannot be read.
std::vector<std::string> LastLines(int at, const std::string& path, std::size_t most = kLastLines,
                                   std::size_t window = kLastBytes);

// The same for the first `end` bytes of the file.
std::vector<std::string> LastLinesBefore(int at, const std::string& path, std::uint64_t end, std::size_t most,
                                         std::size_t window = kLastBytes);

// The error line: what a sanitizer found ("AddressSanitizer: heap-use-after-free a.cc:3 in main"), or, if the lines end
// with what Python prints on a failure, the last line of a traceback ("RuntimeError: shapes do not fit") or the first
// line of faulthandler ("Fatal Python error: Segmentation fault"). A prefix like "[rank3]: " is removed. Empty if there
// is none; a traceback must end among the last kLastLines.
std::string FailureHint(const std::vector<std::string>& lines);

}  // namespace muster
