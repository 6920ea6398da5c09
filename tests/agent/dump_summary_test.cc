// Tests how kernel and tool output is combined into a dump, and the order in which processes are inspected.
#include "agent/dump/dump_summary.h"

#include <string>

#include <gtest/gtest.h>

namespace muster {
namespace {

KernelThread Thread(pid_t tid, const std::string& wait) { return {tid, "python3", 'S', wait, "read", "pipe:[7]", {}}; }

FoundProcess Found(std::size_t threads) {
  FoundProcess found;
  found.kernel.identity = {10, 1};
  found.kernel.parent = 1;
  found.kernel.name = "python3";
  found.kernel.threads_seen = threads;
  for (std::size_t i = 0; i < threads; ++i) found.kernel.threads.push_back(Thread(10 + static_cast<pid_t>(i), "futex"));
  found.kernel.threads[0].wait = "pipe_read";
  return found;
}

TEST(DumpSummary, AssignsStacksToThreads) {
  FoundProcess found = Found(4);
  found.by = "py-spy";
  found.stacks = {{0, "MainThread", {{"read", "a.py", 1}}}, {12, "loader", {{"load", "b.py", 2}}}, {0, "odd", {}}};
  const std::vector<SystemProcessState> states = Summarize({found});
  ASSERT_EQ(states.size(), 1U);
  EXPECT_EQ(states[0].threads_seen, 4U);
  const std::vector<ThreadState>& threads = states[0].threads;
  ASSERT_EQ(threads.size(), 4U) << "two that wait alike are one";
  EXPECT_EQ(threads[0].name, "MainThread");
  EXPECT_EQ(threads[0].frames, (std::vector<StackFrame>{{"read", "a.py", 1}}));
  EXPECT_EQ(threads[0].wait, "pipe_read");
  EXPECT_EQ(threads[0].target, "pipe");
  EXPECT_EQ(threads[1].tid, 11);
  EXPECT_EQ(threads[1].alike, 2U);
  EXPECT_EQ(threads[2].name, "loader");
  EXPECT_EQ(threads[3].name, "odd");
  EXPECT_EQ(threads[3].state, "");
}

TEST(DumpSummary, IsBounded) {
  FoundProcess found = Found(60);
  for (std::size_t i = 0; i < 60; ++i) {
    found.kernel.threads[i].wait = "w" + std::to_string(i);
    found.stacks.push_back({10 + static_cast<pid_t>(i), "", std::vector<StackFrame>(64, {"f", "a.c", 1})});
  }
  const std::vector<SystemProcessState> states = Summarize(std::vector<FoundProcess>(20, found));
  EXPECT_EQ(states.size(), kMaxReportedProcesses);
  std::size_t frames = 0;
  for (const SystemProcessState& state : states) {
    EXPECT_LE(state.threads.size(), kMaxReportedThreads);
    for (const ThreadState& thread : state.threads) frames += thread.frames.size();
  }
  EXPECT_LE(frames, kMaxFramesInAll);
  EXPECT_EQ(states[0].threads[0].frames.size(), kMaxReportedFrames);
}

TEST(DumpSummary, EscapesUnsafeText) {
  FoundProcess found = Found(1);
  found.kernel.name = "a\x1b[31m";
  found.kernel.threads[0].stack = {"pipe_read+0x1/0x2"};
  found.output = "what gdb said:\n#0  \x1b]0;x\x07 f ()";
  found.cpu_ns = 100'000'000;
  ProcessDumped reported;
  reported.window_ns = 200'000'000;
  reported.silent_ms = 65'000;
  reported.log_bytes = 12;
  EXPECT_EQ(DumpFileText("dump 1 of x", reported, {found}),
            "dump 1 of x\n"
            "its log holds 12 bytes; nothing was added for 1 min 5 s\n\n"
            "process 10 a\\x1b[31m, parent 1, 1 thread, 50 % of a processor over 200 ms\n"
            "  thread 10 python3: sleeping in pipe_read, system call read of pipe:[7]\n"
            "    kernel: pipe_read+0x1/0x2\n"
            "  what gdb said:\n"
            "  #0  \\x1b]0;x\\x07 f ()\n");
}

TEST(RarestFirst, TakesOneOfEachPlaceBeforeASecondOfAny) {
  EXPECT_EQ(RarestFirst({"a", "a", "b", "a", "c", "b"}), (std::vector<std::size_t>{4, 2, 0, 5, 1, 3}));
  EXPECT_TRUE(RarestFirst({}).empty());
}

}  // namespace
}  // namespace muster
