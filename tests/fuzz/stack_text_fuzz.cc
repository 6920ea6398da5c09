// Fuzzes the output of stack tools: the parsed result is bounded, and truncated only between characters.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "agent/dump/dump_summary.h"
#include "agent/dump/kernel_state.h"

namespace {

void Check(const std::vector<muster::ThreadStack>& stacks) {
  if (stacks.size() > muster::kMaxStackThreads) std::abort();
  for (const muster::ThreadStack& stack : stacks) {
    if (stack.frames.size() > muster::kMaxStackFrames || stack.tid < 0) std::abort();
    if (stack.name.size() > muster::kMaxStackName) std::abort();
    for (const muster::StackFrame& frame : stack.frames) {
      if (frame.function.empty() || frame.function.size() > muster::kMaxStackName) std::abort();
      if (frame.file.size() > muster::kMaxStackName) std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Check(muster::ParsePySpy(text));
  Check(muster::ParseGdb(text));
  if (muster::RefusalIn(text).size() > muster::kMaxStackName) std::abort();
  if (muster::LastWords(text).size() > muster::kMaxStackName) std::abort();
  const std::string kept = muster::WithoutCommandLine(text);
  if (kept.size() > text.size() || muster::WithoutCommandLine(kept).size() > kept.size()) std::abort();
  // Arguments are dropped even where only the version line follows the process line.
  const std::string reported = "Process 1: " + std::string(text.substr(0, text.find("Python v"))) + "\nPython v3";
  if (muster::WithoutCommandLine(reported) != "Process 1\nPython v3") std::abort();
  const auto stat = muster::ParseStat(text);
  if (stat && stat->name.size() > text.size()) std::abort();
  const muster::SyscallText call = muster::ParseSyscall(text);
  if (call.descriptor && *call.descriptor < 0) std::abort();
  if (muster::TargetKind(text).size() > text.size()) std::abort();
  return 0;
}
