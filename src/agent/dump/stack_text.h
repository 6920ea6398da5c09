// What tools that show stacks print, as values: py-spy's "dump" and gdb's "thread apply all bt".
//
// Knows texts; runs nothing. They come from foreign programs that looked into foreign processes: whatever the bytes,
// what comes out is bounded, and what is not understood is left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"

namespace muster {

inline constexpr std::size_t kMostStackThreads = 256;
inline constexpr std::size_t kMostStackFrames = 64;  // of a thread, the innermost ones
inline constexpr std::size_t kMostStackName = 160;   // bytes of a function or file

struct ThreadStack {
  std::int32_t tid = 0;  // the kernel's number; 0: the tool did not say
  std::string name;
  std::vector<StackFrame> frames;  // the innermost first

  bool operator==(const ThreadStack&) const = default;
};

// Of py-spy 0.3 and later: `Thread 4711 (idle): "MainThread"` and lines `    wait (threading.py:302)`.
std::vector<ThreadStack> ParsePySpy(std::string_view text);

// Of gdb 7 and later: `Thread 1 (Thread 0x7f… (LWP 4711) "name"):` and lines `#0  0x… in read (…) at read.c:26`.
std::vector<ThreadStack> ParseGdb(std::string_view text);

// py-spy's text without the command line of the process, whose arguments may be secrets: it is told first, and may be
// of several lines.
std::string WithoutCommandLine(std::string_view py_spy);

// The line in which a tool says that the kernel allowed no look into the process; empty if none does.
std::string RefusalIn(std::string_view text);

// The last line that is not blank, at most kMostStackName bytes of it.
std::string LastWords(std::string_view text);

// At most `most` bytes of the text's beginning, or with `end` of its end, cut between characters of UTF-8 with "…".
std::string CutText(std::string_view text, std::size_t most, bool end = false);

}  // namespace muster
