#include "agent/dump/dump_taker.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/processes/log_files.h"
#include "agent/processes/passed_text.h"
#include "base/system/clock.h"
#include "base/values/units.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

constexpr std::size_t kMostToolOutput = 1U << 20;  // maximum bytes that are read
constexpr std::size_t kMostKept = 8U << 20;        // maximum bytes of all tools together that are kept for files
constexpr rlim_t kMostToolFile = 4U << 20;         // maximum bytes that it may write
constexpr std::size_t kMostTools = 4;              // at once; at most the number of processors
constexpr std::size_t kMostLookedInto = 8;         // maximum number of processes per subject that are inspected with
                                                   // tools
constexpr std::size_t kMostNotes = 8;

const char* NameOf(bool py_spy) { return py_spy ? "py-spy" : "gdb"; }

// Neither shows the values of variables, which may be secrets. gdb executes no commands from files of the user or of
// the program, and contacts no server. A shell looks the tools up on the PATH, so that only that shell waits for a file
// system that does not respond.
std::vector<std::string> CommandLine(bool py_spy, pid_t pid) {
  std::vector<std::string> line = {"/bin/sh", "-c", "exec \"$0\" \"$@\"", NameOf(py_spy)};
  const std::vector<std::string> dump = {"dump", "--pid"};
  const std::vector<std::string> backtrace = {"-nx",  "-batch",
                                              "-iex", "set auto-load off",
                                              "-iex", "set debuginfod enabled off",
                                              "-iex", "set print frame-arguments none",
                                              "-iex", "set width 0",
                                              "-ex",  "thread apply all bt 48",
                                              "-p"};
  const std::vector<std::string>& words = py_spy ? dump : backtrace;
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

std::string LateText(std::size_t left, std::chrono::milliseconds within) {
  return fmt::format("{} of the system processes within {}", left,
                     DurationText(static_cast<double>(within.count()) / 1000));
}

}  // namespace

DumpTaker::DumpTaker(boost::asio::io_context& io, Launcher& launcher, Observer observer)
    : io_(io),
      observer_(std::move(observer)),
      tools_(io, launcher,
             {.exited = [this](const ProcessExited& event) { OnToolExited(event); },
              .signalled = [](const SignalSent&) {}}),
      window_(io.get_executor()),
      deadline_(io.get_executor()) {}

void DumpTaker::Take(std::uint32_t dump, std::chrono::milliseconds within, std::vector<Target> targets) {
  Clear();
  // Determined on first use: it reads a file, and most agents take no dump.
  most_tools_ =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))), 1, kMostTools);
  taking_ = true;
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
  taking_ = late_ = false;
  window_.cancel();
  deadline_.cancel();
  tools_.KillAll();
  running_.clear();
  subjects_.clear();
  looks_.clear();
  to_find_.clear();
  finders_.clear();
  found_.clear();
  kept_ = 0;
  refused_.clear();
  succeeded_.clear();
  to_report_.clear();
  notes_.clear();
  untold_ = 0;
}

void DumpTaker::Abandon() {
  Clear();
  tools_.Abandon();
}

void DumpTaker::LetGo(const Key& key) {
  for (Subject& subject : subjects_) subject.let_go = subject.let_go || subject.target.key == key;
  const auto is_its = [&](const Look& look) { return subjects_[look.subject].target.key == key; };
  for (auto& [number, tool] : running_) {
    if (!is_its(tool.look)) continue;
    tool.stopped = true;
    tools_.Stop(number, 0, SIGKILL, std::chrono::milliseconds(0));
  }
  for (auto look = looks_.begin(); look != looks_.end();) {
    if (!is_its(*look)) {
      ++look;
      continue;
    }
    const std::size_t subject = look->subject;
    look = looks_.erase(look);
    ToolDone(subject);
  }
}

void DumpTaker::ForEachSubject(void (DumpTaker::*step)(Subject&), void (DumpTaker::*after)(), std::size_t next) {
  boost::asio::post(io_, [this, step, after, next, round = round_] {
    if (round != round_) return;
    if (next == subjects_.size()) return (this->*after)();
    (this->*step)(subjects_[next]);
    ForEachSubject(step, after, next + 1);
  });
}

void DumpTaker::LookFirst(Subject& subject) {
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

void DumpTaker::LookAgain(Subject& subject) {
  ProcessDumped& told = subject.told;
  told.dump = dump_;
  std::tie(told.process, told.attempt) = subject.target.key;
  told.window_ns = MonotonicNowNs() - subject.first_look;
  for (FoundProcess& process : subject.found) {
    const std::uint64_t before = process.kernel.cpu_ns;
    ReadThreadStates(process.kernel);
    process.cpu_ns = process.kernel.cpu_ns - std::min(before, process.kernel.cpu_ns);
  }
  struct stat log {};
  const FileBelow& file = subject.target.log;
  if (::fstatat(file.directory, file.path.c_str(), &log, AT_SYMLINK_NOFOLLOW) == 0) {
    told.log_bytes = LogEnd(file.directory, file.path).value_or(0);
    const auto written = static_cast<std::uint64_t>(log.st_mtim.tv_sec) * 1'000'000'000 +
                         static_cast<std::uint64_t>(log.st_mtim.tv_nsec);
    const std::uint64_t now = WallNowNs();
    told.silent_ms = now > written ? (now - written) / 1'000'000 : 0;
  }
}

void DumpTaker::FindTools() {
  for (const Subject& subject : subjects_) {
    if (found_.try_emplace(subject.target.search_path).second) to_find_.push_back(subject.target.search_path);
  }
  StartFinders();
}

void DumpTaker::StartFinders() {
  while (!late_ && !to_find_.empty() && finders_.size() < most_tools_) {
    const std::string search_path = to_find_.front();
    to_find_.pop_front();
    const std::uint32_t number = next_tool_++;
    UniqueFd output(::memfd_create("muster-dump", MFD_CLOEXEC));
    if (!output) continue;
    if (const auto started =
            Command(number, {"/bin/sh", "-c", "command -v py-spy; command -v gdb"}, search_path, output.get());
        !started) {
      Note("failed", SpawnErrorText(started.error()));
      continue;
    }
    finders_.emplace(number, Finder{search_path, std::move(output)});
  }
  if (finders_.empty()) ChooseTools();
}

void DumpTaker::FinderDone(const Finder& finder) {
  const std::string said = ReadText(finder.output.get(), kMostToolOutput);
  for (std::string_view rest = said; !rest.empty();) {
    const std::string_view path = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
    const std::string_view name = path.substr(path.rfind('/') + 1);
    if (name == NameOf(true)) found_[finder.search_path].insert(Tool::kPySpy);
    if (name == NameOf(false)) found_[finder.search_path].insert(Tool::kGdb);
  }
  StartFinders();
}

bool DumpTaker::Has(const std::string& search_path, Tool tool) const {
  const auto found = found_.find(search_path);
  return found != found_.end() && found->second.contains(tool);
}

void DumpTaker::ChooseTools() {
  std::vector<Look> looks;
  std::vector<std::string> places;
  bool none = false;
  bool no_py_spy = false;
  for (std::size_t s = 0; s < subjects_.size(); ++s) {
    Subject& subject = subjects_[s];
    const bool gdb = Has(subject.target.search_path, Tool::kGdb);
    const bool py_spy = Has(subject.target.search_path, Tool::kPySpy);
    for (std::size_t p = 0; p < std::min(subject.found.size(), kMostLookedInto) && !subject.let_go; ++p) {
      const KernelProcess& process = subject.found[p].kernel;
      no_py_spy = no_py_spy || (process.python && !py_spy);
      none = none || (!gdb && !py_spy);
      const bool by_py_spy = process.python && py_spy;
      // A zombie, or a process that has exited in the meantime, cannot be inspected.
      if ((!by_py_spy && !gdb) || process.threads.empty() || process.threads.front().state == 'Z') continue;
      const KernelThread& main = process.threads.front();
      looks.push_back({s, p, by_py_spy ? Tool::kPySpy : Tool::kGdb});
      places.push_back(process.name + '\n' + main.state + main.wait + '\n' + main.call);
      ++subject.tools_left;
    }
  }
  // If there was no time to look for tools, they are not reported as missing.
  if (none && !late_) Note("no_tools", "");
  if (no_py_spy && !none && !late_) Note("no_py_spy", "");
  if (!late_) {
    const std::vector<std::size_t> order = RarestFirst(places);
    // Processes that only wait for a child, such as shells, are inspected last.
    for (const bool parents : {false, true}) {
      for (const std::size_t i : order) {
        const KernelThread& main = subjects_[looks[i].subject].found[looks[i].process].kernel.threads.front();
        if ((main.call == "wait4" || main.call == "waitid" || main.wait == "do_wait") == parents) {
          looks_.push_back(looks[i]);
        }
      }
    }
  } else {
    std::size_t left = 0;
    for (Subject& subject : subjects_) {
      subject.tools_left = 0;
      left += std::min(subject.found.size(), kMostLookedInto);
    }
    if (left > 0) Note("late", LateText(left, within_));
  }
  for (std::size_t s = 0; s < subjects_.size(); ++s) {
    if (subjects_[s].tools_left == 0) Report(s);
  }
  if (subjects_.empty()) ReportNext();
  StartTools();
}

void DumpTaker::StartTools() {
  while (!looks_.empty() && running_.size() < most_tools_) {
    const Look look = looks_.front();
    looks_.pop_front();
    // If the kernel refuses a tool once, it will refuse it again.
    const bool useless = refused_.contains(look.tool) && !succeeded_.contains(look.tool);
    if (useless || !StartTool(look)) ToolDone(look.subject);
  }
}

bool DumpTaker::StartTool(const Look& look) {
  const Subject& subject = subjects_[look.subject];
  const KernelProcess& process = subject.found[look.process].kernel;
  if (Identify(process.identity.pid) != process.identity) return false;
  UniqueFd output(::memfd_create("muster-dump", MFD_CLOEXEC));
  const std::uint32_t number = next_tool_++;
  if (!output) return false;
  const std::vector<std::string> argv = CommandLine(look.tool == Tool::kPySpy, process.identity.pid);
  if (const auto started = Command(number, argv, subject.target.search_path, output.get()); !started) {
    Note("failed", SpawnErrorText(started.error()));
    return false;
  }
  const bool was_stopped = !process.threads.empty() && process.threads.front().state == 'T';
  held_.emplace(number, Held{process.identity, was_stopped});
  running_.emplace(number, RunningTool{look, std::move(output), false});
  return true;
}

tl::expected<ProcessStarted, SpawnError> DumpTaker::Command(std::uint32_t number, const std::vector<std::string>& argv,
                                                            const std::string& search_path, int output) {
  const std::vector<std::string> env = {"PATH=" + search_path, "LC_ALL=C.UTF-8"};
  SpawnSpec spec;
  spec.argv = argv;
  spec.env = EnvPointers(env);
  spec.cwd = "/";
  spec.stdout_fd = spec.stderr_fd = output;
  spec.limits.push_back({RLIMIT_FSIZE, {kMostToolFile, kMostToolFile}});
  spec.limits.push_back({RLIMIT_CORE, {0, 0}});
  return tools_.Start(number, 0, std::move(spec));
}

void DumpTaker::OnToolExited(const ProcessExited& event) {
  if (const auto held = held_.extract(event.process); held && event.signalled) Resume(held.mapped());
  if (const auto finder = finders_.extract(event.process)) {
    FinderDone(finder.mapped());
    if (tools_.empty()) observer_.idle();
    return;
  }
  const auto found = running_.find(event.process);
  if (found == running_.end()) {  // of a dump that was cancelled
    if (tools_.empty()) observer_.idle();
    return;
  }
  const RunningTool tool = std::move(found->second);
  running_.erase(found);
  Subject& subject = subjects_[tool.look.subject];
  const bool shown = TakeStacks(tool, event);
  if (!shown && !tool.stopped && !late_ && tool.look.tool == Tool::kPySpy &&
      Has(subject.target.search_path, Tool::kGdb)) {
    looks_.push_front({tool.look.subject, tool.look.process, Tool::kGdb});
  } else {
    ToolDone(tool.look.subject);
  }
  StartTools();
  if (tools_.empty()) observer_.idle();
}

bool DumpTaker::TakeStacks(const RunningTool& tool, const ProcessExited& event) {
  FoundProcess& process = subjects_[tool.look.subject].found[tool.look.process];
  const bool py_spy = tool.look.tool == Tool::kPySpy;
  const std::string name = NameOf(py_spy);
  std::string output = ReadText(tool.output.get(), kMostToolOutput);
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
    succeeded_.insert(tool.look.tool);
    return true;
  }
  if (tool.stopped) return false;  // reported by the note "late"
  if (const std::string refusal = RefusalIn(output); !refusal.empty()) {
    refused_.insert(tool.look.tool);
    Note("refused", fmt::format("{}: {}{}", name, refusal, YamaText()));
  } else if (Identify(process.kernel.identity.pid) == process.kernel.identity) {
    const std::string words = LastWords(output);
    Note("failed", fmt::format("{} {}{}{}", name,
                               event.signalled ? fmt::format("was ended by signal {}", event.code)
                                               : fmt::format("exited with code {}", event.code),
                               words.empty() ? "" : ": ", words));
  }
  return false;
}

// A tool that was killed while it attached to a process may have left it stopped, or about to stop: the signal with
// which ptrace(2) attaches can still be pending, and SIGCONT removes it.
void DumpTaker::Resume(const Held& held) {
  const pid_t pid = held.identity.pid;
  if (held.was_stopped) return;
  const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (Identify(pid) != held.identity) return;
  if (pidfd) {
    ::syscall(SYS_pidfd_send_signal, pidfd.get(), SIGCONT, nullptr, 0);
  } else {
    ::kill(pid, SIGCONT);
  }
}

void DumpTaker::ToolDone(std::size_t subject) {
  if (--subjects_[subject].tools_left == 0) Report(subject);
}

void DumpTaker::OnDeadline() {
  late_ = true;
  if (const std::size_t left = looks_.size() + running_.size(); left > 0) {
    Note("late", LateText(left, within_));
  }
  if (!finders_.empty()) {
    for (const auto& [number, finder] : finders_) tools_.Stop(number, 0, SIGKILL, std::chrono::milliseconds(0));
    finders_.clear();
    return ChooseTools();
  }
  const std::deque<Look> looks = std::exchange(looks_, {});
  for (const Look& look : looks) ToolDone(look.subject);
  for (auto& [number, tool] : running_) {
    tool.stopped = true;
    tools_.Stop(number, 0, SIGTERM, kToolGrace);
  }
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
      Subject& subject = subjects_[to_report_.front()];
      subject.told.states = Summarize(subject.found);
      subject.told.at = MonotonicNowNs();
      const std::string text = DumpFileText(subject.target.title, subject.told, subject.found);
      const auto file = CreateLogFile(subject.target.file);
      int error = file ? 0 : file.error().error;
      for (std::size_t at = 0; error == 0 && at < text.size();) {
        const ssize_t wrote = ::write(file->get(), text.data() + at, text.size() - at);
        if (wrote > 0) at += static_cast<std::size_t>(wrote);
        if (wrote < 0 && errno != EINTR) error = errno;
      }
      if (error != 0) Note("file", fmt::format("{}: {}", subject.target.file.path, std::strerror(error)));
      observer_.told(subject.told);
      for (const FoundProcess& process : subject.found) kept_ -= std::min(kept_, process.output.size());
      subject.found.clear();
      to_report_.pop_front();
      --untold_;
    }
    if (!to_report_.empty()) return ReportNext();
    if (untold_ > 0) return;
    HostDumped done;
    done.dump = dump_;
    done.notes = std::exchange(notes_, {});
    taking_ = false;
    deadline_.cancel();
    observer_.done(done);
  });
}

// Each kind once: a note about one process usually holds for all.
void DumpTaker::Note(const std::string& kind, std::string detail) {
  const bool known = std::any_of(notes_.begin(), notes_.end(), [&](const DumpNote& note) { return note.kind == kind; });
  if (!known && notes_.size() < kMostNotes) notes_.push_back({kind, CutText(detail, 2 * kMostStackName)});
}

}  // namespace muster
