#include "base/system/exit_statuses.h"

#include <csignal>

namespace muster {

void KeepExitStatuses() {
  struct sigaction children = {};
  if (::sigaction(SIGCHLD, nullptr, &children) == 0 &&
      (children.sa_handler == SIG_IGN || (children.sa_flags & SA_NOCLDWAIT) != 0)) {
    children = {};
    children.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, &children, nullptr);
  }
}

}  // namespace muster
