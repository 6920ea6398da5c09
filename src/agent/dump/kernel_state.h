// Kernel data about a process and its descendants: state, wait channel, system call, kernel stack and processor time of
// each thread (proc(5)).
//
// Reads /proc; uses only files that the kernel serves without waiting for the process (neither its memory map nor its
// command line, which a process stuck in the kernel can block for ever), and sends no signals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "spawn/leftovers/leftovers.h"

namespace muster {

struct KernelThread {
  pid_t tid = 0;
  std::string name;
  char state = '?';    // as in /proc/PID/stat: 'R', 'S', 'D', 'T', 't', 'Z', …
  std::string wait;    // the wait channel; empty: none, or not visible
  std::string call;    // "read", or "232" for a call without a name here; empty: none, or not visible
  std::string target;  // target of the call's descriptor: "pipe:[4711]", "/data/7.bin"; empty: the call has none
  std::vector<std::string> stack;  // the kernel stack, if permitted
};

struct KernelProcess {
  ProcessIdentity identity;
  pid_t parent = 0;
  std::string name;
  bool python = false;       // whether the program is a Python interpreter, by its file name
  std::uint64_t cpu_ns = 0;  // processor time of its running threads
  std::size_t threads_seen = 0;
  std::vector<KernelThread> threads;  // the main thread first; at most kMaxKernelThreads
};

inline constexpr std::size_t kMaxKernelProcesses = 16;  // of one process and its descendants
inline constexpr std::size_t kMaxKernelThreads = 64;

// The process and its descendants, each after its parent, with their processor time, but without their threads.
std::vector<KernelProcess> ProcessTree(pid_t root);
// Adds the threads, and updates the processor time.
void ReadThreadStates(KernelProcess& process);

// The word for a thread's state; empty if unknown.
std::string_view ThreadStateName(char state);

// --- texts of files in /proc ---

struct StatText {
  std::string name;
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  std::uint64_t cpu_ticks = 0;       // user and system
  std::uint64_t children_ticks = 0;  // of the children that it has waited for
  std::uint64_t rss_pages = 0;
};
// /proc/PID/stat. The name may hold blanks and brackets.
std::optional<StatText> ParseStat(std::string_view text);
// That of a process; nothing if there is none.
std::optional<StatText> ReadStat(pid_t pid);

struct SyscallText {
  std::string call;
  std::optional<int> descriptor;  // the call's first argument, if it is a descriptor
};
// /proc/PID/syscall: "0 0x3 0x7f…", "running", "-1 0x… 0x…".
SyscallText ParseSyscall(std::string_view text);

// "pipe:[4711]" becomes "pipe", "anon_inode:[eventpoll]" becomes "eventpoll"; other texts remain. So equal kinds in
// different processes have equal texts.
std::string TargetKind(std::string_view target);

}  // namespace muster
