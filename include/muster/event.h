// Events: everything that happens after the plan, as values. Agents send the first group; the session
// adds the second. The journal writes every one of them (docs/journal.md); the supervisor answers each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace muster {

// A process of the plan, as the run knows it: index into Plan::processes.
using ProcessId = std::uint32_t;

// Nanoseconds of CLOCK_MONOTONIC on the host that observed the event.
using MonotonicNs = std::uint64_t;

// --- what an agent reports -------------------------------------------------------------------------

struct ProcessStarted {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat: with the pid it names a process for good
  MonotonicNs at = 0;

  bool operator==(const ProcessStarted&) const = default;
};

// What the role's readiness waits for is there. Sent at most once for an attempt, before its end; not for the kinds
// that the start and the end themselves tell.
struct ProcessReady {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  MonotonicNs at = 0;

  bool operator==(const ProcessReady&) const = default;
};

// The attempt's log has its first byte. Sent at most once for an attempt, before its end, and only where the kernel
// tells of it (inotify(7)); `at` is when the agent was told.
struct FirstOutput {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  MonotonicNs at = 0;

  bool operator==(const FirstOutput&) const = default;
};

// What the agent saw besides, about the end that the next ProcessExited of the attempt tells of. Best effort: that
// there is none says nothing.
struct EndEvidence {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string kind;    // "core": where the core dump went · "memory": the kernel killed for lack of it · "disk": full
  std::string detail;  // a phrase for people; names of files and words of the kernel in it are untrusted
  MonotonicNs at = 0;

  bool operator==(const EndEvidence&) const = default;
};

// Somebody who is none of the job's processes has a port that this run had found or been given, and that an attempt
// would need: told before the ProcessExited of the attempt that failed, or, once for an attempt, while it is waited
// for to listen there.
struct PortTaken {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string port;  // its name in the plan
  std::uint16_t number = 0;
  std::string holder;    // a phrase for people, "process 4711 (nc -l 6667)"; empty if nobody can be seen
  bool running = false;  // the attempt, as far as is known
  MonotonicNs at = 0;

  bool operator==(const PortTaken&) const = default;
};

struct SpawnFailed {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string stage;       // which spawn stage: docs/glossary.md, "spawn stage"
  std::int32_t error = 0;  // errno
  std::string detail;      // the path or limit concerned
  MonotonicNs at = 0;

  bool operator==(const SpawnFailed&) const = default;
};

struct ProcessExited {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  bool signalled = false;
  std::int32_t code = 0;  // exit code, or signal number if `signalled`
  bool core_dumped = false;
  std::uint64_t user_us = 0;
  std::uint64_t system_us = 0;
  std::uint64_t max_rss_kib = 0;
  MonotonicNs at = 0;

  bool operator==(const ProcessExited&) const = default;
};

struct SignalSent {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::int32_t signal = 0;
  std::int32_t error = 0;  // errno of a failed kill (ESRCH also if it had ended already), 0 if delivered
  MonotonicNs at = 0;

  bool operator==(const SignalSent&) const = default;
};

// The attempt has a pseudo-terminal as its terminal: told right after ProcessStarted.
struct PtyOpened {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  MonotonicNs at = 0;

  bool operator==(const PtyOpened&) const = default;
};

// It is gone, and everything written to it has been told: before the attempt's ProcessExited.
struct PtyClosed {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint64_t bytes = 0;     // written there in all
  std::uint64_t unlogged = 0;  // of those, the last ones: the disk did not take them, and the log lacks them
  MonotonicNs at = 0;

  bool operator==(const PtyClosed&) const = default;
};

// Answer to the question what has been written: the running processes and the sizes of their logs, in the same order.
struct OutputSeen {
  std::uint32_t host = 0;
  std::vector<ProcessId> processes;
  std::vector<std::uint64_t> bytes;

  bool operator==(const OutputSeen&) const = default;
};

// One frame of a stack. Texts come from foreign programs and are not trusted.
struct StackFrame {
  std::string function;    // "??" if it has no name
  std::string file;        // empty if nothing is known of the source
  std::uint32_t line = 0;  // 0: not known

  bool operator==(const StackFrame&) const = default;
};

// A thread, or threads of one system process that are found in the same place.
struct ThreadState {
  std::int32_t tid = 0;     // of the first; 0 if it is not known, as where only a tool knows of it
  std::uint32_t alike = 1;  // how many there are
  std::string name;
  std::string state;   // "running", "sleeping", "uninterruptible", "stopped", "traced", "zombie", …; empty: not known
  std::string wait;    // the kernel function in which it waits (its wait channel); empty: in none, or not to be seen
  std::string call;    // the system call it is in: "read"
  std::string target;  // what that is about, if it names a descriptor: "pipe", "socket", a path
  std::vector<StackFrame> frames;  // the innermost first; empty if no tool showed them

  bool operator==(const ThreadState&) const = default;
};

// A system process: that of an attempt, or one below it.
struct SystemProcessState {
  std::int32_t pid = 0;
  std::int32_t parent = 0;
  std::string program;       // its short name (comm)
  std::uint64_t cpu_ns = 0;  // processor time that it used within ProcessDumped::window_ns
  std::uint32_t threads_seen = 0;
  std::string by;                    // what showed the stacks: "py-spy", "gdb"; empty: nothing did
  std::vector<ThreadState> threads;  // its main thread first

  bool operator==(const SystemProcessState&) const = default;
};

// What an attempt was doing when a dump was taken. The whole of it is in a file of the run directory; here is what
// can be compared: bounded, and without a word that the process wrote itself.
struct ProcessDumped {
  std::uint32_t dump = 0;
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint64_t log_bytes = 0;             // how much its log held, …
  std::uint64_t silent_ms = 0;             // … and for how long nothing had been added
  std::uint64_t window_ns = 0;             // over which processor time was measured
  std::vector<SystemProcessState> states;  // its own first, then those below it, each after its parent
  MonotonicNs at = 0;

  bool operator==(const ProcessDumped&) const = default;
};

// Something about a dump that concerns a whole host, told once.
struct DumpNote {
  // "no_tools", "no_py_spy", "refused" (the kernel allows no look into processes), "late" (the time was over),
  // "failed" (a tool), "file" (one cannot be written)
  std::string kind;
  std::string detail;  // a phrase for people, not trusted; may be empty

  bool operator==(const DumpNote&) const = default;
};

// All that the host has to say about the dump has been said.
struct HostDumped {
  std::uint32_t host = 0;
  std::uint32_t dump = 0;
  std::vector<DumpNote> notes;

  bool operator==(const HostDumped&) const = default;
};

// Devices that the run needs on a host are held by others and are waited for: told at most once for each host, before
// anything is started. No event: only what is prepared waits.
struct DevicesAwaited {
  std::uint32_t host = 0;
  std::uint32_t count = 0;  // how many are needed
  std::string holders;      // which device is held by which job, for people; untrusted text

  bool operator==(const DevicesAwaited&) const = default;
};

// The agent has nothing left of what it started: sent once, in answer to "finish".
struct AgentEmpty {
  std::uint32_t host = 0;
  std::uint32_t started = 0;      // processes of the plan started (attempts)
  std::uint32_t reaped = 0;       // of those
  std::uint32_t adopted = 0;      // orphans adopted and reaped besides
  std::vector<std::string> by;    // means used: "pidfd", "process-group", "children", …
  std::uint32_t descriptors = 0;  // open in the agent
  std::uint64_t memory_kib = 0;   // resident

  bool operator==(const AgentEmpty&) const = default;
};

// The connection to the agent ended without "empty".
struct AgentLost {
  std::uint32_t host = 0;
  std::string why;
  std::uint32_t killed = 0;  // processes that the head had to end itself

  bool operator==(const AgentLost&) const = default;
};

// How the monotonic clock of another host is read on the head's, as far as could be found out up to now.
struct ClockCompared {
  std::uint32_t host = 0;
  std::int64_t offset_ns = 0;  // the head's time is the host's plus this, …
  std::uint64_t error_ns = 0;  // … give or take this

  bool operator==(const ClockCompared&) const = default;
};

// --- what the session adds -------------------------------------------------------------------------

// The user asked for an end: 1 is graceful, 2 and more at once.
struct StopRequested {
  std::uint32_t times = 1;
  std::int32_t signal = 0;  // the signal muster received, 0 if another command asked
  bool dump = false;        // a dump is to be taken first

  bool operator==(const StopRequested&) const = default;
};

// Other ports have been found in answer to an order to find some, and the binding is made anew with them.
struct PlanRebound {
  std::map<std::string, std::uint16_t> ports;  // all of the plan
  std::string error;                           // why there are none; empty if there are

  bool operator==(const PlanRebound&) const = default;
};

// A spare has taken the place of a host of the plan that was lost, in answer to an order, and the binding is made anew
// with it. Spares have the numbers after those of the plan's hosts.
struct HostReplaced {
  std::uint32_t host = 0;  // of the plan
  std::uint32_t by = 0;
  std::string name;                            // how processes find it called, …
  std::string address;                         // … and where
  std::vector<std::string> devices;            // as in HostBinding
  std::map<std::string, std::uint16_t> ports;  // all of the plan
  std::map<std::string, std::string> cores;    // of processes that got some: "worker.2" -> "0-3"
  std::string error;                           // why it cannot; empty if it did

  bool operator==(const HostReplaced&) const = default;
};

struct DeadlinePassed {
  std::uint64_t timer = 0;

  bool operator==(const DeadlinePassed&) const = default;
};

// There is a checkpoint that processes can go on from: the one that the run resumes, the newest before a restart, or
// one that was written on the way to the end.
struct CheckpointSeen {
  std::string path;
  std::string run;  // whose it is: empty for this run's own

  bool operator==(const CheckpointSeen&) const = default;
};

// The user wants to know what every process is doing.
struct DumpRequested {
  bool operator==(const DumpRequested&) const = default;
};

using Event = std::variant<ProcessStarted, SpawnFailed, ProcessExited, SignalSent, AgentEmpty, AgentLost, StopRequested,
                           DeadlinePassed, ProcessReady, OutputSeen, FirstOutput, EndEvidence, PortTaken, PlanRebound,
                           ProcessDumped, HostDumped, DumpRequested, PtyOpened, PtyClosed, ClockCompared, HostReplaced,
                           CheckpointSeen>;

}  // namespace muster
