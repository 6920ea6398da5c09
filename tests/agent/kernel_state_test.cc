// Tests parsing of the kernel's files about processes, and reading those of a real process.
#include "agent/dump/kernel_state.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace muster {
namespace {

TEST(KernelState, ParsesStatWithAnyName) {
  const auto stat = ParseStat("4711 (a) b (c)) D 12 4711 1 0 -1 4194560 1 2 3 4 50 7 0 0 20 0 1 0 99 0 0\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) b (c)");
  EXPECT_EQ(stat->state, 'D');
  EXPECT_EQ(stat->parent, 12);
  EXPECT_EQ(stat->cpu_ticks, 57U);
  for (const char* broken : {"", "4711", "4711 (a)", "4711 (a) ", ") (", "1 (a) SS 1", "1 (a) S x"}) {
    EXPECT_FALSE(ParseStat(broken)) << broken;
  }
}

TEST(KernelState, ParsesSystemCalls) {
  const SyscallText read = ParseSyscall(std::to_string(SYS_read) + " 0x3 0x7f00 0x1 0x0 0x0 0x0 0x7ffc 0x7f0c\n");
  EXPECT_EQ(read.call, "read");
  EXPECT_EQ(read.descriptor, 3);
  const SyscallText futex = ParseSyscall(std::to_string(SYS_futex) + " 0x3 0x7f00\n");
  EXPECT_EQ(futex.call, "futex");
  EXPECT_FALSE(futex.descriptor) << "its first argument is an address";
  EXPECT_EQ(ParseSyscall("running\n").call, "");
  EXPECT_EQ(ParseSyscall("-1 0x7ffc 0x7f0c\n").call, "") << "blocked, and in no call";
  EXPECT_EQ(ParseSyscall("99999 0x3\n").call, "99999");
  EXPECT_FALSE(ParseSyscall(std::to_string(SYS_read) + " 0xffffffffffffffff 0x0\n").descriptor);
  EXPECT_FALSE(ParseSyscall(std::to_string(SYS_read)).descriptor);
  EXPECT_EQ(ParseSyscall("").call, "");
}

TEST(KernelState, NamesTargetsWithoutTheirNumbers) {
  EXPECT_EQ(TargetKind("pipe:[4711]"), "pipe");
  EXPECT_EQ(TargetKind("socket:[1]"), "socket");
  EXPECT_EQ(TargetKind("anon_inode:[eventpoll]"), "eventpoll");
  EXPECT_EQ(TargetKind("anon_inode:inotify"), "inotify");
  EXPECT_EQ(TargetKind("/data/a:[7].bin"), "/data/a:[7].bin");
  EXPECT_EQ(TargetKind(""), "");
}

TEST(KernelState, ReadsThisProcess) {
  std::vector<KernelProcess> tree = ProcessTree(::getpid());
  ASSERT_FALSE(tree.empty());
  EXPECT_EQ(tree.front().identity, *Identify(::getpid()));
  EXPECT_EQ(tree.front().parent, ::getppid());
  EXPECT_GT(tree.front().cpu_ns, 0U);
  ReadThreadStates(tree.front());
  ASSERT_FALSE(tree.front().threads.empty());
  EXPECT_EQ(tree.front().threads.front().tid, ::getpid());
  EXPECT_EQ(tree.front().threads.front().state, 'R') << "it is looking";
  EXPECT_EQ(ThreadStateName('R'), "running");
}

TEST(KernelState, IsEmptyForAProcessThatHasExited) {
  EXPECT_TRUE(ProcessTree(0).empty());
  KernelProcess gone;
  gone.identity = {::getpid(), 1};  // the pid belongs to another process now
  ReadThreadStates(gone);
  EXPECT_TRUE(gone.threads.empty());
}

}  // namespace
}  // namespace muster
