// Summarises the findings about a process: the bounded value that the head gets, and the whole as text.
//
// Pure: works on the output of the kernel and tools.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "agent/dump/kernel_state.h"
#include "agent/dump/stack_text.h"
#include "muster/event.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {

// The findings about one operating system process.
struct FoundProcess {
  KernelProcess kernel;
  std::uint64_t cpu_ns = 0;  // used within the measurement window
  std::string by;            // the tool that reported the stacks; empty: none
  std::vector<ThreadStack> stacks;
  std::string output;  // unchanged output of the tools
};

// Limits of one ProcessDumped; the file has everything.
inline constexpr std::size_t kMostReportedProcesses = protocol_bounds::kDumpProcesses;
inline constexpr std::size_t kMostReportedThreads =
    protocol_bounds::kDumpThreads;  // per process, equal threads counted once
inline constexpr std::size_t kMostReportedFrames = protocol_bounds::kDumpFrames;  // per thread
inline constexpr std::size_t kMostFramesInAll = 256;

std::vector<SystemProcessState> Summarize(const std::vector<FoundProcess>& found);

// The content of the file: a first line `title`, then everything, safe for a terminal.
std::string DumpFileText(const std::string& title, const ProcessDumped& reported,
                         const std::vector<FoundProcess>& found);

// The order in which to inspect items if time may be short: one of each place before the second of any, the rarest
// places first, because a hanging process usually differs from the others.
std::vector<std::size_t> RarestFirst(const std::vector<std::string>& places);

}  // namespace muster
