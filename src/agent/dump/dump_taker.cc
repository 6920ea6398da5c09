#include "agent/dump/dump_taker.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/host_folder.h"
#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "wire/files/log_bytes.h"

namespace muster {

const char* StackToolName(StackTool tool) { return tool == StackTool::kPySpy ? "py-spy" : "gdb"; }

void ToolFinder::Find(const std::vector<std::string>& search_paths, std::function<void()> done) {
  done_ = std::move(done);
  for (const std::string& search_path : search_paths) {
    if (found_.try_emplace(search_path).second) to_search_.push_back(search_path);
  }
  StartNext();
}

void ToolFinder::StartNext() {
  while (!to_search_.empty() && running_.size() < ToolProcesses::MostAtOnce()) {
    const std::string search_path = to_search_.front();
    to_search_.pop_front();
    const auto number = processes_.Start({"/bin/sh", "-c", "command -v py-spy; command -v gdb"}, search_path);
    if (number) running_.emplace(*number, search_path);
  }
  if (!running_.empty()) return;
  const auto done = std::exchange(done_, nullptr);
  if (done) done();
}

bool ToolFinder::Exited(const ToolProcesses::Exit& exit) {
  const auto search = running_.extract(exit.number);
  if (search.empty()) return false;
  const std::string output = ToolProcesses::OutputOf(exit);
  for (std::string_view rest = output; !rest.empty();) {
    const std::string_view path = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const StackTool tool : {StackTool::kPySpy, StackTool::kGdb}) {
      if (name == StackToolName(tool)) found_[search.mapped()].insert(tool);
    }
  }
  StartNext();
  return true;
}

void ToolFinder::Cancel() {
  for (const auto& [number, search_path] : running_) processes_.Stop(number, std::chrono::milliseconds(0));
  running_.clear();
  to_search_.clear();
  done_ = nullptr;
}

void ToolFinder::Clear() {
  running_.clear();
  to_search_.clear();
  found_.clear();
  done_ = nullptr;
}

bool ToolFinder::Has(const std::string& search_path, StackTool tool) const {
  const auto found = found_.find(search_path);
  return found != found_.end() && found->second.contains(tool);
}

namespace {

constexpr std::size_t kMaxKept = 8U << 20;  // maximum bytes of all tools together that are kept for files

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
    for (std::size_t p = 0; p < std::min(subject.found.size(), kMaxProcesses) && !subject.let_go; ++p) {
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
  const std::size_t room = kMaxKept - std::min(kept_, kMaxKept);
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

namespace {

std::string LateText(std::size_t left, std::chrono::milliseconds within) {
  return fmt::format("{} of the system processes within {}", left,
                     DurationText(static_cast<double>(within.count()) / 1000));
}

// Creates the file with this content; returns an errno value, 0 on success.
int WriteDumpFile(const FileBelow& file, const std::string& text) {
  const auto created = CreateLogFile(file);
  return created ? WriteAll(created->get(), text) : created.error().error;
}

}  // namespace

DumpTaker::DumpTaker(boost::asio::io_context& io, Launcher& launcher, Observer observer)
    : io_(io),
      observer_(std::move(observer)),
      window_(io.get_executor()),
      deadline_(io.get_executor()),
      processes_(io, launcher, notes_,
                 {.exited =
                      [this](const ToolProcesses::Exit& exit) {
                        if (!finder_.Exited(exit)) stacks_.Exited(exit);
                      },
                  .idle = [this] { observer_.idle(); }}),
      finder_(processes_),
      stacks_(processes_, finder_, notes_, subjects_, [this](std::size_t subject) { Report(subject); }) {}

void DumpTaker::Take(std::uint32_t dump, std::chrono::milliseconds within, std::vector<Target> targets) {
  Clear();
  dump_ = dump;
  within_ = within;
  subjects_.resize(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) subjects_[i].target = std::move(targets[i]);
  untold_ = subjects_.size();
  deadline_.expires_after(within);
  deadline_.async_wait([this, round = round_](const boost::system::error_code& error) {
    if (!error && round == round_) OnDeadline();
  });
  ForEachSubject(&DumpTaker::LookFirst, &DumpTaker::AwaitWindow);
}

void DumpTaker::Clear() {
  ++round_;
  late_ = false;
  window_.cancel();
  deadline_.cancel();
  processes_.KillAll();
  finder_.Clear();
  stacks_.Clear();
  subjects_.clear();
  to_report_.clear();
  notes_.Take();
  untold_ = 0;
}

void DumpTaker::Abandon() {
  Clear();
  processes_.Abandon();
}

void DumpTaker::LetGo(const Key& key) {
  for (DumpSubject& subject : subjects_) subject.let_go = subject.let_go || subject.target.key == key;
  stacks_.LetGo(key);
}

void DumpTaker::ForEachSubject(void (DumpTaker::*step)(DumpSubject&), void (DumpTaker::*after)(), std::size_t next) {
  boost::asio::post(io_, [this, step, after, next, round = round_] {
    if (round != round_) return;
    if (next == subjects_.size()) return (this->*after)();
    (this->*step)(subjects_[next]);
    ForEachSubject(step, after, next + 1);
  });
}

void DumpTaker::LookFirst(DumpSubject& subject) {
  for (KernelProcess& process : ProcessTree(subject.target.pid)) {
    subject.found.emplace_back();
    subject.found.back().kernel = std::move(process);
  }
  subject.first_look = MonotonicNowNs();
}

void DumpTaker::AwaitWindow() {
  window_.expires_after(kWindow);
  window_.async_wait([this, round = round_](const boost::system::error_code& error) {
    if (!error && round == round_) ForEachSubject(&DumpTaker::LookAgain, &DumpTaker::FindTools);
  });
}

void DumpTaker::LookAgain(DumpSubject& subject) {
  ProcessDumped& reported = subject.reported;
  reported.dump = dump_;
  std::tie(reported.process, reported.attempt) = subject.target.key;
  reported.window_ns = MonotonicNowNs() - subject.first_look;
  for (FoundProcess& process : subject.found) {
    const std::uint64_t before = process.kernel.cpu_ns;
    ReadThreadStates(process.kernel);
    process.cpu_ns = process.kernel.cpu_ns - std::min(before, process.kernel.cpu_ns);
  }
  struct stat log {};
  const FileBelow& file = subject.target.log;
  if (::fstatat(file.directory, file.path.c_str(), &log, AT_SYMLINK_NOFOLLOW) == 0) {
    reported.log_bytes = LogEnd(file.directory, file.path).value_or(0);
    const auto written = static_cast<std::uint64_t>(log.st_mtim.tv_sec) * 1'000'000'000 +
                         static_cast<std::uint64_t>(log.st_mtim.tv_nsec);
    const std::uint64_t now = WallNowNs();
    reported.silent_ms = now > written ? (now - written) / 1'000'000 : 0;
  }
}

void DumpTaker::FindTools() {
  if (late_) return InspectStacks();
  std::vector<std::string> search_paths;
  for (const DumpSubject& subject : subjects_) search_paths.push_back(subject.target.search_path);
  finder_.Find(search_paths, [this] { InspectStacks(); });
}

void DumpTaker::InspectStacks() {
  if (!late_) {
    stacks_.Choose();
  } else {
    // If there was no time to look for tools, they are not reported as missing.
    std::size_t left = 0;
    for (const DumpSubject& subject : subjects_) left += std::min(subject.found.size(), StackTools::kMaxProcesses);
    if (left > 0) notes_.Add("late", LateText(left, within_));
  }
  for (std::size_t s = 0; s < subjects_.size(); ++s) {
    if (subjects_[s].tools_left == 0) Report(s);
  }
  if (subjects_.empty()) ReportNext();
  stacks_.Start();
}

void DumpTaker::OnDeadline() {
  late_ = true;
  if (const std::size_t left = stacks_.left(); left > 0) notes_.Add("late", LateText(left, within_));
  if (finder_.searching()) {
    finder_.Cancel();
    return InspectStacks();
  }
  stacks_.Stop();
}

void DumpTaker::Report(std::size_t subject) {
  to_report_.push_back(subject);
  if (to_report_.size() == 1) ReportNext();
}

// One per turn of the loop, because each writes a file.
void DumpTaker::ReportNext() {
  boost::asio::post(io_, [this, round = round_] {
    if (round != round_) return;
    if (!to_report_.empty()) {
      DumpSubject& subject = subjects_[to_report_.front()];
      subject.reported.states = Summarize(subject.found);
      subject.reported.at = MonotonicNowNs();
      const std::string text = DumpFileText(subject.target.title, subject.reported, subject.found);
      if (const int error = WriteDumpFile(subject.target.file, text); error != 0) {
        notes_.Add("file", fmt::format("{}: {}", subject.target.file.path, std::strerror(error)));
      }
      observer_.reported(subject.reported);
      stacks_.Written(subject);
      subject.found.clear();
      to_report_.pop_front();
      --untold_;
    }
    if (!to_report_.empty()) return ReportNext();
    if (untold_ > 0) return;
    HostDumped done;
    done.dump = dump_;
    done.notes = notes_.Take();
    deadline_.cancel();
    observer_.done(done);
  });
}

}  // namespace muster
