// The text side of a dump: parses the output of py-spy's "dump" and of gdb's "thread apply all bt", and summarises
// the findings about a process, as the bounded value that the head gets and as a whole text. Pure. Foreign programs
// wrote the output, so for any bytes the result is bounded, and lines that are not understood are omitted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "agent/dump/kernel_state.h"
#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "muster/event.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Parses the output of stack tools: py-spy's "dump" and gdb's "thread apply all bt".
//
// Pure. The output comes from foreign programs that inspected foreign processes: for any bytes the result is bounded,
// and lines that are not understood are omitted.

inline constexpr std::size_t kMaxStackThreads = 256;
inline constexpr std::size_t kMaxStackFrames = 64;  // per thread, the innermost ones
inline constexpr std::size_t kMaxStackName = 160;   // bytes of a function or file

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

// The last line that is not blank, at most kMaxStackName bytes of it.
std::string LastWords(std::string_view text);

// At most `most` bytes from the beginning of the text, or with `end` from its end, cut between UTF-8 characters, with
// "…".
std::string CutText(std::string_view text, std::size_t most, bool end = false);

// Summarises the findings about a process: the bounded value that the head gets, and the whole as text.
//
// Pure: works on the output of the kernel and tools.

// The findings about one operating system process.
struct FoundProcess {
  KernelProcess kernel;
  std::uint64_t cpu_ns = 0;  // used within the measurement window
  std::string by;            // the tool that reported the stacks; empty: none
  std::vector<ThreadStack> stacks;
  std::string output;  // unchanged output of the tools
};

// Limits of one ProcessDumped; the file has everything.
inline constexpr std::size_t kMaxReportedProcesses = protocol_bounds::kDumpProcesses;
inline constexpr std::size_t kMaxReportedThreads =
    protocol_bounds::kDumpThreads;  // per process, equal threads counted once
inline constexpr std::size_t kMaxReportedFrames = protocol_bounds::kDumpFrames;  // per thread
inline constexpr std::size_t kMaxFramesInAll = 256;

std::vector<SystemProcessState> Summarize(const std::vector<FoundProcess>& found);

// The content of the file: a first line `title`, then everything, safe for a terminal.
std::string DumpFileText(const std::string& title, const ProcessDumped& reported,
                         const std::vector<FoundProcess>& found);

// The order in which to inspect items if time may be short: one of each place before the second of any, the rarest
// places first, because a hanging process usually differs from the others.
std::vector<std::size_t> RarestFirst(const std::vector<std::string>& places);

// A process of the plan that a dump inspects, with its descendants.
struct DumpSubject {
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // A running process to inspect.
  struct Target {
    Key key;
    pid_t pid = 0;
    std::string title;  // first line of its file
    FileBelow file;     // the file to create
    FileBelow log;
    std::string search_path;  // PATH on which tools are looked up
  };

  Target target;
  std::vector<FoundProcess> found;
  MonotonicNs first_look = 0;
  ProcessDumped reported;
  std::size_t tools_left = 0;  // waiting or running
  bool let_go = false;         // about to be stopped: no tool may attach to it
};

}  // namespace muster
