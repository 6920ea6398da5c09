#include "agent/dump/stack_tools.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "agent/dump/stack_text.h"
#include "base/system/unique_fd.h"

namespace muster {
namespace {

constexpr std::size_t kMostKept = 8U << 20;  // maximum bytes of all tools together that are kept for files

// Neither shows the values of variables, which may be secrets. gdb executes no commands from files of the user or of
// the program, and contacts no server. A shell looks the tools up on the PATH, so that only that shell waits for a file
// system that does not respond.
std::vector<std::string> CommandLine(StackTool tool, pid_t pid) {
  std::vector<std::string> line = {"/bin/sh", "-c", "exec \"$0\" \"$@\"", StackToolName(tool)};
  const std::vector<std::string> dump = {"dump", "--pid"};
  const std::vector<std::string> backtrace = {"-nx",  "-batch",
                                              "-iex", "set auto-load off",
                                              "-iex", "set debuginfod enabled off",
                                              "-iex", "set print frame-arguments none",
                                              "-iex", "set width 0",
                                              "-ex",  "thread apply all bt 48",
                                              "-p"};
  const std::vector<std::string>& words = tool == StackTool::kPySpy ? dump : backtrace;
  line.insert(line.end(), words.begin(), words.end());
  line.push_back(std::to_string(pid));
  return line;
}

// The usual reason is the Yama module of the kernel (Documentation/admin-guide/LSM/Yama.rst).
std::string YamaText() {
  const UniqueFd file(::open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC));
  char scope = 0;
  if (!file || ::read(file.get(), &scope, 1) != 1 || scope == '0') return {};
  return fmt::format("; kernel.yama.ptrace_scope is {}", scope);
}

bool WaitsForChild(const KernelThread& main) {
  return main.call == "wait4" || main.call == "waitid" || main.wait == "do_wait";
}

}  // namespace

StackTools::StackTools(ToolProcesses& processes, const ToolFinder& finder, DumpNotes& notes,
                       std::vector<DumpSubject>& subjects, std::function<void(std::size_t subject)> inspected)
    : processes_(processes), finder_(finder), notes_(notes), subjects_(subjects), inspected_(std::move(inspected)) {}

void StackTools::Clear() {
  waiting_.clear();
  running_.clear();
  kept_ = 0;
  refused_.clear();
  succeeded_.clear();
}

void StackTools::Choose() {
  std::vector<Inspection> chosen;
  std::vector<std::string> places;
  bool none = false;
  bool no_py_spy = false;
  for (std::size_t s = 0; s < subjects_.size(); ++s) {
    DumpSubject& subject = subjects_[s];
    const bool gdb = finder_.Has(subject.target.search_path, StackTool::kGdb);
    const bool py_spy = finder_.Has(subject.target.search_path, StackTool::kPySpy);
    for (std::size_t p = 0; p < std::min(subject.found.size(), kMostProcesses) && !subject.let_go; ++p) {
      const KernelProcess& process = subject.found[p].kernel;
      no_py_spy = no_py_spy || (process.python && !py_spy);
      none = none || (!gdb && !py_spy);
      const bool by_py_spy = process.python && py_spy;
      // A zombie, or a process that has exited in the meantime, cannot be inspected.
      if ((!by_py_spy && !gdb) || process.threads.empty() || process.threads.front().state == 'Z') continue;
      const KernelThread& main = process.threads.front();
      chosen.push_back({s, p, by_py_spy ? StackTool::kPySpy : StackTool::kGdb});
      places.push_back(process.name + '\n' + main.state + main.wait + '\n' + main.call);
      ++subject.tools_left;
    }
  }
  if (none) notes_.Add("no_tools", "");
  if (no_py_spy && !none) notes_.Add("no_py_spy", "");
  const std::vector<std::size_t> order = RarestFirst(places);
  // Processes that only wait for a child, such as shells, are inspected last.
  for (const bool parents : {false, true}) {
    for (const std::size_t i : order) {
      const KernelProcess& process = subjects_[chosen[i].subject].found[chosen[i].process].kernel;
      if (WaitsForChild(process.threads.front()) == parents) waiting_.push_back(chosen[i]);
    }
  }
}

void StackTools::Start() {
  while (!waiting_.empty() && running_.size() < ToolProcesses::MostAtOnce()) {
    const Inspection next = waiting_.front();
    waiting_.pop_front();
    // If the kernel refuses a tool once, it will refuse it again.
    const bool useless = refused_.contains(next.tool) && !succeeded_.contains(next.tool);
    if (useless || !StartOne(next)) Done(next.subject);
  }
}

bool StackTools::StartOne(const Inspection& inspection) {
  const DumpSubject& subject = subjects_[inspection.subject];
  const KernelProcess& process = subject.found[inspection.process].kernel;
  if (Identify(process.identity.pid) != process.identity) return false;
  const auto number =
      processes_.Start(CommandLine(inspection.tool, process.identity.pid), subject.target.search_path, &process);
  if (!number) return false;
  running_.emplace(*number, Running{inspection, false});
  return true;
}

void StackTools::Exited(const ToolProcesses::Exit& exit) {
  const auto found = running_.extract(exit.number);
  if (found.empty()) return;
  const Running& tool = found.mapped();
  const auto& [subject, process, which] = tool.inspection;
  const bool shown = TakeStacks(tool, exit);
  if (!shown && !tool.stopped && which == StackTool::kPySpy &&
      finder_.Has(subjects_[subject].target.search_path, StackTool::kGdb)) {
    waiting_.push_front({subject, process, StackTool::kGdb});
  } else {
    Done(subject);
  }
  Start();
}

bool StackTools::TakeStacks(const Running& tool, const ToolProcesses::Exit& exit) {
  FoundProcess& process = subjects_[tool.inspection.subject].found[tool.inspection.process];
  const bool py_spy = tool.inspection.tool == StackTool::kPySpy;
  const std::string name = StackToolName(tool.inspection.tool);
  std::string output = ToolProcesses::OutputOf(exit);
  if (py_spy) output = WithoutCommandLine(output);
  const std::size_t room = kMostKept - std::min(kept_, kMostKept);
  const std::string_view kept = std::string_view(output).substr(0, room);
  process.output += fmt::format("output of {}{}:\n{}{}", name, kept.size() < output.size() ? ", in part" : "", kept,
                                kept.ends_with('\n') ? "" : "\n");
  kept_ += kept.size();
  std::vector<ThreadStack> stacks = py_spy ? ParsePySpy(output) : ParseGdb(output);
  if (!stacks.empty()) {
    process.by = name;
    process.stacks = std::move(stacks);
    succeeded_.insert(tool.inspection.tool);
    return true;
  }
  if (tool.stopped) return false;  // reported by the note "late"
  if (const std::string refusal = RefusalIn(output); !refusal.empty()) {
    refused_.insert(tool.inspection.tool);
    notes_.Add("refused", fmt::format("{}: {}{}", name, refusal, YamaText()));
  } else if (Identify(process.kernel.identity.pid) == process.kernel.identity) {
    const std::string words = LastWords(output);
    notes_.Add("failed", fmt::format("{} {}{}{}", name,
                                     exit.signalled ? fmt::format("was ended by signal {}", exit.code)
                                                    : fmt::format("exited with code {}", exit.code),
                                     words.empty() ? "" : ": ", words));
  }
  return false;
}

void StackTools::LetGo(const DumpSubject::Key& key) {
  const auto is_its = [&](const Inspection& one) { return subjects_[one.subject].target.key == key; };
  for (auto& [number, tool] : running_) {
    if (!is_its(tool.inspection)) continue;
    tool.stopped = true;
    processes_.Stop(number, std::chrono::milliseconds(0));
  }
  for (auto one = waiting_.begin(); one != waiting_.end();) {
    if (!is_its(*one)) {
      ++one;
      continue;
    }
    const std::size_t subject = one->subject;
    one = waiting_.erase(one);
    Done(subject);
  }
}

void StackTools::Stop() {
  const std::deque<Inspection> waiting = std::exchange(waiting_, {});
  for (const Inspection& one : waiting) Done(one.subject);
  for (auto& [number, tool] : running_) {
    tool.stopped = true;
    processes_.Stop(number, kGrace);
  }
}

void StackTools::Written(const DumpSubject& subject) {
  for (const FoundProcess& process : subject.found) kept_ -= std::min(kept_, process.output.size());
}

void StackTools::Done(std::size_t subject) {
  if (--subjects_[subject].tools_left == 0) inspected_(subject);
}

}  // namespace muster
