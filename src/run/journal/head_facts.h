// Facts: the records that the head itself adds to the events of a run, among them findings about hosts. Together with
// event.h they are everything that a journal can contain (docs/journal.md). Plain data, independent of how it is
// written and used; and the words for the end of a process, the same in messages, journal and report.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/binding.h"
#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

// Findings about hosts, as values: faults of hosts, differences between them, and hosts that cannot reach others.
// host_differences.h and run/hosts/host_differences.h determine them.

// Hosts by index, ascending.
using HostSet = std::vector<std::uint32_t>;

struct HostFault {
  std::string kind;  // "unreachable", "clock", "disk", … (docs/doctor.md)
  std::string text;  // the same for all hosts of the set
  std::string hint;  // may be empty
  HostSet hosts;
  std::string effect = {};  // the consequence of the fault; `hint` says how to fix it

  bool operator==(const HostFault&) const = default;
};

struct HostVariant {
  std::string value;
  HostSet hosts;

  bool operator==(const HostVariant&) const = default;
};

struct HostDifference {
  std::string subject;
  std::vector<HostVariant> variants;  // the one with most hosts first, then in the order of hosts

  bool operator==(const HostDifference&) const = default;
};

struct HostComparison {
  std::vector<HostFault> faults;
  std::vector<HostFault> lacks = {};        // missing features that runs can do without
  std::vector<HostDifference> differences;  // between the hosts that were reached

  bool operator==(const HostComparison&) const = default;
};

// No host of `from` can connect to any of `to`, for the same reason.
struct PathFailure {
  HostSet from;
  HostSet to;
  std::string port;          // its name in the plan; empty: a port chosen by the kernel
  std::uint16_t number = 0;  // 0 for a port chosen by the kernel
  std::string why;

  bool operator==(const PathFailure&) const = default;
};

// Facts: the records that the head itself adds to the events of a run. Together with event.h they are everything that a
// journal can contain (docs/journal.md). Plain data, independent of how it is written and used.

// The phases of a job, in order; a job never returns to an earlier one.
enum class Phase : std::uint8_t {
  kPreparing,  // agents connect, ports are chosen: no process of the plan runs
  kStarting,   // processes are started, not all are ready
  kRunning,
  kLingering,  // everything that had to succeed has; serving roles have time to exit by themselves
  kStopping,   // all processes were ordered to stop
  kFinishing,  // agents exit and report what is left
  kDone
};
inline constexpr std::array<std::string_view, 7> kPhaseNames = {"preparing", "starting",  "running", "lingering",
                                                                "stopping",  "finishing", "done"};
inline constexpr int kPhases = kPhaseNames.size();
std::string_view PhaseName(Phase phase);

// Why a job ended; the first cause is kept.
enum class Cause : std::uint8_t {
  kNone,       // no failure
  kFailed,     // a process failed
  kSpawn,      // a process could not be started
  kUnready,    // the run could not be prepared: agent, ports, files
  kStopped,    // the user requested it
  kTimeLimit,  // Plan::time_limit_ms passed
  kLost,       // an agent was lost
  kOverdue     // a process outlived SIGKILL, or an agent did not report its end
};
inline constexpr std::array<std::string_view, 8> kCauseNames = {"none",    "failed",     "spawn", "unready",
                                                                "stopped", "time_limit", "lost",  "overdue"};
// The outcome in report.json: "ok", "failed", "stopped" or "lost".
std::string_view OutcomeName(Cause cause);

// First record of every journal.
struct RunBegan {
  std::uint32_t format = 1;
  std::string run_id;
  std::string plan_id;
  std::string name;
  std::int32_t pid = 0;  // the head's
  bool pass_exit_code = false;
  std::uint64_t plan_ns = 0;          // duration of evaluation and planning before the run
  std::uint64_t evaluate_ns = 0;      // of that, the evaluator's part
  std::uint64_t start_ticks = 0;      // of the head, as in ProcessStarted
  std::string boot;                   // boot id of the machine: pids and start times are valid only for the same boot
  std::vector<std::string> lockdown;  // mechanisms of the evaluator's sandbox; empty if the plan came from a file
  std::string parent;                 // id of the run whose plan or recipe was used; empty: none
  std::vector<std::string> tags;      // given at its start
  std::uint32_t descriptors = 0;      // open in the head
  std::uint64_t memory_kib = 0;       // resident
  bool rehearsal = false;             // whether its processes are stubs (docs/rehearse.md)
  bool drill = false;                 // whether faults are injected (docs/drill.md)

  bool operator==(const RunBegan&) const = default;
};

struct AgentConnected {
  std::uint32_t host = 0;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string host_name;
  std::vector<std::string> mechanisms;
  std::string cgroup;             // see AgentReady
  std::uint32_t descriptors = 0;  // open in the agent
  std::uint64_t memory_kib = 0;   // resident

  bool operator==(const AgentConnected&) const = default;
};

// An agent on another host, or on one that is treated like another one.
struct HostReached {
  std::uint32_t host = 0;  // numbers after those of the plan's hosts are spares
  std::string name;        // as the user named it
  std::string address;
  bool shares_run_dir = false;

  bool operator==(const HostReached&) const = default;
};

// Hosts were inspected before the first process (docs/hosts.md, preflight).
struct HostsCompared {
  std::vector<HostFault> faults;
  std::vector<HostDifference> differences;

  bool operator==(const HostsCompared&) const = default;
};

// Connections between hosts were tested before the first process.
struct PathsCompared {
  std::uint32_t tried = 0;  // connections
  std::vector<PathFailure> faults;

  bool operator==(const PathsCompared&) const = default;
};

// A host has the shipped code.
struct CodeShipped {
  std::uint32_t host = 0;
  std::string hash;
  std::string from;    // the folder on the head's host
  std::string folder;  // the folder on the host
  std::uint32_t files = 0;
  std::uint64_t bytes = 0;  // of all files
  std::uint64_t sent = 0;   // of those, bytes that the host lacked

  bool operator==(const CodeShipped&) const = default;
};

// The state of git in the folder of the recipe when the run began.
struct CodeSeen {
  std::string folder;
  std::string commit;  // empty before the first commit
  std::string branch;  // empty without a branch
  std::uint32_t changed = 0;
  std::uint32_t untracked = 0;
  std::vector<std::string> names;  // the first few changed or untracked files

  bool operator==(const CodeSeen&) const = default;
};

// The binding without its secrets.
struct PlanBound {
  std::string run_dir;
  std::vector<HostBinding> hosts;
  std::map<std::string, std::uint16_t> ports;
  std::map<std::string, std::string> cores = {};  // of processes that were given some: "worker.2" -> "0-3"

  bool operator==(const PlanBound&) const = default;
};

struct PreparationFailed {
  std::string why;

  bool operator==(const PreparationFailed&) const = default;
};

struct StartOrdered {
  ProcessId process = 0;
  std::uint32_t attempt = 0;

  bool operator==(const StartOrdered&) const = default;
};

struct StopOrdered {
  std::vector<ProcessId> processes;
  std::int32_t signal = 0;
  std::uint32_t grace_ms = 0;

  bool operator==(const StopOrdered&) const = default;
};

struct PhaseChanged {
  Phase from = Phase::kPreparing;
  Phase to = Phase::kPreparing;

  bool operator==(const PhaseChanged&) const = default;
};

// Written before any stop is sent: this process failed first, and later failures are its consequences.
struct FirstFailure {
  ProcessId process = 0;
  std::uint32_t attempt = 0;

  bool operator==(const FirstFailure&) const = default;
};

// A process failed before the recorded first failure, and is the origin from now on. Either it crashed or was killed
// from outside, shortly before or after the end whose exit code was taken for the first failure: the kernel closes the
// connections of a dying process before it reports its end, so peers can react, exit and be seen first; a signal from
// outside cannot be a reaction. Or it failed without a stop on another host, by the clocks certainly earlier, but was
// reported later.
struct FailureTraced {
  ProcessId process = 0;
  std::uint32_t attempt = 0;

  bool operator==(const FailureTraced&) const = default;
};

// What a drill does to a run (docs/drill.md).
enum class FaultKind : std::uint8_t {
  kKill,   // a process gets SIGKILL
  kStop,   // … SIGSTOP
  kSlow,   // the processes of a host run half of the time
  kAgent,  // the agent of a host gets SIGKILL
  kCut,    // the connection to a host is held
  kHead,   // the head gets SIGKILL
  kDisk,   // a file system is filled
  // The head gets the notice of an engine that ends the allocation: …
  kPreempt,    // the job is preempted
  kTimeLimit,  // its time limit is near
  // A stub fails of itself (StubFailure):
  kExit,
  kException,
  kMemory,
  kPort,
  kHang
};
inline constexpr std::array<std::string_view, 14> kFaultKindNames = {
    "kill",    "stop",      "slow", "agent",     "cut",    "head", "disk",
    "preempt", "timelimit", "exit", "exception", "memory", "port", "hang"};
inline constexpr bool IsOfStub(FaultKind kind) { return kind >= FaultKind::kExit; }

enum class RestartVerdict : std::uint8_t { kRestart, kStop, kExcludeHost };
inline constexpr std::array<std::string_view, 3> kRestartVerdictNames = {"restart", "stop", "exclude_host"};
std::string_view RestartVerdictName(RestartVerdict verdict);

// A process failed, or its host was lost, while the job was at work: what rules look at, and their verdict
// (docs/verdicts.md). Written before what follows from it.
struct FailureJudged {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint32_t host = 0;  // the machine of the attempt; numbers after those of the plan's hosts are spares
  std::string host_name;
  std::string failure_class;       // of failure_class.h
  std::string fingerprint;         // FailureFingerprint::Id
  std::string what;                // FailureFingerprint::Text
  std::optional<double> step;      // that the attempt reported last
  std::string checkpoint;          // the newest complete one of the job at that time; empty: none
  std::int64_t checkpoint_at = 0;  // when it was written, in nanoseconds since 1970
  bool ready = false;        // it was ready; without a readiness condition: it reported a step, or ran for a minute
  bool alone = false;        // a restart would concern this process alone
  std::string shape;         // hosts, processes and devices of the plan: "4x32x32"
  bool replaceable = false;  // another host can take the place of its host
  RestartVerdict verdict = RestartVerdict::kRestart;
  std::string rule;
  std::string evidence;  // one sentence
  bool obeyed = false;   // whether the restart policy follows verdicts
  // Processes of several hosts may be the cause: they fell silent at the same time.
  bool host_unclear = false;

  bool operator==(const FailureJudged&) const = default;
};

// Processes are restarted after one ended, or because one has to end. Written before any process is stopped for it.
struct RestartPlanned {
  ProcessId process = 0;  // the process that ended, or has to end
  std::uint32_t attempt = 0;
  std::string scope;                 // "process", "role", "job"
  std::vector<ProcessId> processes;  // to be started again once all of them have ended and the delay has passed
  std::uint32_t count = 0;           // restarts of the role within its policy's time, this one included
  std::uint32_t max = 0;
  std::uint32_t delay_ms = 0;
  std::string why;

  bool operator==(const RestartPlanned&) const = default;
};

// The session must choose new ports for all ports that are not set by the recipe: follows the restart that needs them.
struct RebindOrdered {
  bool operator==(const RebindOrdered&) const = default;
};

// A spare must replace a lost host of the plan: follows the restarts that need it. No process is started before it
// has.
struct ReplaceOrdered {
  std::uint32_t host = 0;  // of the plan
  std::uint32_t by = 0;    // see HostReplaced

  bool operator==(const ReplaceOrdered&) const = default;
};

// A process exceeded a limit of its role or the job; muster stops it for that.
struct LimitPassed {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string limit;  // "ready", "time", "silent" (of the role), "silent_job"
  std::uint64_t ms = 0;
  bool apart = false;  // of silence: the dump shows it in another place than most of its role (dump_places.h)

  bool operator==(const LimitPassed&) const = default;
};

// A serving process exited with code 0 while the roles that it serves were still running.
struct EndedEarly {
  ProcessId process = 0;
  std::uint32_t attempt = 0;

  bool operator==(const EndedEarly&) const = default;
};

// An event that does not match what was ordered: recorded, otherwise without effect.
struct StrayEvent {
  std::string what;

  bool operator==(const StrayEvent&) const = default;
};

// An agent sent a message about something that it was not given, or an answer without a request: recorded, otherwise
// without effect; an agent that sends too many of them is lost.
struct HostStray {
  std::uint32_t host = 0;
  std::string what;

  bool operator==(const HostStray&) const = default;
};

// What the engine, in whose allocation the run is, says about a lost host, or about the end of the allocation.
struct EngineAnswered {
  std::string host;  // its name; empty: the allocation
  std::string what;  // a phrase

  bool operator==(const EngineAnswered&) const = default;
};

// A dump of all running processes is being taken.
struct DumpOrdered {
  std::uint32_t dump = 0;  // from 1
  std::string why;         // "silent" (a role), "silent_job", "stop", "asked"

  bool operator==(const DumpOrdered&) const = default;
};

// The dump is over; the action that waited for it follows.
struct DumpEnded {
  std::uint32_t dump = 0;
  bool complete = true;  // every host reported everything

  bool operator==(const DumpEnded&) const = default;
};

// A drill has injected a fault (docs/drill.md). Written before it is.
struct FaultInjected {
  FaultKind kind = FaultKind::kKill;
  std::string process;         // "worker.3"; empty for faults of hosts
  std::uint32_t attempt = 0;   // of the process
  std::string host;            // as the user named it
  std::uint64_t lasts_ms = 0;  // 0: for good
  // The host, or that of the process; numbers after those of the plan's hosts are spares. Unknown in older journals.
  std::optional<std::uint32_t> machine = {};
  std::string directory = {};  // of the file system that is filled

  bool operator==(const FaultInjected&) const = default;
};

struct FinishOrdered {
  bool operator==(const FinishOrdered&) const = default;
};

// Last record of a journal. If it is missing, the head was killed before the end.
struct RunEnded {
  Cause cause = Cause::kNone;
  std::int32_t exit_code = 0;
  std::string why;                // empty if the run succeeded
  std::uint32_t descriptors = 0;  // open in the head
  std::uint64_t memory_kib = 0;   // resident

  bool operator==(const RunEnded&) const = default;
};

// Describes the end of a process, with the same words in messages, journal and report.

// "exited with code 7", "was killed by SIGSEGV (core dumped)"
std::string EndingText(const ProcessExited& event);
// With the meaning of an exit code of the container's runtime: "exited with code 125 (podman could not start …)".
std::string EndingText(const Plan& plan, const ProcessExited& event);

// "could not be started: exec /usr/bin/train: No such file or directory"
std::string EndingText(const SpawnFailed& event);

// "stop worker.1 on n2 for 5.0 s"
std::string FaultText(const FaultInjected& fault);

// "was not ready within 60s"
std::string EndingText(const LimitPassed& event);

// "port rpc (20311) is taken by process 4711 (nc -l 20311)"; safe for a terminal
std::string TakenText(const PortTaken& event);

}  // namespace muster
