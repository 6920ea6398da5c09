#include "agent/dump/dump_summary.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::string_view kEllipsis = "…";

// The next line without its newline; moves `text` past it.
std::string_view TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// The number at the beginning of the text, if any.
std::optional<std::uint32_t> NumberAt(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return number;
}

std::int32_t ThreadNumberAt(std::string_view text) {
  const auto number = NumberAt(text);
  return number && *number <= std::uint32_t{std::numeric_limits<std::int32_t>::max()}
             ? static_cast<std::int32_t>(*number)
             : 0;
}

// The text between the first and the last quotation mark.
std::string QuotedName(std::string_view line) {
  const std::size_t open = line.find('"');
  const std::size_t close = line.rfind('"');
  if (open == std::string_view::npos || close == open) return {};
  return CutText(line.substr(open + 1, close - open - 1), kMaxStackName);
}

// Splits "train.py:41" into a file and a line; a text without a number is a file alone.
void SetPlace(StackFrame& frame, std::string_view place) {
  const std::size_t colon = place.rfind(':');
  if (colon != std::string_view::npos && colon + 1 < place.size()) {
    const std::string_view digits = place.substr(colon + 1);
    const bool all = std::all_of(digits.begin(), digits.end(), IsDigit);
    if (const auto line = NumberAt(digits); all && line) {
      frame.line = *line;
      place = place.substr(0, colon);
    }
  }
  frame.file = CutText(place, kMaxStackName, true);
}

// "    wait (threading.py:302)"; names of Python functions contain no blank before a bracket, paths may.
std::optional<StackFrame> PySpyFrame(std::string_view line) {
  if (!line.starts_with("    ") || line.starts_with("     ") || !line.ends_with(')')) return std::nullopt;
  line.remove_prefix(4);
  const std::size_t open = line.find(" (");
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  StackFrame frame;
  frame.function = CutText(line.substr(0, open), kMaxStackName);
  SetPlace(frame, line.substr(open + 2, line.size() - open - 3));
  return frame;
}

// The position of the bracket that matches the closing one at `close`.
std::size_t OpeningOf(std::string_view text, std::size_t close) {
  int depth = 0;
  for (std::size_t at = close + 1; at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] == '(' && --depth == 0) return at;
  }
  return std::string_view::npos;
}

// "#2  0x00007f0c2f6b7836 in _Py_read (fd=..., count=...) at Python/fileutils.c:1772"
std::optional<StackFrame> GdbFrame(std::string_view line) {
  if (!line.starts_with('#') || !NumberAt(line.substr(1))) return std::nullopt;
  line = Trimmed(line.substr(std::min(line.find(' '), line.size())));
  if (line.starts_with("0x")) {
    const std::size_t in = line.find(" in ");
    if (in == std::string_view::npos) return std::nullopt;
    line.remove_prefix(in + 4);
  }
  StackFrame frame;
  const std::size_t at = line.find(") at ");
  const std::size_t from = line.find(") from ");
  std::size_t close = std::min(at, from);
  if (close == std::string_view::npos) {
    close = line.ends_with(')') ? line.size() - 1 : close;
  } else if (close == at) {
    SetPlace(frame, line.substr(at + 5));
  } else {
    frame.file = CutText(line.substr(from + 7), kMaxStackName, true);
  }
  // "<signal handler called>" has no arguments.
  const std::size_t open = close == std::string_view::npos ? close : OpeningOf(line, close);
  const std::string_view function = Trimmed(line.substr(0, open));
  frame.function = function.empty() ? "??" : CutText(function, kMaxStackName);
  return frame;
}

// `Thread` begins a thread, `Frame` parses any other line into a frame or nothing.
template <class Thread, class Frame>
std::vector<ThreadStack> ParseStacks(std::string_view text, Thread thread, Frame frame) {
  std::vector<ThreadStack> stacks;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    if (std::optional<ThreadStack> begun = thread(line)) {
      if (stacks.size() == kMaxStackThreads) break;
      stacks.push_back(std::move(*begun));
    } else if (!stacks.empty() && stacks.back().frames.size() < kMaxStackFrames) {
      if (std::optional<StackFrame> found = frame(line)) stacks.back().frames.push_back(std::move(*found));
    }
  }
  return stacks;
}

}  // namespace

std::string CutText(std::string_view text, std::size_t most, bool end) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; };
  const std::size_t room = most - std::min(most, kEllipsis.size());
  if (end) {
    std::string_view kept = text.substr(text.size() - room);
    while (!kept.empty() && continues(kept.front())) kept.remove_prefix(1);
    return std::string(kEllipsis) + std::string(kept);
  }
  std::size_t length = room;
  while (length > 0 && continues(text[length])) --length;
  return std::string(text.substr(0, length)) + std::string(kEllipsis);
}

std::string WithoutCommandLine(std::string_view py_spy) {
  std::string kept;
  std::string_view rest = py_spy;
  while (!rest.empty() && !rest.starts_with("Process ")) {
    const std::string_view before = rest;
    TakeLine(rest);
    kept += before.substr(0, before.size() - rest.size());
  }
  if (rest.empty()) return kept;
  // Arguments can contain line breaks, and text that looks like the next line: the last such line is the real one, as
  // no line of a stack begins like it.
  constexpr std::string_view kNext = "\nPython v";
  const std::size_t next = rest.rfind(kNext);
  const std::size_t colon = std::min(rest.find(':'), rest.find('\n'));
  kept += rest.substr(0, std::min(colon, rest.size()));
  if (next != std::string_view::npos) kept += rest.substr(next);
  return kept;
}

std::vector<ThreadStack> ParsePySpy(std::string_view text) {
  const auto thread = [](std::string_view line) -> std::optional<ThreadStack> {
    if (!line.starts_with("Thread ")) return std::nullopt;
    line.remove_prefix(7);
    ThreadStack begun;
    // Without the kernel's number there is that of the thread library, "0x7F3A…".
    if (!line.starts_with("0x") && !line.starts_with("0X")) begun.tid = ThreadNumberAt(line);
    begun.name = QuotedName(line);
    return begun;
  };
  return ParseStacks(text, thread, PySpyFrame);
}

std::vector<ThreadStack> ParseGdb(std::string_view text) {
  const auto thread = [](std::string_view line) -> std::optional<ThreadStack> {
    if (!line.starts_with("Thread ") || !line.ends_with(':')) return std::nullopt;
    ThreadStack begun;
    for (const std::string_view mark : {std::string_view("LWP "), std::string_view("(process ")}) {
      const std::size_t at = line.find(mark);
      if (at == std::string_view::npos) continue;
      begun.tid = ThreadNumberAt(line.substr(at + mark.size()));
      break;
    }
    begun.name = QuotedName(line);
    return begun;
  };
  return ParseStacks(text, thread, GdbFrame);
}

std::string RefusalIn(std::string_view text) {
  constexpr std::array<std::string_view, 3> kRefusals = {"Operation not permitted", "Permission denied",
                                                         "Permission Denied"};
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    for (const std::string_view refusal : kRefusals) {
      if (line.find(refusal) != std::string_view::npos) return CutText(Trimmed(line), kMaxStackName);
    }
  }
  return {};
}

std::string LastWords(std::string_view text) {
  std::string_view last;
  while (!text.empty()) {
    const std::string_view line = Trimmed(TakeLine(text));
    if (!line.empty()) last = line;
  }
  return CutText(last, kMaxStackName);
}

namespace {

// Whether the threads are equal except for their numbers and counts.
bool Alike(const ThreadState& a, const ThreadState& b) {
  return a.name == b.name && a.state == b.state && a.wait == b.wait && a.call == b.call && a.target == b.target &&
         a.frames == b.frames;
}

std::vector<StackFrame> Innermost(const std::vector<StackFrame>& frames, std::size_t& left) {
  const std::size_t count = std::min({frames.size(), kMaxReportedFrames, left});
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
    if (threads.size() < kMaxReportedThreads) threads.push_back(std::move(thread));
  };
  for (std::size_t i = 0; i < found.kernel.threads.size(); ++i) {
    const KernelThread& kernel = found.kernel.threads[i];
    ThreadState thread;
    thread.tid = kernel.tid;
    thread.name = kernel.name;
    thread.state = ThreadStateName(kernel.state);
    thread.wait = CutText(kernel.wait, kMaxStackName);
    thread.call = kernel.call;
    thread.target = CutText(TargetKind(kernel.target), kMaxStackName, true);
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
  for (const std::string_view line : TextLines(text)) lines += fmt::format("  {}\n", Printable(line));
  return lines;
}

}  // namespace

std::vector<SystemProcessState> Summarize(const std::vector<FoundProcess>& found) {
  std::vector<SystemProcessState> states;
  std::size_t frames_left = kMaxFramesInAll;
  for (const FoundProcess& process : found) {
    if (states.size() == kMaxReportedProcesses) break;
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
    text +=
        fmt::format("\nprocess {} {}, parent {}, {}, {:.0f} % of a processor over {}\n", process.kernel.identity.pid,
                    Printable(process.kernel.name), process.kernel.parent,
                    Counted(process.kernel.threads_seen, "thread"), share, DurationText(InSeconds(reported.window_ns)));
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
