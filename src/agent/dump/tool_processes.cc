#include "agent/dump/tool_processes.h"

#include <algorithm>
#include <csignal>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/dump/dump_summary.h"
#include "base/system/file_access.h"

namespace muster {
namespace {

constexpr std::size_t kMaxNotes = 8;

}  // namespace

void DumpNotes::Add(const std::string& kind, std::string detail) {
  const bool known = std::any_of(notes_.begin(), notes_.end(), [&](const DumpNote& note) { return note.kind == kind; });
  if (!known && notes_.size() < kMaxNotes) notes_.push_back({kind, CutText(detail, 2 * kMaxStackName)});
}

namespace {

constexpr std::size_t kMaxToolOutput = 1U << 20;  // maximum bytes that are read
constexpr rlim_t kMaxToolFile = 4U << 20;         // maximum bytes that it may write
constexpr std::size_t kMaxTools = 4;              // at once; at most the number of processors

}  // namespace

ToolProcesses::ToolProcesses(boost::asio::io_context& io, Launcher& launcher, DumpNotes& notes, Observer observer)
    : notes_(notes),
      observer_(std::move(observer)),
      children_(
          io, launcher,
          {.exited = [this](const ProcessExited& event) { OnExited(event); }, .signalled = [](const SignalSent&) {}}) {}

// Determined on first use: it reads a file, and most agents take no dump.
std::size_t ToolProcesses::MostAtOnce() {
  static const std::size_t most =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN))), 1, kMaxTools);
  return most;
}

std::string ToolProcesses::OutputOf(const Exit& exit) { return BytesAt(exit.output.get(), 0, kMaxToolOutput); }

std::optional<std::uint32_t> ToolProcesses::Start(const std::vector<std::string>& argv, const std::string& search_path,
                                                  const KernelProcess* attaches_to) {
  UniqueFd output(::memfd_create("muster-dump", MFD_CLOEXEC));
  if (!output) return std::nullopt;
  const std::uint32_t number = next_++;
  const std::vector<std::string> env = {"PATH=" + search_path, "LC_ALL=C.UTF-8"};
  SpawnSpec spec;
  spec.argv = argv;
  spec.env = EnvPointers(env);
  spec.cwd = "/";
  spec.stdout_fd = spec.stderr_fd = output.get();
  spec.limits.push_back({RLIMIT_FSIZE, {kMaxToolFile, kMaxToolFile}});
  spec.limits.push_back({RLIMIT_CORE, {0, 0}});
  if (const auto started = children_.Start(number, 0, std::move(spec)); !started) {
    notes_.Add("failed", SpawnErrorText(started.error()));
    return std::nullopt;
  }
  outputs_.emplace(number, std::move(output));
  if (attaches_to != nullptr) {
    const bool was_stopped = !attaches_to->threads.empty() && attaches_to->threads.front().state == 'T';
    held_.emplace(number, Held{attaches_to->identity, was_stopped});
  }
  return number;
}

void ToolProcesses::Stop(std::uint32_t number, std::chrono::milliseconds grace) {
  children_.Stop(number, 0, grace.count() > 0 ? SIGTERM : SIGKILL, grace);
}

void ToolProcesses::KillAll() {
  children_.KillAll();
  outputs_.clear();
}

void ToolProcesses::OnExited(const ProcessExited& event) {
  if (const auto held = held_.extract(event.process); held && event.signalled) Resume(held.mapped());
  if (auto output = outputs_.extract(event.process)) {
    observer_.exited({event.process, std::move(output.mapped()), event.signalled, event.code});
  }
  if (children_.empty()) observer_.idle();
}

// A tool that was killed while it attached to a process may have left it stopped, or about to stop: the signal with
// which ptrace(2) attaches can still be pending, and SIGCONT removes it.
void ToolProcesses::Resume(const Held& held) {
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

}  // namespace muster
