#include "spawn/detach/detach.h"

#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawn/detach/close_from.h"

namespace muster {
namespace {

constexpr int kLine = 3;

// Moves this process to a new session without a terminal. False with errno set.
bool BecomeBackground(UniqueFd& line, pid_t caller) {
  if (::prctl(PR_SET_PDEATHSIG, SIGTERM) != 0) return false;
  if (::getppid() != caller) {  // the caller exited before PR_SET_PDEATHSIG took effect
    errno = ESRCH;
    return false;
  }
  if (::setsid() < 0) return false;
  // Any of these may have one of the numbers 0 to 2 or that of `line`; the caller closes all others.
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int words = ::memfd_create("words", MFD_CLOEXEC);
  if (null < 0 || words < 0) return false;
  constexpr int kFree = 10;
  const int high_null = ::fcntl(null, F_DUPFD_CLOEXEC, kFree);
  const int high_words = ::fcntl(words, F_DUPFD_CLOEXEC, kFree);
  const int high_line = ::fcntl(line.get(), F_DUPFD_CLOEXEC, kFree);
  if (high_null < 0 || high_words < 0 || high_line < 0) return false;
  line.release();
  if (::dup2(high_null, STDIN_FILENO) < 0 || ::dup2(high_null, STDOUT_FILENO) < 0 ||
      ::dup2(high_words, STDERR_FILENO) < 0 || ::dup3(high_line, kLine, O_CLOEXEC) < 0) {
    return false;
  }
  line.reset(kLine);
  return true;
}

}  // namespace

tl::expected<Detached, int> DetachFromCaller() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return tl::unexpected(errno);
  UniqueFd callers(ends[0]);
  UniqueFd backgrounds(ends[1]);
  std::fflush(nullptr);  // otherwise both processes would write the buffer
  const pid_t caller = ::getpid();
  const pid_t forked = ::fork();
  if (forked < 0) return tl::unexpected(errno);
  if (forked > 0) return Detached{false, std::move(callers)};
  callers.reset();
  // The caller sees the socket closed.
  if (!BecomeBackground(backgrounds, caller)) ::_exit(1);
  CloseFrom(kLine + 1);
  return Detached{true, std::move(backgrounds)};
}

void OutliveCaller() { ::prctl(PR_SET_PDEATHSIG, 0); }

}  // namespace muster
