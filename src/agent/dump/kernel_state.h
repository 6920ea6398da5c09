// What the kernel shows of a process and those below it: state, wait channel, system call, kernel stack and processor
// time of each thread (proc(5)).
//
// Knows /proc; asks only for what the kernel answers without waiting for the process (so neither its memory map nor
// its command line, which a process stuck in the kernel can hold up for ever), and signals nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "spawn/leftovers/descendants.h"

namespace muster {

struct KernelThread {
  pid_t tid = 0;
  std::string name;
  char state = '?';    // as in /proc/PID/stat: 'R', 'S', 'D', 'T', 't', 'Z', …
  std::string wait;    // the wait channel; empty: none, or not to be seen
  std::string call;    // "read", "232" for a call that has no name here; empty: none, or not to be seen
  std::string target;  // what the call's descriptor leads to: "pipe:[4711]", "/data/7.bin"; empty: not about one
  std::vector<std::string> stack;  // the kernel's, for who may see it
};

struct KernelProcess {
  ProcessIdentity identity;
  pid_t parent = 0;
  std::string name;
  bool python = false;       // the program is a Python interpreter, by the name of its file
  std::uint64_t cpu_ns = 0;  // processor time of its threads that live
  std::size_t threads_seen = 0;
  std::vector<KernelThread> threads;  // the main one first; at most kMostKernelThreads
};

inline constexpr std::size_t kMostKernelProcesses = 16;  // of one process and those below it
inline constexpr std::size_t kMostKernelThreads = 64;

// The process and those below it, each after its parent, with their processor time, but without their threads.
std::vector<KernelProcess> ProcessTree(pid_t root);
// Adds the threads, and takes the processor time anew.
void ReadThreadStates(KernelProcess& process);

// The word for a thread's state; empty for one that has none.
std::string_view ThreadStateName(char state);

// --- the files' texts ---

struct StatText {
  std::string name;
  char state = '?';
  pid_t parent = 0;
  std::uint64_t cpu_ticks = 0;  // user and system
};
// /proc/PID/stat. The name may hold blanks and brackets.
std::optional<StatText> ParseStat(std::string_view text);

struct SyscallText {
  std::string call;
  std::optional<int> descriptor;  // the call's first argument, for calls where that is one
};
// /proc/PID/syscall: "0 0x3 0x7f…", "running", "-1 0x… 0x…".
SyscallText ParseSyscall(std::string_view text);

// "pipe:[4711]" is "pipe", "anon_inode:[eventpoll]" is "eventpoll"; the rest stays. What is alike in different
// processes is the same then.
std::string TargetKind(std::string_view target);

}  // namespace muster
