#include "agent/program/agent_guard.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <new>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/program/last_word.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/forks.h"
#include "spawn/start/reap.h"

namespace muster {

// Shared memory, so that the information is available even if the agent is killed right after writing it.
struct AgentGuard::Slate {
  std::atomic<std::uint64_t> lease_ms = 0;
  std::atomic<std::size_t> size = 0;  // written last
  std::atomic<bool> partial = false;
  std::atomic<bool> goes_on = false;  // after a SIGTERM
  char cgroup[4096 - 3 * sizeof(std::uint64_t)] = {};
};

void AgentGuard::KnowCgroup(const std::string& path) const {
  if (slate_ == nullptr || path.size() > sizeof slate_->cgroup) return;
  path.copy(slate_->cgroup, path.size());
  slate_->size = path.size();
}

void AgentGuard::KnowLease(std::uint64_t ms) const {
  if (slate_ != nullptr) slate_->lease_ms = ms;
}

void AgentGuard::NoteTermination() const {
  if (slate_ != nullptr) slate_->goes_on = true;
}

bool AgentGuard::IsGone() const { return slate_ != nullptr && ::getppid() != pid_; }

void AgentGuard::Wake() const {
  if (slate_ != nullptr && ::getppid() == pid_) ::kill(pid_, SIGCONT);
}

std::atomic<bool>* AgentGuard::partial() const { return slate_ == nullptr ? nullptr : &slate_->partial; }

namespace {

// The guard must not keep the connection open after agent or head have closed it. Returns the new number of `kept`.
int KeepOnly(int kept) {
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(null, fd);
  constexpr int kFirst = STDERR_FILENO + 1;
  if (kept >= 0 && kept != kFirst) ::dup2(kept, kFirst);
  CloseFrom(kept < 0 ? kFirst : kFirst + 1);
  return kept < 0 ? kept : kFirst;
}

}  // namespace

AgentGuard BeGuarded(int failed, const GuardTies& ties) {
  if (!BecomeSubreaper()) return {};
  void* const place =
      ::mmap(nullptr, sizeof(AgentGuard::Slate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return {};
  AgentGuard made;
  made.slate_ = new (place) AgentGuard::Slate;

  // Before there is a child about which these signals are sent.
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGTERM}) sigaddset(&watched, signal);
  ::sigprocmask(SIG_BLOCK, &watched, nullptr);
  const pid_t guard = ::getpid();
  made.pid_ = guard;
  const pid_t agent = ::fork();
  if (agent <= 0) {
    if (agent < 0) return {};
    if (ties.account >= 0) ::close(ties.account);
    if (ties.connection >= 0) ::close(ties.connection);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != guard) ::_exit(failed);
    return made;
  }

  ::prctl(PR_SET_NAME, "muster-guard");
  // A limit on the size of files is an error of write(2), EFBIG, and one on processor time is left to the kernel.
  for (const int signal : {SIGPIPE, SIGINT, SIGHUP, SIGXFSZ, SIGXCPU}) std::signal(signal, SIG_IGN);
  const int kept = KeepOnly(std::max(ties.account, ties.connection));
  const EndedProcess end = GuardChild(
      agent, [&made] { return made.slate_->lease_ms / 2; }, kDefaultLeaseMs,
      [&made] { return made.slate_->goes_on.exchange(false); });
  // Orphans were children of the agent; after its exit they are children of this process.
  const KillReport report = KillDescendants({});
  if (made.slate_->size > 0) RemoveCgroup(std::string(made.slate_->cgroup, made.slate_->size));
  if (ties.account >= 0) {
    WriteKilledCount(kept, report.killed);
    EndAs(end);  // the head inherits and reports processes that cannot be killed
  }
  if (ties.connection >= 0 && report.left.empty()) {
    SayLastWord(kept, end, report.killed, made.slate_->partial);
  } else if (ties.connection >= 0) {
    ResetConnection(kept);
  }
  if (end.signalled) {
    std::fprintf(stderr, "muster-agent: %s; processes that it left and that were ended: %zu\n", EndText(end).c_str(),
                 static_cast<std::size_t>(report.killed));
  }
  if (!report.left.empty()) {
    std::fprintf(stderr, "muster-agent: %zu processes cannot be ended\n", report.left.size());
    ::_exit(failed);
  }
  ::_exit(end.signalled ? failed : end.code);
}

}  // namespace muster
