// The last lines of a log: what a process said before it ended, and what of that looks like the reason.
//
// Knows text; a log is untrusted, what comes out is safe for a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace muster {

inline constexpr std::size_t kLastLines = 20;
inline constexpr std::size_t kLastBytes = 64U << 10;

// At most `most` of the last lines in the last `window` bytes, each at most 2,000 bytes, control bytes and invalid
// UTF-8 as \xNN. Of a line that a carriage return overwrote the last state. Empty if the file cannot be read.
std::vector<std::string> LastLines(int at, const std::string& path, std::size_t most = kLastLines,
                                   std::size_t window = kLastBytes);

// The same of what the file held when it was `end` bytes long.
std::vector<std::string> LastLinesBefore(int at, const std::string& path, std::uint64_t end, std::size_t most,
                                         std::size_t window = kLastBytes);

// The line that says why, if the lines end in what Python prints when it dies: the last one of a traceback
// ("RuntimeError: shapes do not fit"), or faulthandler's first ("Fatal Python error: Segmentation fault"). A mark like
// "[rank3]: " before it is left away. Empty if there is none among the last kLastLines.
std::string PythonHint(const std::vector<std::string>& lines);

}  // namespace muster
