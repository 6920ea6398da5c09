// Tests parsing of stacks from py-spy and gdb, and of hostile input.
#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "agent/dump/dump_summary.h"

namespace muster {
namespace {

// Formats as "MainThread 4711: wait threading.py:302 < main train.py:10".
std::string Shown(const std::vector<ThreadStack>& stacks) {
  std::string text;
  for (const ThreadStack& stack : stacks) {
    text += stack.name + " " + std::to_string(stack.tid) + ":";
    const char* separator = " ";
    for (const StackFrame& frame : stack.frames) {
      text += separator + frame.function + " " + frame.file + ":" + std::to_string(frame.line);
      separator = " < ";
    }
    text += "\n";
  }
  return text;
}

constexpr const char* kPySpy =
    "Process 4711: python3 train.py --lr 0.1\n"
    "Python v3.11.7 (/usr/bin/python3.11)\n"
    "\n"
    "Thread 4711 (idle): \"MainThread\"\n"
    "    wait (threading.py:302)\n"
    "    all_reduce (mindspore/communication/comm_func.py:41)\n"
    "    <module> (train.py:10)\n"
    "Thread 4712 (active+gil): \"loader (worker)\"\n"
    "    <lambda> (/data/my (old) files/loader.py:12)\n"
    "    run (threading.py:975)\n"
    "        Locals: a (b:1)\n"
    "Thread 0x7F3A2B (idle)\n"
    "    poll (libc.so.6)\n";

TEST(StackText, ParsesPySpy) {
  EXPECT_EQ(Shown(ParsePySpy(kPySpy)),
            "MainThread 4711: wait threading.py:302 < all_reduce mindspore/communication/comm_func.py:41 < <module> "
            "train.py:10\n"
            "loader (worker) 4712: <lambda> /data/my (old) files/loader.py:12 < run threading.py:975\n"
            " 0: poll libc.so.6:0\n");
}

TEST(StackText, DropsTheCommandLine) {
  EXPECT_EQ(WithoutCommandLine(kPySpy).find("--lr"), std::string::npos);
  EXPECT_EQ(ParsePySpy(WithoutCommandLine(kPySpy)), ParsePySpy(kPySpy));
  EXPECT_EQ(
      WithoutCommandLine("Process 1: python -c secret\nThread 1 (idle): \"x\"\nPython v3.11.7 (s)\nThread 2 (idle)\n"),
      "Process 1\nPython v3.11.7 (s)\nThread 2 (idle)\n")
      << "arguments may hold line breaks";
  EXPECT_EQ(WithoutCommandLine("warning\nProcess 1: python secret\nsecret\n"), "warning\nProcess 1");
  EXPECT_EQ(WithoutCommandLine("Process 1: secret"), "Process 1");
  EXPECT_EQ(WithoutCommandLine("Process "), "Process ");
  EXPECT_EQ(WithoutCommandLine("Error: no\n"), "Error: no\n");
  EXPECT_EQ(WithoutCommandLine(""), "");
}

constexpr const char* kGdb =
    "[New LWP 7533]\n"
    "[Thread debugging using libthread_db enabled]\n"
    "__GI___libc_read (nbytes=..., buf=..., fd=...) at ../sysdeps/unix/sysv/linux/read.c:26\n"
    "26\t../sysdeps/unix/sysv/linux/read.c: No such file or directory.\n"
    "\n"
    "Thread 2 (Thread 0x7f0c2ed1b6c0 (LWP 7533) \"python3 (x)\"):\n"
    "#0  0x00007f0c2f2a3f7b in __GI___futex_abstimed_wait_cancelable64 (futex_word=..., abstime=...) at "
    "./nptl/futex-internal.c:139\n"
    "#1  std::function<void ()>::operator()() const (this=...) at /usr/include/c++/12/bits/std_function.h:591\n"
    "#2  0x0000556fde897081 in ns::f(int, std::vector<int, std::allocator<int> > const&) () from /lib/x (1)/libx.so\n"
    "#3  <signal handler called>\n"
    "#4  0x0000556fde897081 in ?? ()\n"
    "(More stack frames follow...)\n"
    "\n"
    "Thread 1 (process 7491):\n"
    "#0  pause () at pause.c:29\n"
    "#12 0x0000556fde897081 in _start ()\n"
    "[Inferior 1 (process 7491) detached]\n";

TEST(StackText, ParsesGdb) {
  EXPECT_EQ(Shown(ParseGdb(kGdb)),
            "python3 (x) 7533: __GI___futex_abstimed_wait_cancelable64 ./nptl/futex-internal.c:139 < "
            "std::function<void ()>::operator()() const /usr/include/c++/12/bits/std_function.h:591 < "
            "ns::f(int, std::vector<int, std::allocator<int> > const&) /lib/x (1)/libx.so:0 < "
            "<signal handler called> :0 < ?? :0\n"
            " 7491: pause pause.c:29 < _start :0\n");
  EXPECT_EQ(Shown(ParseGdb("Thread 1 (LWP 12 \"a\"):\n#0  0x1 in f ()\n")), "a 12: f :0\n");
}

TEST(StackText, DetectsRefusalsOfTheKernel) {
  EXPECT_EQ(RefusalIn("warning: x\nptrace: Operation not permitted.\nno process\n"),
            "ptrace: Operation not permitted.");
  EXPECT_EQ(RefusalIn("Permission Denied: Try running again with elevated permissions\n"),
            "Permission Denied: Try running again with elevated permissions");
  EXPECT_EQ(RefusalIn(kGdb), "");
  EXPECT_EQ(LastWords("a\n  why not \n\n"), "why not");
  EXPECT_EQ(LastWords(""), "");
}

TEST(StackText, TruncatesBetweenCharacters) {
  EXPECT_EQ(CutText("abc", 3), "abc");
  EXPECT_EQ(CutText("abcdefgh", 6), "abc…");
  EXPECT_EQ(CutText("aöcdefgh", 5), "a…");
  EXPECT_EQ(CutText("abcdefgh", 6, true), "…fgh");
  EXPECT_EQ(CutText("abcdeföh", 5, true), "…h");
  EXPECT_EQ(CutText("abcdef", 1), "…") << "the mark itself is not cut";
}

TEST(StackText, IsBoundedForAnyInput) {
  std::string many;
  for (int thread = 0; thread < 300; ++thread) {
    many += "Thread " + std::to_string(thread) + " (idle): \"" + std::string(500, 'n') + "\"\n";
    for (int frame = 0; frame < 70; ++frame) many += "    " + std::string(300, 'f') + " (a:1)\n";
  }
  const std::vector<ThreadStack> stacks = ParsePySpy(many);
  ASSERT_EQ(stacks.size(), kMaxStackThreads);
  for (const ThreadStack& stack : stacks) {
    EXPECT_EQ(stack.frames.size(), kMaxStackFrames);
    EXPECT_LE(stack.name.size(), kMaxStackName);
    EXPECT_LE(stack.frames[0].function.size(), kMaxStackName);
  }
  EXPECT_TRUE(ParsePySpy("    f (a.py:1)\n").empty()) << "a frame of no thread";
  EXPECT_EQ(Shown(ParsePySpy("Thread 99999999999 (idle)\n    f (a.py:99999999999)\n    ()\n     g (b)\n    (c)\n")),
            " 0: f a.py:99999999999:0\n");
  EXPECT_EQ(Shown(ParseGdb("Thread x:\n#\n#x\n#0\n#1  0x12\n#2  )\n#3  f) at \n")), " 0: ?? :0 < ) :0 < f) at :0\n");
}

// Random fragments of both formats must not crash the parser or exceed its bounds.
TEST(StackText, AcceptsAnyBytes) {
  std::mt19937 random(7);
  for (const std::string& whole : {std::string(kPySpy), std::string(kGdb)}) {
    for (int round = 0; round < 2'000; ++round) {
      std::string text = whole;
      for (int change = 0; change < 8; ++change) {
        const std::size_t at = random() % text.size();
        if (random() % 2 == 0) {
          text[at] = "()\"# \n\0\xff:"[random() % 9];
        } else {
          text.erase(at, random() % 20);
        }
      }
      for (const auto& stacks : {ParsePySpy(text), ParseGdb(text)}) {
        EXPECT_LE(stacks.size(), 10U);
        for (const ThreadStack& stack : stacks) {
          EXPECT_TRUE(std::none_of(stack.frames.begin(), stack.frames.end(),
                                   [](const StackFrame& frame) { return frame.function.empty(); }));
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster
