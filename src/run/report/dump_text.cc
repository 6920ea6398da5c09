// Writes a dump as text: DumpText of dump_report.h.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "run/report/dump_report.h"

namespace muster {
namespace {

constexpr std::size_t kMostFrames = 6;
constexpr double kBusy = 0.5;  // of a processor: the process is computing, or in an endless loop

std::string FrameText(const StackFrame& frame) {
  if (frame.file.empty()) return frame.function;
  const std::string line = frame.line == 0 ? "" : fmt::format(":{}", frame.line);
  return fmt::format("{} ({}{})", frame.function, frame.file, line);
}

// "waiting in anon_pipe_read (read of a pipe)"
std::string KernelText(const ThreadState& thread) {
  std::string text;
  const bool waits = !thread.wait.empty();
  if (waits) text = fmt::format("waiting in {}", thread.wait);
  if (!waits && thread.state == "running") text = "running";
  if (!waits && thread.state == "sleeping") text = "waiting";
  if (thread.state == "uninterruptible") text += text.empty() ? "stuck in the kernel" : ", uninterruptible";
  if (thread.state == "stopped" || thread.state == "traced") text = thread.state;
  if (thread.state == "zombie" || thread.state == "dead") text = "zombie";
  if (!thread.call.empty()) {
    const bool plain = thread.target == "pipe" || thread.target == "socket" || thread.target == "eventpoll";
    text += fmt::format("{}{}{}{})", text.empty() ? "(" : " (", thread.call,
                        thread.target.empty() ? ""
                        : plain               ? " of a "
                                              : " of ",
                        thread.target);
  }
  return text;
}

std::string PlaceText(const DumpGroup& group) {
  const ThreadState* thread = group.thread();
  if (thread == nullptr) return group.state() == nullptr ? "exited before it could be inspected" : "no information";
  std::string text;
  if (!thread->frames.empty()) text = fmt::format("in {}", FrameText(thread->frames.front()));
  if (const std::string kernel = KernelText(*thread); !kernel.empty()) text += (text.empty() ? "" : ", ") + kernel;
  if (group.busiest >= kBusy) text += fmt::format(", {:.0f} % of a processor", 100 * group.busiest);
  return text.empty() ? "no information" : text;
}

std::string SilenceText(const DumpGroup& group) {
  std::string text = fmt::format("wrote last {} before", DurationText(group.longest_seconds));
  if (group.longest_seconds - group.quietest_seconds > 0.5) {
    text = fmt::format("wrote last {} to {} before", DurationText(group.quietest_seconds),
                       DurationText(group.longest_seconds));
  }
  if (group.first.log_bytes == 0) return "wrote nothing";
  return group.last_line.empty() ? text : fmt::format("{}: {}", text, group.last_line);
}

// "2 python3, 1 nvcc": the other system processes of the first one.
std::string BesidesText(const DumpGroup& group) {
  std::map<std::string, std::size_t> programs;
  for (std::size_t i = 0; i < group.first.states.size(); ++i) {
    if (i != group.place) ++programs[group.first.states[i].program];
  }
  std::string text;
  for (const auto& [program, count] : programs)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, program);
  return text;
}

std::string GroupText(const DumpGroup& group) {
  std::string text = fmt::format("    {}{}: {}\n", Printable(MembersText({group.who})),
                                 group.odd ? ", unlike most of its role" : "", Printable(PlaceText(group)));
  if (const ThreadState* thread = group.thread()) {
    const std::size_t shown = std::min(thread->frames.size(), kMostFrames);
    for (std::size_t i = 1; i < shown; ++i) {
      text += fmt::format("      {} {}\n", i == 1 ? "from" : "    ", Printable(FrameText(thread->frames[i])));
    }
    if (thread->frames.size() > shown) text += fmt::format("           … and {} more\n", thread->frames.size() - shown);
  }
  text += fmt::format("      {}\n", Printable(SilenceText(group)));
  if (const std::string besides = BesidesText(group); !besides.empty()) {
    text += fmt::format("      beside {}: {}\n", Printable(group.state()->program), Printable(besides));
  }
  return text;
}

std::string WhyText(const std::string& why) {
  if (why == "silent") return "before a silent role was stopped";
  if (why == "silent_job") return "before the silent job was stopped";
  return why == "stop" ? "before the run was stopped" : "on request";
}

std::string NoteText(const DumpNote& note) {
  if (note.kind == "no_tools") {
    return "no py-spy or gdb on the PATH of the processes, so only what the kernel shows; pip install py-spy, or the "
           "package gdb, makes stacks visible";
  }
  if (note.kind == "no_py_spy") {
    return "no py-spy on the PATH of the processes, so Python's own frames are not seen; pip install py-spy";
  }
  if (note.kind == "refused") {
    return "the kernel does not allow inspecting processes: " + note.detail +
           "; it requires the same user, CAP_SYS_PTRACE in a container, and kernel.yama.ptrace_scope = 0";
  }
  if (note.kind == "late") return "timed out before tools had shown the stacks of " + note.detail;
  if (note.kind == "file") return "a file could not be written: " + note.detail;
  return note.detail;
}

}  // namespace

std::string DumpText(const DumpReport& dump, std::size_t most) {
  std::set<std::string> tools;
  for (const DumpGroup& group : dump.groups) {
    for (const SystemProcessState& state : group.first.states) {
      if (!state.by.empty()) tools.insert(state.by);
    }
  }
  std::string by;
  for (const std::string& tool : tools) by += (by.empty() ? ", stacks by " : " and ") + tool;
  std::string text = fmt::format("  {:<10}{}, taken {}{}; all of it in {}/\n", "dump", dump.number, WhyText(dump.why),
                                 by, dump.folder);
  for (std::size_t i = 0; i < std::min(dump.groups.size(), most); ++i) text += GroupText(dump.groups[i]);
  if (dump.groups.size() > most) {
    text += fmt::format("    … and {} more places, in report.json\n", dump.groups.size() - most);
  }
  if (!dump.unheard.empty()) text += fmt::format("    {}: no data\n", Printable(MembersText(dump.unheard)));
  if (!dump.ended) text += "    it is still in progress, or was interrupted\n";
  if (dump.ended && !dump.complete) text += "    it ended before all hosts had reported\n";
  // A note about several hosts is printed once.
  std::map<std::string, std::string> hosts;
  std::vector<std::string> order;
  for (const auto& [host, note] : dump.notes) {
    const std::string said = NoteText(note);
    std::string& those = hosts[said];
    if (those.empty()) order.push_back(said);
    those += (those.empty() ? "" : ", ") + host;
  }
  for (const std::string& said : order) {
    text += fmt::format("    {}: {}\n", Printable(hosts[said]), Printable(said));
  }
  return text;
}

}  // namespace muster
