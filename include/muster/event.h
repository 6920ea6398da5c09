// Events: everything that happens after the plan, as values. Agents send the first group; the session adds the second.
// The journal records all of them (docs/journal.md), and the supervisor reacts to each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace muster {

// A process of the plan: index into Plan::processes.
using ProcessId = std::uint32_t;

// Nanoseconds of CLOCK_MONOTONIC on the host that observed the event.
using MonotonicNs = std::uint64_t;

// --- events from agents ----------------------------------------------------------------------------

struct ProcessStarted {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat: unique together with the pid
  MonotonicNs at = 0;

  bool operator==(const ProcessStarted&) const = default;
};

// The role's readiness condition holds. Sent at most once per attempt, before its end; not for the conditions that are
// equivalent to the start or the end.
struct ProcessReady {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  MonotonicNs at = 0;

  bool operator==(const ProcessReady&) const = default;
};

// The attempt's log has its first byte. Sent at most once per attempt, before its end, and only if the kernel reports
// writes (inotify(7)); `at` is when the agent was notified.
struct FirstOutput {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  MonotonicNs at = 0;

  bool operator==(const FirstOutput&) const = default;
};

// Observations of the agent about the end that the attempt's next ProcessExited reports. Best effort: their absence
// means nothing.
struct EndEvidence {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string kind;    // "core": location of the core dump · "memory": killed by the kernel · "disk": full
  std::string detail;  // a phrase for people; names of files and texts of the kernel in it are untrusted
  MonotonicNs at = 0;

  bool operator==(const EndEvidence&) const = default;
};

// A foreign process holds a port of this run that an attempt needs: sent before the
// ProcessExited of the failed attempt, or, once per attempt, while muster waits for it to listen
// on the port.
struct PortTaken {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string port;  // its name in the plan
  std::uint16_t number = 0;
  std::string holder;    // a phrase, "process 4711 (nc -l 6667)"; empty if unknown
  bool running = false;  // whether the attempt is running, as far as known
  MonotonicNs at = 0;

  bool operator==(const PortTaken&) const = default;
};

struct SpawnFailed {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string stage;       // docs/glossary.md, "spawn stage"
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
  std::int32_t error = 0;  // errno of a failed kill (ESRCH also if it had ended already), 0 if it was sent
  MonotonicNs at = 0;

  bool operator==(const SignalSent&) const = default;
};

// The attempt has a pseudo-terminal as its terminal: sent right after ProcessStarted.
struct PtyOpened {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  MonotonicNs at = 0;

  bool operator==(const PtyOpened&) const = default;
};

// The pseudo-terminal is closed, and all its output has been sent: before the attempt's ProcessExited.
struct PtyClosed {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint64_t bytes = 0;     // total output
  std::uint64_t unlogged = 0;  // the last bytes of it that are missing in the log, because of the disk
  MonotonicNs at = 0;

  bool operator==(const PtyClosed&) const = default;
};

// The answer to a query for output: the running processes and the sizes of their logs, in the same order.
struct OutputSeen {
  std::uint32_t host = 0;
  std::vector<ProcessId> processes;
  std::vector<std::uint64_t> bytes;

  bool operator==(const OutputSeen&) const = default;
};

// One frame of a stack. Texts come from other programs and are not trusted.
struct StackFrame {
  std::string function;    // "??" if unknown
  std::string file;        // empty if unknown
  std::uint32_t line = 0;  // 0: unknown

  bool operator==(const StackFrame&) const = default;
};

// A thread, or several threads of one system process at the same place.
struct ThreadState {
  std::int32_t tid = 0;     // of the first one; 0 if unknown
  std::uint32_t alike = 1;  // number of threads
  std::string name;
  std::string state;   // "running", "sleeping", "uninterruptible", "stopped", "traced", "zombie", …; empty: unknown
  std::string wait;    // the kernel function in which it waits (its wait channel); empty: none, or not visible
  std::string call;    // its current system call: "read"
  std::string target;  // the descriptor argument of the call, if any: "pipe", "socket", a path
  std::vector<StackFrame> frames;  // innermost first; empty if no tool showed them

  bool operator==(const ThreadState&) const = default;
};

// A system process: that of an attempt, or a descendant.
struct SystemProcessState {
  std::int32_t pid = 0;
  std::int32_t parent = 0;
  std::string program;       // its short name (comm)
  std::uint64_t cpu_ns = 0;  // CPU time used within ProcessDumped::window_ns
  std::uint32_t threads_seen = 0;
  std::string by;                    // the tool that showed the stacks: "py-spy", "gdb"; empty: none
  std::vector<ThreadState> threads;  // main thread first

  bool operator==(const SystemProcessState&) const = default;
};

// The state of an attempt when a dump was taken. The full dump is in a file of the run directory; this is the part for
// comparison: bounded, and without texts that the process wrote itself.
struct ProcessDumped {
  std::uint32_t dump = 0;
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint64_t log_bytes = 0;             // size of its log, …
  std::uint64_t silent_ms = 0;             // … and the time since it last grew
  std::uint64_t window_ns = 0;             // the interval for cpu_ns
  std::vector<SystemProcessState> states;  // its own process first, then descendants, each after its parent
  MonotonicNs at = 0;

  bool operator==(const ProcessDumped&) const = default;
};

// A note about a dump that concerns a whole host, sent once.
struct DumpNote {
  // "no_tools", "no_py_spy", "refused" (the kernel does not permit inspecting processes), "late" (the time limit was
  // exceeded), "failed" (a tool), "file" (one cannot be written)
  std::string kind;
  std::string detail;  // a phrase, untrusted; may be empty

  bool operator==(const DumpNote&) const = default;
};

// The host has sent everything about the dump.
struct HostDumped {
  std::uint32_t host = 0;
  std::uint32_t dump = 0;
  std::vector<DumpNote> notes;

  bool operator==(const HostDumped&) const = default;
};

// The run waits for devices on a host that other jobs hold: sent at most once per host, before anything is started. Not
// an event: only the preparation waits.
struct DevicesAwaited {
  std::uint32_t host = 0;
  std::uint32_t count = 0;  // how many are needed
  std::string holders;      // which job holds which device, as text; untrusted

  bool operator==(const DevicesAwaited&) const = default;
};

// The agent has no processes left: sent once, in answer to "finish".
struct AgentEmpty {
  std::uint32_t host = 0;
  std::uint32_t started = 0;      // attempts of the plan's processes that were started
  std::uint32_t reaped = 0;       // of those
  std::uint32_t adopted = 0;      // orphans that the agent adopted and reaped besides
  std::vector<std::string> by;    // mechanisms used: "pidfd", "process-group", "children", …
  std::uint32_t descriptors = 0;  // open in the agent
  std::uint64_t memory_kib = 0;   // resident

  bool operator==(const AgentEmpty&) const = default;
};

// The connection to the agent ended without "empty".
struct AgentLost {
  std::uint32_t host = 0;
  std::string why;
  std::uint32_t killed = 0;      // processes that the head had to kill itself
  std::uint64_t unheard_ms = 0;  // how long nothing had come from it; 0: its end was seen at once

  bool operator==(const AgentLost&) const = default;
};

// The offset between the monotonic clocks of another host and the head, as far as known.
struct ClockCompared {
  std::uint32_t host = 0;
  std::int64_t offset_ns = 0;  // the head's time is the host's plus this, …
  std::uint64_t error_ns = 0;  // … with this uncertainty

  bool operator==(const ClockCompared&) const = default;
};

// --- events from the session -----------------------------------------------------------------------

// The user requested a stop: 1 is graceful, 2 and more at once.
struct StopRequested {
  std::uint32_t times = 1;
  std::int32_t signal = 0;  // the signal that muster received, 0 if a command requested the stop
  bool dump = false;        // take a dump first
  std::string why = {};     // what the signal announced: "the time limit of slurm job 12 is near"; empty: nothing known

  bool operator==(const StopRequested&) const = default;
};

// New ports have been chosen on the supervisor's order, and the binding has been updated.
struct PlanRebound {
  std::map<std::string, std::uint16_t> ports;  // all of the plan's
  std::string error;                           // why there are none; empty on success

  bool operator==(const PlanRebound&) const = default;
};

// A spare host has replaced a lost host of the plan on the supervisor's order, and the binding has been updated. Spares
// are numbered after the plan's hosts.
struct HostReplaced {
  std::uint32_t host = 0;  // of the plan
  std::uint32_t by = 0;
  std::string name;                            // the name for processes
  std::string address;                         // … and the address
  std::vector<std::string> devices;            // as in HostBinding
  std::map<std::string, std::uint16_t> ports;  // all of the plan's
  std::map<std::string, std::string> cores;    // of processes with assigned cores: "worker.2" -> "0-3"
  std::string error;                           // why it is impossible; empty on success

  bool operator==(const HostReplaced&) const = default;
};

struct DeadlinePassed {
  std::uint64_t timer = 0;

  bool operator==(const DeadlinePassed&) const = default;
};

// There is a checkpoint to resume from: that of the resumed run, the newest before a restart, or one that was written
// during a stop.
struct CheckpointSeen {
  std::string path;
  std::string run;           // the run that wrote it; empty for this run
  std::int64_t age_ms = -1;  // since it was written, by the time of its file; -1: unknown

  bool operator==(const CheckpointSeen&) const = default;
};

// The user requested the state of every process.
struct DumpRequested {
  bool operator==(const DumpRequested&) const = default;
};

using Event = std::variant<ProcessStarted, SpawnFailed, ProcessExited, SignalSent, AgentEmpty, AgentLost, StopRequested,
                           DeadlinePassed, ProcessReady, OutputSeen, FirstOutput, EndEvidence, PortTaken, PlanRebound,
                           ProcessDumped, HostDumped, DumpRequested, PtyOpened, PtyClosed, ClockCompared, HostReplaced,
                           CheckpointSeen>;

}  // namespace muster
