#include "agent/agent_guard.h"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <new>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawn/cgroup.h"
#include "spawn/descendants.h"
#include "spawn/reap.h"

namespace muster {
namespace {

// Memory that both see, so that a word is there even if the agent is killed right after it.
struct Slate {
  std::size_t size = 0;  // written last
  char cgroup[4096 - sizeof(std::size_t)] = {};
};

Slate* MakeSlate() {
  void* place = ::mmap(nullptr, sizeof(Slate), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return place == MAP_FAILED ? nullptr : new (place) Slate;
}

[[noreturn]] void Guard(pid_t agent, int failed, const Slate* slate) {
  for (const int signal : {SIGPIPE, SIGINT, SIGHUP}) std::signal(signal, SIG_IGN);
  // The head must see the end of the connection when the agent's ends are closed, and the agent that of the head's.
  const int null = ::open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) ::dup2(null, fd);
  const EndedProcess end = ReapAtEnd({agent, -1});
  // The agent was the one that orphans came to; with it gone it is this process.
  const KillReport report = KillDescendants({});
  if (slate != nullptr && slate->size > 0) RemoveCgroup(std::string(slate->cgroup, slate->size));
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

}  // namespace

TellGuard BeGuarded(int failed) {
  if (!BecomeSubreaper()) return {};
  Slate* const slate = MakeSlate();
  const pid_t guard = ::getpid();
  const pid_t agent = ::fork();
  if (agent > 0) Guard(agent, failed, slate);
  if (agent < 0) return {};
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != guard) ::_exit(failed);
  return [slate](const std::string& cgroup) {
    if (slate == nullptr || cgroup.size() > sizeof slate->cgroup) return;
    cgroup.copy(slate->cgroup, cgroup.size());
    slate->size = cgroup.size();
  };
}

}  // namespace muster
