// What was found out about a process, put together: the bounded value that the head gets, and the whole of it as text.
//
// Pure: knows what the kernel and the tools said, asks neither.
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

// A system process as it was found.
struct FoundProcess {
  KernelProcess kernel;
  std::uint64_t cpu_ns = 0;  // used within the window
  std::string by;            // the tool whose stacks these are; empty: none
  std::vector<ThreadStack> stacks;
  std::string output;  // what tools said, as they said it
};

// What one ProcessDumped holds at most; the file has the rest.
inline constexpr std::size_t kMostReportedProcesses = protocol_bounds::kDumpProcesses;
inline constexpr std::size_t kMostReportedThreads =
    protocol_bounds::kDumpThreads;  // of a system process, alike ones counted once
inline constexpr std::size_t kMostReportedFrames = protocol_bounds::kDumpFrames;  // of a thread
inline constexpr std::size_t kMostFramesInAll = 256;

std::vector<SystemProcessState> Summarize(const std::vector<FoundProcess>& found);

// The file: a first line `title`, then everything, safe for a terminal.
std::string DumpFileText(const std::string& title, const ProcessDumped& told, const std::vector<FoundProcess>& found);

// In which order things at these places are looked at, if there is not time for all: one of each place before the
// second of any, the rarest places first. Who hangs is who differs.
std::vector<std::size_t> RarestFirst(const std::vector<std::string>& places);

}  // namespace muster
