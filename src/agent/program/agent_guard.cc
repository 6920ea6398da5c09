#include "agent/program/agent_guard.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/program/dial_head.h"
#include "base/system/clock.h"
#include "base/system/own_process.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/leftovers/leftovers.h"
#include "spawn/start/forks.h"
#include "spawn/start/reap.h"

namespace muster {
namespace {

constexpr pid_t kFirstProcess = 1;
constexpr std::string_view kHold = "--hold";
constexpr std::string_view kHeld = "--held";

// The arguments of a process; empty if it is gone.
std::vector<std::string> WordsOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

bool IsCalledWith(const std::vector<std::string>& words, std::string_view option) {
  return words.size() > 1 && words[0].ends_with("muster-agent") &&
         std::find(words.begin() + 1, words.end(), option) != words.end();
}

UniqueFd OpenPidfd(pid_t pid) { return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))); }

// The agents that hold the pod.
class Agents {
 public:
  // False if the kernel cannot watch it.
  bool Add(pid_t pid) {
    seen_ = true;
    UniqueFd fd = OpenPidfd(pid);
    if (!fd) return errno == ESRCH;
    fds_.push_back(std::move(fd));
    return true;
  }

  // Agents that were there before this process could receive their signal.
  void AddRunning() {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
      const auto pid = ParseNumber<pid_t>(entry.path().filename().native());
      if (pid && *pid != kFirstProcess && IsAgent(*pid)) Add(*pid);
    }
  }

  void Signal(int signal) const {
    for (const UniqueFd& fd : fds_) ::syscall(SYS_pidfd_send_signal, fd.get(), signal, nullptr, 0);
  }

  bool seen() const { return seen_; }
  const std::vector<UniqueFd>& fds() const { return fds_; }
  void Drop(std::size_t at) { fds_.erase(fds_.begin() + static_cast<std::ptrdiff_t>(at)); }

 private:
  static bool IsAgent(pid_t pid) { return IsCalledWith(WordsOf(pid), kHeld); }

  std::vector<UniqueFd> fds_;
  bool seen_ = false;
};

}  // namespace

int HoldPod(std::chrono::seconds wait) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD}) sigaddset(&signals, signal);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  const UniqueFd arrived(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!arrived) {
    std::fprintf(stderr, "muster-agent: --hold: %s\n", std::strerror(errno));
    return 1;
  }
  Agents agents;
  agents.AddRunning();
  bool deleted = false;  // the agents know
  const std::uint64_t deadline = MonotonicNowNs() + static_cast<std::uint64_t>(std::chrono::nanoseconds(wait).count());
  for (;;) {
    std::vector<pollfd> polled = {{arrived.get(), POLLIN, 0}};
    for (const UniqueFd& agent : agents.fds()) polled.push_back({agent.get(), POLLIN, 0});
    if (agents.seen() && agents.fds().empty()) return 0;
    int timeout = -1;
    if (!agents.seen()) {
      const std::uint64_t now = MonotonicNowNs();
      if (now >= deadline) {
        std::fprintf(stderr, "muster-agent: no head of muster has connected within %lld s\n",
                     static_cast<long long>(wait.count()));
        return 1;
      }
      constexpr std::uint64_t kMs = 1'000'000;
      timeout = static_cast<int>(std::min<std::uint64_t>((deadline - now + kMs - 1) / kMs, 60'000));
    }
    if (::poll(polled.data(), polled.size(), timeout) < 0 && errno != EINTR) return 1;
    for (std::size_t i = polled.size() - 1; i > 0; --i) {
      if (polled[i].revents != 0) agents.Drop(i - 1);
    }
    signalfd_siginfo info;
    while (::read(arrived.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGTERM && !agents.fds().empty() && !std::exchange(deleted, true)) {
        agents.Signal(SIGTERM);
        continue;
      }
      if (signal == SIGTERM || signal == SIGINT) return 0;
      if (signal == SIGCHLD) {
        while (::waitpid(-1, nullptr, WNOHANG) > 0) {
        }
      } else if (!agents.Add(static_cast<pid_t>(info.ssi_pid))) {
        std::fprintf(stderr, "muster-agent: --hold: the agent cannot be watched: %s\n", std::strerror(errno));
        return 1;
      }
    }
  }
}

const char* JoinHolder() {
  if (!IsCalledWith(WordsOf(kFirstProcess), kHold)) {
    return "process 1 of this container is not `muster-agent --hold`";
  }
  return ::kill(kFirstProcess, SIGUSR1) == 0 ? "" : std::strerror(errno);
}

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
  const int null = OpenNull();
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
    if (ties.kill_count >= 0) ::close(ties.kill_count);
    if (ties.connection >= 0) ::close(ties.connection);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != guard) ::_exit(failed);
    return made;
  }

  ::prctl(PR_SET_NAME, "muster-guard");
  // A limit on the size of files is an error of write(2), EFBIG, and one on processor time is left to the kernel.
  for (const int signal : {SIGPIPE, SIGINT, SIGHUP, SIGXFSZ, SIGXCPU}) std::signal(signal, SIG_IGN);
  const int kept = KeepOnly(std::max(ties.kill_count, ties.connection));
  const EndedProcess end = GuardChild(
      agent, [&made] { return made.slate_->lease_ms / 2; }, kDefaultLeaseMs,
      [&made] { return made.slate_->goes_on.exchange(false); });
  // Orphans were children of the agent; after its exit they are children of this process.
  const KillReport report = KillDescendants({});
  if (made.slate_->size > 0) RemoveCgroup(std::string(made.slate_->cgroup, made.slate_->size));
  if (ties.kill_count >= 0) {
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
