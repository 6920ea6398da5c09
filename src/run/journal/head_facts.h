// Facts: what the head itself adds to the events of a run. Together with event.h they are all that a
// journal can hold (docs/journal.md). Plain data; knows neither how it is written nor who acts on it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/binding.h"
#include "muster/event.h"
#include "run/journal/host_findings.h"

namespace muster {

// The phases of a job, in order; a job only ever goes forward.
enum class Phase : std::uint8_t {
  kPreparing,  // agents connect, ports are found: nothing of the plan runs
  kStarting,   // processes are started, not all are ready
  kRunning,
  kLingering,  // all that had to end well has; the serving roles may leave by themselves
  kStopping,   // everything was told to stop
  kFinishing,  // agents end and attest what is left
  kDone
};
inline constexpr std::array<std::string_view, 7> kPhaseNames = {"preparing", "starting",  "running", "lingering",
                                                                "stopping",  "finishing", "done"};
inline constexpr int kPhases = kPhaseNames.size();
std::string_view PhaseName(Phase phase);

// Why a job ended; the first cause stays.
enum class Cause : std::uint8_t {
  kNone,       // nothing went wrong
  kFailed,     // a process failed
  kSpawn,      // a process could not be started
  kUnready,    // the run could not be prepared: agent, ports, files
  kStopped,    // the user asked
  kTimeLimit,  // Plan::time_limit_ms passed
  kLost,       // an agent was lost
  kOverdue     // a process outlived SIGKILL, or an agent did not answer the end
};
inline constexpr std::array<std::string_view, 8> kCauseNames = {"none",    "failed",     "spawn", "unready",
                                                                "stopped", "time_limit", "lost",  "overdue"};
std::string_view CauseName(Cause cause);
// What report.json calls the outcome: "ok", "failed", "stopped" or "lost".
std::string_view OutcomeName(Cause cause);

// First record of every journal.
struct RunBegan {
  std::uint32_t format = 1;
  std::string run_id;
  std::string plan_id;
  std::string name;
  std::int32_t pid = 0;  // the head's
  bool pass_exit_code = false;
  std::uint64_t plan_ns = 0;          // evaluation and planning before the run
  std::uint64_t evaluate_ns = 0;      // of that, the evaluator's part
  std::uint64_t start_ticks = 0;      // of the head, as in ProcessStarted
  std::string boot;                   // this start of the machine: pids and start times of others mean nothing here
  std::vector<std::string> lockdown;  // what the evaluator had locked itself down by; empty for a plan of a file
  std::string parent;                 // id of the run whose plan or recipe this one took; empty: none
  std::vector<std::string> tags;      // that it was given at its start
  std::uint32_t descriptors = 0;      // open in the head
  std::uint64_t memory_kib = 0;       // resident
  bool rehearsal = false;             // its processes are stubs (docs/rehearse.md)

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

// An agent on a host that is not this one, or is treated as if it were not.
struct HostReached {
  std::uint32_t host = 0;  // numbers after those of the plan's hosts are spares
  std::string name;        // as the user named it
  std::string address;
  bool shares_run_dir = false;

  bool operator==(const HostReached&) const = default;
};

// Hosts were looked at before the first process (docs/hosts.md, preflight).
struct HostsCompared {
  std::vector<HostFault> faults;
  std::vector<HostDifference> differences;

  bool operator==(const HostsCompared&) const = default;
};

// … and so were the ways between them.
struct PathsCompared {
  std::uint32_t tried = 0;  // connections
  std::vector<PathFailure> faults;

  bool operator==(const PathsCompared&) const = default;
};

// A host has the code that was shipped.
struct CodeShipped {
  std::uint32_t host = 0;
  std::string hash;
  std::string from;    // the folder here
  std::string folder;  // … and there
  std::uint32_t files = 0;
  std::uint64_t bytes = 0;  // of all of them
  std::uint64_t sent = 0;   // of those, what the host had not

  bool operator==(const CodeShipped&) const = default;
};

// In which state git had the folder of the recipe when the run began.
struct CodeSeen {
  std::string folder;
  std::string commit;  // empty before the first one
  std::string branch;  // empty if it was on none
  std::uint32_t changed = 0;
  std::uint32_t untracked = 0;
  std::vector<std::string> names;  // of these, the first few

  bool operator==(const CodeSeen&) const = default;
};

// The binding, secrets excepted.
struct PlanBound {
  std::string run_dir;
  std::vector<HostBinding> hosts;
  std::map<std::string, std::uint16_t> ports;
  std::map<std::string, std::string> cores = {};  // of processes that got some: "worker.2" -> "0-3"

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

// Written before any stop is sent: this process failed first, all later deaths are its victims.
struct FirstFailure {
  ProcessId process = 0;
  std::uint32_t attempt = 0;

  bool operator==(const FirstFailure&) const = default;
};

// Another process than the one that was taken for it failed first, and is the origin from here on. Either it was killed
// or crashed, and not by muster, before or as another's exit code was seen to be the first failure: the kernel closes a
// dying process's connections before it tells of its end, so peers can react, end and be seen first; a signal from
// outside is no reaction. Or it failed unasked on another host, and the clocks leave no doubt that it did so before,
// though it was heard of later.
struct FailureTraced {
  ProcessId process = 0;
  std::uint32_t attempt = 0;

  bool operator==(const FailureTraced&) const = default;
};

// Processes are started again after one ended, or as one has to end. Written before what is stopped for it.
struct RestartPlanned {
  ProcessId process = 0;  // which ended
  std::uint32_t attempt = 0;
  std::string scope;                 // "process", "role", "job"
  std::vector<ProcessId> processes;  // to be started again, when all of them have ended and the delay is over
  std::uint32_t count = 0;           // restarts of the role within its policy's time, this one included
  std::uint32_t max = 0;
  std::uint32_t delay_ms = 0;
  std::string why;

  bool operator==(const RestartPlanned&) const = default;
};

// Other ports are to be found for all that were not given by the recipe: written after the restart that it is for.
struct RebindOrdered {
  bool operator==(const RebindOrdered&) const = default;
};

// A spare is to take the place of a host of the plan that was lost: written after the restarts that it is for. Nothing
// is started before it has.
struct ReplaceOrdered {
  std::uint32_t host = 0;  // of the plan
  std::uint32_t by = 0;    // see HostReplaced

  bool operator==(const ReplaceOrdered&) const = default;
};

// A process took longer than its role or the job allows; it is ended for that.
struct LimitPassed {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string limit;  // "ready", "time", "silent" (its role), "silent_job"
  std::uint64_t ms = 0;

  bool operator==(const LimitPassed&) const = default;
};

// A serving process left with exit code 0 while the roles it serves were still at work.
struct EndedEarly {
  ProcessId process = 0;
  std::uint32_t attempt = 0;

  bool operator==(const EndedEarly&) const = default;
};

// An event that fits nothing that was ordered: recorded, otherwise without effect.
struct StrayEvent {
  std::string what;

  bool operator==(const StrayEvent&) const = default;
};

// An agent said what does not belong to what it was given, or answered what nobody had asked: recorded, otherwise
// without effect; an agent that goes on like this is lost.
struct HostStray {
  std::uint32_t host = 0;
  std::string what;

  bool operator==(const HostStray&) const = default;
};

// What every running process is doing is being taken down.
struct DumpOrdered {
  std::uint32_t dump = 0;  // from 1
  std::string why;         // "silent" (a role), "silent_job", "stop", "asked"

  bool operator==(const DumpOrdered&) const = default;
};

// The dump is as complete as it becomes; what waited for it is done now.
struct DumpEnded {
  std::uint32_t dump = 0;
  bool complete = true;  // every host told all it had to

  bool operator==(const DumpEnded&) const = default;
};

struct FinishOrdered {
  bool operator==(const FinishOrdered&) const = default;
};

// Last record of a journal. Without it the head did not live to the end.
struct RunEnded {
  Cause cause = Cause::kNone;
  std::int32_t exit_code = 0;
  std::string why;                // empty if the run ended well
  std::uint32_t descriptors = 0;  // open in the head
  std::uint64_t memory_kib = 0;   // resident

  bool operator==(const RunEnded&) const = default;
};

}  // namespace muster
