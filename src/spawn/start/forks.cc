#include "spawn/start/forks.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/own_process.h"

namespace muster {

void CloseFrom(int first) {
  if (::syscall(SYS_close_range, first, ~0U, 0) == 0) return;
  // Kernels before 5.9. The directory's own descriptor is closed by then; closing it again is harmless.
  std::vector<int> open;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end; it.increment(error)) {
    open.push_back(std::stoi(it->path().filename().string()));
  }
  for (const int fd : open) {
    if (fd >= first) ::close(fd);
  }
}

#if defined(__x86_64__) || defined(__aarch64__)

// A child that shares its parent's memory returns from the call on another stack, without this function's frame: it
// must leave by a call before the compiler uses either stack. The parent is suspended meanwhile.
pid_t CloneInto(const CloneIntoOrders& orders) {
  clone_args arguments = {};
  arguments.flags = orders.flags | CLONE_INTO_CGROUP;
  arguments.pidfd = reinterpret_cast<std::uintptr_t>(orders.pidfd);
  arguments.exit_signal = static_cast<std::uint64_t>(orders.signal);
  arguments.stack = reinterpret_cast<std::uintptr_t>(orders.stack);
  arguments.stack_size = orders.stack_bytes;
  arguments.cgroup = static_cast<std::uint64_t>(orders.group);
#ifdef __x86_64__
  long result = SYS_clone3;
  asm volatile(
      "syscall\n\t"
      "testq %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "xorl %%ebp, %%ebp\n\t"  // the outermost frame (System V ABI, 3.4.1)
      "movq %%rbx, %%rdi\n\t"
      "callq *%%rdx\n\t"
      "ud2\n\t"
      "1:"
      : "+a"(result)
      : "D"(&arguments), "S"(sizeof arguments), "d"(orders.entry), "b"(orders.argument)
      : "rcx", "r11", "cc", "memory");
#else
  register long result asm("x0") = reinterpret_cast<long>(&arguments);
  register std::size_t size asm("x1") = sizeof arguments;
  register auto entry asm("x2") = orders.entry;
  register auto argument asm("x3") = orders.argument;
  register long number asm("x8") = SYS_clone3;
  asm volatile(
      "svc #0\n\t"
      "cbnz x0, 1f\n\t"
      "mov x29, xzr\n\t"  // the outermost frame (AAPCS64, 6.4.6)
      "mov x30, xzr\n\t"
      "mov x0, x3\n\t"
      "blr x2\n\t"
      "brk #1\n"
      "1:"
      : "+r"(result)
      : "r"(size), "r"(entry), "r"(argument), "r"(number)
      : "cc", "memory");
#endif
  return static_cast<pid_t>(result);
}

#else

pid_t CloneInto(const CloneIntoOrders& orders) {
  static_cast<void>(orders);
  return -ENOSYS;
}

#endif

pid_t ForkSibling(int death_signal, pid_t parent) {
  // With CLONE_PARENT the kernel gives the copy this process's parent and exit signal.
  const long pid = ::syscall(SYS_clone, CLONE_PARENT, nullptr, nullptr, nullptr, 0);
  if (pid < 0) return -errno;
  if (pid > 0) return static_cast<pid_t>(pid);
  if (::prctl(PR_SET_PDEATHSIG, death_signal) != 0 || ::getppid() != parent) ::_exit(1);
  return 0;
}

tl::expected<ForkedCopy, int> ForkedCopy::Start(const std::function<int(UniqueFd line)>& main, int death_signal) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return tl::unexpected(errno);
  ForkedCopy copy;
  copy.line_ = UniqueFd(ends[0]);
  UniqueFd line(ends[1]);
  std::fflush(nullptr);  // otherwise both processes would write the buffer
  const pid_t caller = ::getpid();
  copy.pid_ = ::fork();
  if (copy.pid_ < 0) return tl::unexpected(errno);
  if (copy.pid_ > 0) return copy;
  copy.line_.reset();
  if (::prctl(PR_SET_PDEATHSIG, death_signal) != 0 || ::getppid() != caller) ::_exit(1);
  const int code = main(std::move(line));
  std::fflush(nullptr);
  ::_exit(code);
}

std::string ForkedCopy::Words() {
  constexpr std::size_t kMaxWords = 64U << 10;
  std::string words;
  char block[4096];
  while (words.size() < kMaxWords) {
    const ssize_t got = ::read(line_.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    words.append(block, static_cast<std::size_t>(got));
  }
  line_.reset();
  return words;
}

void ForkedCopy::Signal(int signal) const {
  if (!code_) ::kill(pid_, signal);
}

std::optional<int> ForkedCopy::Over() {
  int status = 0;
  if (code_ || ::waitpid(pid_, &status, WNOHANG) != pid_) return code_;
  constexpr int kSignalled = 128;
  code_ = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
  return code_;
}

std::optional<Spawned> AdoptChild(pid_t pid, const Mechanisms& mechanisms) {
  siginfo_t info = {};
  if (pid <= 0 || ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) return std::nullopt;
  Spawned child{pid, {}};
  // The pid of a child that has not been waited for cannot be reused.
  if (mechanisms.pidfd) child.pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return child;
}

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
  const int null = OpenNull();
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
