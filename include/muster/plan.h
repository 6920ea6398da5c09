// The Plan: which processes run where, with which command and environment. A plain value that can be printed,
// compared, stored, sent and run. Independent of Lua; opens no file and starts nothing. Values that are known only at
// a start are placeholders in the plan's texts (see Text), filled by the Binding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "muster/activation.h"
#include "muster/contract.h"
#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"

namespace muster {

// How the command line of a container runtime is written. A plain value from the runtime's page
// (lua/muster/containers/NAME.lua); what a role puts into a container is Container in plan.h.

// Words may contain {name}, {run}, {cwd} and {image}. In `run`, a word that is only {mounts}, {variables}, {devices},
// {descriptors}, {output} or {options} stands for the words of that list.
struct ContainerRuntime {
  std::string name;                      // "podman"
  std::vector<std::string> run;          // the words before the command
  std::string script;                    // shell commands on the host that may put words before "$@"; or empty
  std::vector<std::string> mount;        // of a mount: {source}, {target}; {mode} is "rw" or "ro"
  std::vector<std::string> variable;     // of a variable that the runtime takes from its own environment: {variable}
  std::string variable_prefix;           // … where its name has this prefix
  std::vector<std::string> value;        // of a variable in `own`: {variable}, {value}
  std::vector<std::string> own;          // variables that change the runtime itself: it keeps the host's value
  std::vector<std::string> devices;      // for the job's kind of devices
  std::vector<std::string> descriptors;  // to pass {count} descriptors from number 3; empty: it passes none
  std::vector<std::string> output;       // for an output that is a file
  std::vector<std::string> terminal;     // for an output that is a terminal
  std::vector<std::string> remove;       // removes all containers of {run}; empty: it leaves none
  std::map<std::string, std::string> exit_codes;  // exit codes of the runtime itself, and their meaning

  bool operator==(const ContainerRuntime&) const = default;
};

// The Plan: which processes run where, with which command and environment. A plain value that can be printed, compared,
// stored, sent and run. Independent of Lua; opens no file and starts nothing.
//
// Values that are known only at a start are placeholders in the plan's texts (see Text), filled by the Binding.

// A typed placeholder. In a text it is written ${muster:KIND} or ${muster:KIND:NAME}:
//   ${muster:port:NAME}          the number of the plan's port NAME
//   ${muster:run_dir}            absolute path of the run directory
//   ${muster:run_id}             identity of the run
//   ${muster:host_name:INDEX}    name of host INDEX
//   ${muster:host_address:INDEX} its address, an IP literal
//   ${muster:devices:INDEX:LIST} the names of devices on host INDEX, joined by ','; LIST has their numbers in the
//                                plan, "0,1,5"
//   ${muster:attempt}            0 for the first start of a process, then 1, 2, …
//   ${muster:checkpoint}         path of the checkpoint that a start resumes from; the start fails without one
//   ${muster:newest_checkpoint}  the same, or nothing if there is none
//   ${muster:secret:NAME}        a secret; allowed only as the whole value of a variable, attribute or file
//   ${muster:inherited_path:NAME} allowed in variables only: ':' and the inherited value of NAME, if the process
//                                inherits a non-empty one; else nothing
//   ${muster:inherited:NAME:TEXT} the whole value of a variable: the inherited value of NAME, even if it is empty;
//                                TEXT, without '}', if the process does not inherit NAME
//   ${muster:literal}            the nine characters "${muster:" themselves
struct Placeholder {
  enum class Kind : std::uint8_t {
    kPort,
    kRunDir,
    kRunId,
    kHostName,
    kHostAddress,
    kAttempt,
    kCheckpoint,
    kNewestCheckpoint,
    kSecret,
    kInheritedPath,
    kInherited,
    kDevices,
    kSweep,  // a property of a sweep's trial: `name` is id, trial, attempt or point; empty outside a sweep
    kLiteral
  };
  Kind kind = Kind::kLiteral;
  std::string name;        // kPort, kSecret, kInheritedPath, kInherited; kDevices: the list
  std::uint32_t host = 0;  // kHostName, kHostAddress, kDevices
  std::string text = {};   // kInherited

  bool operator==(const Placeholder&) const = default;
};

inline constexpr std::string_view kPlaceholderOpen = "${muster:";

std::string PlaceholderText(const Placeholder& hole);
// The numbers in the list of a placeholder for devices, in order; nothing if it is invalid.
std::optional<std::vector<std::uint32_t>> DeviceNumbers(std::string_view list);

// A string that may contain placeholders. `marked` is the text as printed, stored and hashed.
struct Text {
  std::string marked;

  Text() = default;
  Text(std::string text) : marked(std::move(text)) {}         // NOLINT(google-explicit-constructor)
  Text(const char* text) : marked(text) {}                    // NOLINT(google-explicit-constructor)
  Text(std::string_view text) : marked(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  bool operator==(const Text&) const = default;
  auto operator<=>(const Text&) const = default;
};

// Splits a text into literals and placeholders, in order. Fails (one message, no place) for a placeholder that is not
// closed, of unknown kind, or with a missing or superfluous name.
struct TextPiece {
  std::string literal;
  std::optional<Placeholder> hole;  // if set, `literal` is empty
};
tl::expected<std::vector<TextPiece>, std::string> Pieces(const Text& text);

// Sorted by name. Flat, because thousands of processes have dozens each: creating, visiting and sending them dominates
// the cost of a large plan.
using Variables = boost::container::flat_map<std::string, Text>;

// Attributes that were set, "set_context.mode" -> 0, …; the function's name comes first, for
// the order of the documents. A text that is only the placeholder of a port stands for the
// number.
using ContextValues = std::map<std::string, Value>;

struct StopPolicy {
  std::string signal = "TERM";      // name without SIG
  std::uint32_t grace_ms = 10'000;  // then KILL
  // If the user or a time limit ends the job: sends this signal first (name without SIG; empty: none), and `signal`
  // once the job has written another checkpoint, or after `checkpoint_ms`.
  std::string checkpoint_signal = {};
  std::uint32_t checkpoint_ms = 0;

  bool operator==(const StopPolicy&) const = default;
};

// What the end of a role's processes means for the job. The work is done when every kAll and kAny role has succeeded;
// processes that still run then have their role's `linger_ms` to exit and are stopped.
enum class Ending : std::uint8_t {
  kAll,    // the role has succeeded when every process of it has exited with 0
  kAny,    // … when one of them has
  kNever,  // the role serves: the job does not wait for it
};

// The condition under which a process is ready. Roles that come `after` its role wait for that.
struct Readiness {
  enum class Kind : std::uint8_t {
    kStarted,  // its program is running
    kPort,     // a process listens on TCP port `what` of its host
    kFile,     // the file `what` exists
    kLine,     // its log contains `what`, within one line
    kCommand,  // `command` exits with 0; it is repeated every `every_ms`
    kDone,     // it has exited with 0
  };
  Kind kind = Kind::kStarted;
  Text what;
  std::vector<Text> command;
  std::uint32_t every_ms = 1'000;
  std::uint32_t timeout_ms = 0;  // from its start; then it has failed. 0: no limit

  bool operator==(const Readiness&) const = default;
};

// When to restart processes that have ended.
struct RestartPolicy {
  enum class Scope : std::uint8_t {
    kProcess,  // only that process
    kRole,     // all of its role, after stopping those that still run
    kJob       // all of the job
  };
  std::uint32_t max = 0;        // restarts of the role within `within_ms`; a further end is a failure. 0: none
  std::uint64_t within_ms = 0;  // 0: over the whole run
  Scope scope = Scope::kProcess;
  // Restart after a failure of any kind, or only after these exit codes and signals (names without SIG), and after exit
  // code 0 as well?
  bool any_failure = true;
  bool success = false;
  std::vector<std::int32_t> codes = {};
  std::vector<std::string> signals = {};
  // Pause before a restart; doubled for every earlier one within `within_ms`, up to kMaxBackoffMs.
  std::uint32_t backoff_ms = 1'000;
  bool verdict = false;  // restart only if the verdict on the failure is that it can help (docs/verdicts.md)

  static constexpr std::uint32_t kMaxBackoffMs = 60'000;

  bool operator==(const RestartPolicy&) const = default;
};

inline constexpr std::uint64_t kMinLogBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMaxLogBytes = std::uint64_t{1} << 50;

// 0: no limit.
struct RoleLimits {
  std::uint64_t time_ms = 0;    // maximum run time of one process
  std::uint64_t silent_ms = 0;  // maximum time without output of any process of the role
  // Maximum size of each log, in bytes: then its beginning is dropped. From kMinLogBytes to
  // kMaxLogBytes.
  std::uint64_t log_bytes = 0;

  bool operator==(const RoleLimits&) const = default;
};

// CPU affinity of each process of a role; the cores are chosen at the start.
struct CoreUse {
  enum class Kind : std::uint8_t {
    kAny,    // all cores that muster may use
    kAuto,   // an equal share of them
    kCount,  // `count` cores of its own
    kList    // these, for all processes of the role
  };
  Kind kind = Kind::kAny;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> list;  // ascending

  bool operator==(const CoreUse&) const = default;
};

// The meaning of the plan's device numbers, from 0 on every host. Number n is the n-th device that muster can see there
// (docs/devices.md). No device is used by two jobs of a host at the same time, unless both share.
struct DeviceUse {
  bool any = false;  // any that are free at the start, of `given` or, if that is empty, of all; else …
  std::vector<std::uint32_t> given;  // … these numbers, ascending; empty: the same numbers
  bool shared = false;
  std::string kind;  // "ascend", "cuda", "hip"; empty: no variable for visible devices is known

  bool operator==(const DeviceUse&) const = default;
};

struct ContainerMount {
  Text source;  // on the host, absolute
  Text target;  // in the container, absolute
  bool read_only = false;

  bool operator==(const ContainerMount&) const = default;
};

// The container in which a role's processes run. The agent and all that it does stay outside: it starts the runtime's
// program, which starts the process (docs/containers.md).
struct Container {
  Text image;  // empty: none
  std::vector<ContainerMount> mounts;
  std::vector<Text> options;  // words for the runtime
  ContainerRuntime runtime;

  bool operator==(const Container&) const = default;
};

struct Role {
  std::string name;   // "worker"
  std::string plays;  // the contract's role: "scheduler", "server", "worker", or "other"
  // Processes of one world share a rank numbering; empty for roles without ranks.
  std::string world;
  Ending ending = Ending::kAll;
  std::uint32_t linger_ms = 35'000;
  StopPolicy stop;
  std::vector<std::uint32_t> after;  // roles (indices, ascending) whose processes must all be ready first
  Readiness ready;
  RestartPolicy restart;
  RoleLimits limits;
  CoreUse cores;
  Container container;

  // Common to every process of the role; a process overrides or adds (see Process).
  std::vector<Text> command;
  bool shell = false;  // the command is a shell command: run as /bin/sh -c TEXT
  Text cwd;            // empty: the folder muster was called from
  Variables env;
  std::vector<std::string> unset;  // inherited variables removed: NAME or PREFIX*; applied before `env`
  ContextValues context;

  bool operator==(const Role&) const = default;
};

struct Process {
  std::uint32_t role = 0;             // index into Plan::roles
  std::uint32_t index = 0;            // within the role, from 0
  std::optional<std::uint32_t> rank;  // within the world; none for roles without ranks
  std::uint32_t world_size = 0;
  std::uint32_t local_rank = 0;  // among the world's processes on this host; without ranks, among the role's
  std::uint32_t local_size = 1;
  std::uint32_t host = 0;              // index into Plan::hosts
  std::vector<std::uint32_t> devices;  // the plan's numbers for devices of that host (see DeviceUse)
  std::uint32_t stage = 0;             // pipeline stage
  std::uint32_t rank_in_stage = 0;

  // The differences from the role's common part. After Fold() a key that all processes share is in the role.
  std::optional<std::vector<Text>> command;
  std::optional<Text> cwd;
  std::optional<Text> ready_what;  // overrides the role's readiness: a port of its own
  Variables env;
  ContextValues context;

  bool operator==(const Process&) const = default;
};

struct PlanHost {
  std::string label;          // "host0" …: its name in the plan; name and address are placeholders
  std::uint32_t devices = 0;  // that the job may use, numbered from 0
  // As the user named it, or empty. Tells a run where to start looking; not part of the plan's id.
  std::string name = {};

  bool operator==(const PlanHost&) const = default;
};

// A port to choose and hold on a host at start. number 0: "auto".
struct PlanPort {
  std::uint32_t host = 0;
  std::uint16_t number = 0;
  std::string owner;  // "scheduler.0": the process that will listen; empty: none in particular

  bool operator==(const PlanPort&) const = default;
};

// A file written below the run directory before anything starts.
struct PlanFile {
  Text content;

  bool operator==(const PlanFile&) const = default;
};

// Where the job's processes write checkpoints, and how to find the newest complete one (docs/recipes.md).
struct CheckpointPlace {
  Text dir;              // absolute, or below the run directory; empty: unknown
  std::string latest;    // pattern of paths below `dir`, by components (fnmatch(3)); or empty, and …
  std::string file;      // … this file below `dir` contains the path
  std::string complete;  // a folder is a complete checkpoint only with this file in it; empty: always

  bool operator==(const CheckpointPlace&) const = default;
};

// Where metrics of the job are read, besides the reports at $MUSTER_METRICS.
struct LogMetrics {
  // By metric: an RE2 pattern, applied to each line of the log, whose single group is a number.
  std::map<std::string, std::string> patterns = {};
  std::string role = {};  // the log of this role's first process is read; empty: the role of rank 0, else the first one

  bool operator==(const LogMetrics&) const = default;
};

// The source of a secret's value at start; the value is never part of a plan.
struct SecretSource {
  std::string from_env;   // name of a variable of muster's own environment, or
  std::string from_file;  // absolute path of a file whose content (less one final newline) it is

  bool operator==(const SecretSource&) const = default;
};

// Who is notified of events of the run, or of the sweep whose trials have this plan. Exactly one of `command` and
// `webhook` is given. A text that is a secret names one of `secrets`.
struct Notification {
  std::vector<Text> command;               // program and arguments; without secrets
  Text webhook;                            // URL, http or https; may be a secret
  std::map<std::string, std::string> env;  // variables of the command; texts, each of which may be a secret
  // Secrets of its own, by name. One that is missing only prevents the notification.
  std::map<std::string, SecretSource> secrets;
  std::vector<std::string> on;  // names of events (muster/notification.h); others are ignored
  std::string source;           // "recipe", "site file" or "command line"

  bool operator==(const Notification&) const = default;
};

struct Plan {
  std::string name;
  std::string framework;  // the contract's name
  std::string mindspore;  // the release whose context API was checked ("1.6.2"), or empty
  // A script may import another release and still gets its context.
  bool accept_release = false;
  std::vector<PlanHost> hosts;
  DeviceUse device_use;
  std::vector<Role> roles;         // in the recipe's order; names are unique
  std::vector<Process> processes;  // by role, then index
  std::map<std::string, PlanPort> ports;
  std::map<std::string, PlanFile> files;  // path relative to the run directory, below files/
  std::map<std::string, SecretSource> secrets;
  CheckpointPlace checkpoints;
  SiteEnvironment site_environment;
  std::vector<ActivationStep> activation;  // performed on every host, in order, before its first process
  // Limits of the whole job in ms; 0: none.
  std::uint64_t time_limit_ms = 0;    // from the first start to the end of the work
  std::uint64_t start_limit_ms = 0;   // … until every process is ready
  std::uint64_t silent_limit_ms = 0;  // maximum time without output of any process of the job

  // Not part of the plan's id.
  std::vector<ContractVariable> contract;  // of a contract of the recipe; muster's own are not in plans
  LogMetrics metrics;
  std::vector<Notification> notifications;

  // For display; not part of the plan's id.
  std::string doc;
  std::vector<std::string> profiles;  // of the recipe, as requested
  std::map<std::string, Value> params;
  std::map<std::string, Value> derived;
  std::map<std::string, Value> pinned;  // of `derived`: the recipe's own results for values that the user overrides

  bool operator==(const Plan&) const = default;
};

// "worker.2"
std::string ProcessName(const Plan& plan, const Process& process);

// The role's common part overlaid with the process's own.
Variables EffectiveEnv(const Plan& plan, const Process& process);
ContextValues EffectiveContext(const Plan& plan, const Process& process);
const std::vector<Text>& EffectiveCommand(const Plan& plan, const Process& process);
const Text& EffectiveCwd(const Plan& plan, const Process& process);
const Text& EffectiveReadyWhat(const Plan& plan, const Process& process);

}  // namespace muster
