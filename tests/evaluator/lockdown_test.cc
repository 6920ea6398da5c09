// Tests that the lockdown is irrevocable: each forbidden call ends the process by SIGSYS, each allowed one works.
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "evaluator/child.h"

namespace muster {
namespace {

// Runs the body in a locked-down child; returns the child's wait status. Exit code 99: the lockdown failed.
int StatusOf(const std::function<void()>& body, std::string_view filter = {}) {
  const pid_t child = ::fork();
  if (child == 0) {
    const Lockdown lockdown = LockDown({}, filter);
    if (!lockdown.error.empty() || lockdown.means.empty() || lockdown.means.back() != "seccomp") ::_exit(99);
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

struct Call {
  const char* name;
  std::function<void()> make;
};

std::vector<Call> ForbiddenCalls() {
  return {
      {"open", [] { ::open("/dev/null", O_RDONLY); }},
      {"openat of a new file", [] { ::openat(AT_FDCWD, "new", O_CREAT | O_WRONLY, 0600); }},
      {"stat",
       [] {
         struct stat facts {};
         ::syscall(SYS_newfstatat, AT_FDCWD, "/", &facts, 0);
       }},
      {"unlink", [] { ::unlink("/nowhere"); }},
      {"mkdir", [] { ::mkdir("/nowhere/a", 0700); }},
      {"memfd_create", [] { ::memfd_create("x", 0); }},
      {"socket", [] { ::socket(AF_INET, SOCK_STREAM, 0); }},
      {"socketpair",
       [] {
         int fds[2];
         ::socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
       }},
      {"sendmsg",
       [] {
         msghdr message{};
         ::sendmsg(0, &message, 0);
       }},
#ifndef MUSTER_SANITIZED  // allowed then (evaluator/child.cc)
      {"pipe",
       [] {
         int fds[2];
         static_cast<void>(!::pipe(fds));
       }},
#endif
      {"dup", [] { [[maybe_unused]] const int copy = ::dup(0); }},
      {"fork", [] { ::fork(); }},
      {"vfork-like clone", [] { ::syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0); }},
      {"clone3", [] { ::syscall(SYS_clone3, nullptr, 0); }},
      {"execve",
       [] {
         char* const none[] = {nullptr};
         ::execve("/bin/true", none, none);
       }},
      {"kill", [] { ::kill(::getppid(), 0); }},
      {"kill of itself", [] { ::syscall(SYS_kill, ::getpid(), SIGTERM); }},
      {"tgkill", [] { ::syscall(SYS_tgkill, ::getpid(), ::getpid(), SIGTERM); }},
      {"ptrace", [] { ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
      {"prctl", [] { ::syscall(SYS_prctl, 0, 0, 0, 0, 0); }},
      {"setrlimit",
       [] {
         rlimit limit{};
         ::setrlimit(RLIMIT_CORE, &limit);
       }},
      {"setuid", [] { ::syscall(SYS_setuid, 0); }},
      {"ioctl", [] { ::syscall(SYS_ioctl, 0, 0, 0); }},
      {"bpf", [] { ::syscall(SYS_bpf, 0, nullptr, 0); }},
      {"seccomp", [] { ::syscall(SYS_seccomp, 0, 0, nullptr); }},
      {"io_uring_setup", [] { ::syscall(SYS_io_uring_setup, 1, nullptr); }},
      {"process_vm_readv", [] { ::syscall(SYS_process_vm_readv, ::getppid(), nullptr, 0, nullptr, 0, 0); }},
      {"memory that can be executed",
       [] { ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }},
      {"memory made executable",
       [] {
         void* page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         ::mprotect(page, 4096, PROT_READ | PROT_EXEC);
       }},
      {"pkey_mprotect", [] { ::syscall(SYS_pkey_mprotect, nullptr, 0, PROT_EXEC, 0); }},
      {"an unknown call", [] { ::syscall(4000); }},
  };
}

TEST(Lockdown, KillsOnForbiddenCalls) {
  for (const Call& call : ForbiddenCalls()) {
    const int status = StatusOf(call.make);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << call.name << " ended with status " << status;
  }
}

TEST(Lockdown, AllowsWhatComputingNeeds) {
  const int status = StatusOf([] {
    std::vector<std::string> strings;
    for (int i = 0; i < 100'000; ++i) strings.push_back(std::string(100, 'x'));
    char* large = static_cast<char*>(std::malloc(256U << 20));
    std::memset(large, 1, 1U << 20);
    large = static_cast<char*>(std::realloc(large, 300U << 20));
    std::free(large);
    timespec now{};
    if (::clock_gettime(CLOCK_MONOTONIC, &now) != 0) ::_exit(1);
    try {
      throw std::string("exceptions work, too");
    } catch (const std::string&) {
    }
  });
  EXPECT_EQ(status, 0);
}

TEST(Lockdown, AllowsTheChannelToTheParent) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  ASSERT_EQ(::write(sockets[0], "ask", 3), 3);
  const int status = StatusOf([&] {
    char buffer[3];
    if (::recv(sockets[1], buffer, 3, 0) != 3) ::_exit(1);
    if (::send(sockets[1], buffer, 3, MSG_NOSIGNAL) != 3) ::_exit(2);
  });
  EXPECT_EQ(status, 0);
  char answer[3];
  EXPECT_EQ(::recv(sockets[0], answer, 3, MSG_DONTWAIT), 3);
  ::close(sockets[0]);
  ::close(sockets[1]);
}

// Without seccomp, a descriptor limit stands in: no call may return a new descriptor.
TEST(Lockdown, WithoutSeccompReturnsNoDescriptor) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int fd = 3; fd < 256; ++fd) ::close(fd);
    ::dup2(0, 3);  // the channel to the parent
    Without without;
    without.Add(Mechanism::kSeccomp);
    const Lockdown lockdown = LockDown(without);
    if (!lockdown.error.empty() || lockdown.means.back() != "fd-limit") ::_exit(99);
    int fds[2];
    if (::open("/dev/null", O_RDONLY) >= 0 || ::socket(AF_INET, SOCK_STREAM, 0) >= 0) ::_exit(1);
    if (::pipe(fds) == 0 || ::dup(0) >= 0 || ::memfd_create("x", 0) >= 0) ::_exit(2);
    rlimit higher{64, 64};
    if (::geteuid() != 0 && ::setrlimit(RLIMIT_NOFILE, &higher) == 0) ::_exit(3);
    if (::geteuid() != 0 && ::fork() >= 0) ::_exit(4);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Lockdown, WithoutLandlockInstallsTheFilter) {
  const pid_t child = ::fork();
  if (child == 0) {
    Without without;
    without.Add(Mechanism::kLandlock);
    if (LockDown(without).means != std::vector<std::string>{"no_new_privs", "seccomp"}) ::_exit(99);
    ::open("/dev/null", O_RDONLY);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << status;
}

TEST(Lockdown, IsAsStrictWithAPrecompiledFilter) {
  const std::string filter = LockdownFilter();
  ASSERT_FALSE(filter.empty());
  for (const Call& call : ForbiddenCalls()) EXPECT_EQ(StatusOf(call.make, filter), SIGSYS) << call.name;
  EXPECT_EQ(StatusOf([] { ::getpid(); }, filter), 0);
}

TEST(Lockdown, IsIrrevocable) {
  EXPECT_EQ(StatusOf([] {
              // The first lockdown forbids a second one: prctl is blocked.
              LockDown();
            }),
            SIGSYS);
}

TEST(Lockdown, ReportsTheMechanismsInForce) {
  const Lockdown* found = nullptr;
  EXPECT_EXIT(
      {
        static const Lockdown lockdown = LockDown();
        found = &lockdown;
        std::string means;
        for (const std::string& name : found->means) means += name + " ";
        std::fprintf(stderr, "%s\n", means.c_str());
        ::_exit(found->error.empty() ? 0 : 1);
      },
      ::testing::ExitedWithCode(0), "no_new_privs .*seccomp");
}

}  // namespace
}  // namespace muster
