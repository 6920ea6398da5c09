#include "agent/dump/dump_summary.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "base/values/units.h"

namespace muster {
namespace {

// Whether the threads are equal except for their numbers and counts.
bool Alike(const ThreadState& a, const ThreadState& b) {
  return a.name == b.name && a.state == b.state && a.wait == b.wait && a.call == b.call && a.target == b.target &&
         a.frames == b.frames;
}

std::vector<StackFrame> Innermost(const std::vector<StackFrame>& frames, std::size_t& left) {
  const std::size_t count = std::min({frames.size(), kMostReportedFrames, left});
  left -= count;
  return {frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(count)};
}

// Whether a stack is of this thread: by number, or because a tool names it the main one.
bool IsOf(const ThreadStack& stack, const KernelThread& thread, bool main) {
  return stack.tid == thread.tid || (stack.tid == 0 && main && stack.name == "MainThread");
}

std::vector<ThreadState> ThreadsOf(const FoundProcess& found, std::size_t& frames_left) {
  std::vector<ThreadState> threads;
  std::vector<bool> used(found.stacks.size(), false);
  const auto add = [&](ThreadState thread) {
    // The main thread is always separate, since it shows where the process is.
    for (std::size_t i = 1; i < threads.size(); ++i) {
      if (!Alike(threads[i], thread)) continue;
      ++threads[i].alike;
      return;
    }
    if (threads.size() < kMostReportedThreads) threads.push_back(std::move(thread));
  };
  for (std::size_t i = 0; i < found.kernel.threads.size(); ++i) {
    const KernelThread& kernel = found.kernel.threads[i];
    ThreadState thread;
    thread.tid = kernel.tid;
    thread.name = kernel.name;
    thread.state = ThreadStateName(kernel.state);
    thread.wait = CutText(kernel.wait, kMostStackName);
    thread.call = kernel.call;
    thread.target = CutText(TargetKind(kernel.target), kMostStackName, true);
    for (std::size_t s = 0; s < found.stacks.size(); ++s) {
      if (used[s] || !IsOf(found.stacks[s], kernel, i == 0)) continue;
      used[s] = true;
      if (!found.stacks[s].name.empty()) thread.name = found.stacks[s].name;
      thread.frames = Innermost(found.stacks[s].frames, frames_left);
      break;
    }
    add(std::move(thread));
  }
  // Threads that a tool numbers in its own way.
  for (std::size_t s = 0; s < found.stacks.size(); ++s) {
    if (used[s]) continue;
    ThreadState thread;
    thread.tid = found.stacks[s].tid;
    thread.name = found.stacks[s].name;
    thread.frames = Innermost(found.stacks[s].frames, frames_left);
    add(std::move(thread));
  }
  return threads;
}

std::string ThreadLine(const KernelThread& thread) {
  const std::string_view state = ThreadStateName(thread.state);
  std::string line = fmt::format("  thread {} {}: {}", thread.tid, Printable(thread.name),
                                 state.empty() ? std::string_view("state not known") : state);
  if (!thread.wait.empty()) line += fmt::format(" in {}", Printable(thread.wait));
  if (!thread.call.empty()) line += fmt::format(", system call {}", thread.call);
  if (!thread.target.empty()) line += fmt::format(" of {}", Printable(thread.target));
  return line + '\n';
}

// Every line made safe for a terminal and indented.
std::string Indented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += fmt::format("  {}\n", Printable(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::vector<SystemProcessState> Summarize(const std::vector<FoundProcess>& found) {
  std::vector<SystemProcessState> states;
  std::size_t frames_left = kMostFramesInAll;
  for (const FoundProcess& process : found) {
    if (states.size() == kMostReportedProcesses) break;
    SystemProcessState state;
    state.pid = process.kernel.identity.pid;
    state.parent = process.kernel.parent;
    state.program = process.kernel.name;
    state.cpu_ns = process.cpu_ns;
    state.threads_seen = static_cast<std::uint32_t>(process.kernel.threads_seen);
    state.by = process.by;
    state.threads = ThreadsOf(process, frames_left);
    states.push_back(std::move(state));
  }
  return states;
}

std::string DumpFileText(const std::string& title, const ProcessDumped& reported,
                         const std::vector<FoundProcess>& found) {
  std::string text = fmt::format("{}\n", Printable(title));
  text += fmt::format("its log holds {} bytes; nothing was added for {}\n", reported.log_bytes,
                      DurationText(static_cast<double>(reported.silent_ms) / 1000));
  for (const FoundProcess& process : found) {
    const double share = reported.window_ns == 0
                             ? 0
                             : 100.0 * static_cast<double>(process.cpu_ns) / static_cast<double>(reported.window_ns);
    text += fmt::format("\nprocess {} {}, parent {}, {} thread{}, {:.0f} % of a processor over {}\n",
                        process.kernel.identity.pid, Printable(process.kernel.name), process.kernel.parent,
                        process.kernel.threads_seen, process.kernel.threads_seen == 1 ? "" : "s", share,
                        DurationText(InSeconds(reported.window_ns)));
    for (const KernelThread& thread : process.kernel.threads) {
      text += ThreadLine(thread);
      for (const std::string& frame : thread.stack) text += fmt::format("    kernel: {}\n", Printable(frame));
    }
    text += Indented(process.output);
  }
  return text;
}

std::vector<std::size_t> RarestFirst(const std::vector<std::string>& places) {
  std::map<std::string_view, std::vector<std::size_t>> by_place;
  for (std::size_t i = 0; i < places.size(); ++i) by_place[places[i]].push_back(i);
  std::vector<const std::vector<std::size_t>*> groups;
  for (const auto& [place, members] : by_place) groups.push_back(&members);
  std::stable_sort(groups.begin(), groups.end(), [](const auto* a, const auto* b) { return a->size() < b->size(); });
  std::vector<std::size_t> order;
  for (std::size_t round = 0; order.size() < places.size(); ++round) {
    for (const auto* group : groups) {
      if (round < group->size()) order.push_back((*group)[round]);
    }
  }
  return order;
}

}  // namespace muster
