#include "spawn/start/captured_command.h"

#include <cerrno>
#include <csignal>
#include <utility>

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/write_all.h"

namespace muster {
namespace {

std::string ReadFrom(int fd) {
  const off_t size = ::lseek(fd, 0, SEEK_END);
  std::string bytes(size > 0 ? static_cast<std::size_t>(size) : 0, '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t part = ::pread(fd, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (part <= 0) break;
    got += static_cast<std::size_t>(part);
  }
  bytes.resize(got);
  return bytes;
}

}  // namespace

CapturedCommand::CapturedCommand(Launcher& launcher, SpawnSpec spec, std::string_view input)
    : out_(::memfd_create("muster-out", MFD_CLOEXEC)), err_(::memfd_create("muster-err", MFD_CLOEXEC)) {
  if (!out_ || !err_) return;
  UniqueFd given;
  if (!input.empty()) {
    given.reset(::memfd_create("muster-in", MFD_CLOEXEC));
    if (!given || WriteForReader(given.get(), input) != 0) return;
    spec.stdin_fd = given.get();
  }
  spec.stdout_fd = out_.get();
  spec.stderr_fd = err_.get();
  spec.grouping = Grouping::kOwnGroup;
  spec.parent_death_signal = SIGKILL;
  spec.limits.push_back({RLIMIT_FSIZE, {kMostBytes, kMostBytes}});
  spec.limits.push_back({RLIMIT_CORE, {0, 0}});
  auto spawned = launcher.Spawn(spec);
  if (!spawned) return;
  pidfd_ = std::move(spawned->pidfd);
  pid_ = ChildRef{spawned->pid, pidfd_.get()};
}

CapturedCommand::~CapturedCommand() {
  if (!pid_) return;
  KillChild(*pid_);
  ReapAtEnd(*pid_);
}

CommandOutput CapturedCommand::Take(std::chrono::milliseconds within) {
  CommandOutput output;
  if (!pid_) return output;
  output.started = true;
  const bool ended =
      EndsBy(*pid_, MonotonicNowNs() + static_cast<std::uint64_t>(std::chrono::nanoseconds(within).count()));
  if (!ended) KillChild(*pid_);
  output.late = !ended;
  const EndedProcess end = ReapAtEnd(*std::exchange(pid_, std::nullopt));
  output.out = ReadFrom(out_.get());
  output.err = ReadFrom(err_.get());
  if (ended && !end.signalled) output.exit_code = end.code;
  return output;
}

}  // namespace muster
