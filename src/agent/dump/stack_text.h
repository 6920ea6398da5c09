// Parses the output of stack tools: py-spy's "dump" and gdb's "thread apply all bt".
//
// Pure. The output comes from foreign programs that inspected foreign processes: for any bytes the result is bounded,
// and lines that are not understood are omitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"

namespace muster {

inline constexpr std::size_t kMostStackThreads = 256;
inline constexpr std::size_t kMostStackFrames = 64;  // per thread, the innermost ones
inline constexpr std::size_t kMostStackName = 160;   // bytes of a function or file

struct ThreadStack {
  std::int32_t tid = 0;  // the kernel's number; 0: unknown
  std::string name;
  std::vector<StackFrame> frames;  // innermost first

  bool operator==(const ThreadStack&) const = default;
};

// Output of py-spy 0.3 and later: `Thread 4711 (idle): "MainThread"` and lines `    wait (threading.py:302)`.
std::vector<ThreadStack> ParsePySpy(std::string_view text);

// Output of gdb 7 and later: `Thread 1 (Thread 0x7f… (LWP 4711) "name"):` and lines `#0  0x… in read (…) at read.c:26`.
std::vector<ThreadStack> ParseGdb(std::string_view text);

// py-spy's output without the command line of the process, whose arguments may be secrets: it comes first, and may span
// several lines.
std::string WithoutCommandLine(std::string_view py_spy);

// The line in which a tool reports that the kernel denied access to the process; empty if there is none.
std::string RefusalIn(std::string_view text);

// The last line that is not blank, at most kMostStackName bytes of it.
std::string LastWords(std::string_view text);

// At most `most` bytes from the beginning of the text, or with `end` from its end, cut between UTF-8 characters, with
// "…".
std::string CutText(std::string_view text, std::size_t most, bool end = false);

}  // namespace muster
