// The Plan: which processes, where, with which command and environment. A plain value that can be
// printed, compared, kept, sent over a wire and run. It knows no Lua, opens no file and starts nothing.
//
// What only a start can know stays a hole in the plan's texts (see Text) and is filled by the Binding.
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
#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"

namespace muster {

// A typed hole. In a text it is spelled ${muster:KIND} or ${muster:KIND:NAME}:
//   ${muster:port:NAME}          the number of the plan's port NAME
//   ${muster:run_dir}            absolute path of the run directory
//   ${muster:run_id}             identity of the run
//   ${muster:host_name:INDEX}    name of host INDEX
//   ${muster:host_address:INDEX} its address, an IP literal
//   ${muster:devices:INDEX:LIST} what the devices of host INDEX are called there, joined by ','; LIST has the plan's
//                                numbers of them, "0,1,5"
//   ${muster:attempt}            0 for the first start of a process, then 1, 2, …
//   ${muster:checkpoint}         path of the checkpoint that a start goes on from; a start that has none fails
//   ${muster:newest_checkpoint}  the same, or nothing where there is none
//   ${muster:secret:NAME}        a secret; allowed only as the whole value of a variable, attribute or file
//   ${muster:inherited_path:NAME} allowed in variables only: ':' and the inherited value of NAME, if the process
//                                inherits one that is not empty; else nothing
//   ${muster:inherited:NAME:TEXT} the whole value of a variable: what the process inherits of NAME, even if that is
//                                empty; TEXT, without '}', if it inherits none
//   ${muster:literal}            the nine characters "${muster:" themselves
struct Hole {
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
    kSweep,  // what a sweep says of the trial: `name` is id, trial, attempt or point; empty outside a sweep
    kLiteral
  };
  Kind kind = Kind::kLiteral;
  std::string name;        // kPort, kSecret, kInheritedPath, kInherited; kDevices: the list
  std::uint32_t host = 0;  // kHostName, kHostAddress, kDevices
  std::string text = {};   // kInherited

  bool operator==(const Hole&) const = default;
};

inline constexpr std::string_view kHoleOpen = "${muster:";

std::string HoleText(const Hole& hole);
// The numbers in the list of a hole for devices, in its order; nothing if it is none.
std::optional<std::vector<std::uint32_t>> DeviceNumbers(std::string_view list);

// A string that may contain holes. `marked` is the text as printed, stored and hashed.
struct Text {
  std::string marked;

  Text() = default;
  Text(std::string text) : marked(std::move(text)) {}         // NOLINT(google-explicit-constructor)
  Text(const char* text) : marked(text) {}                    // NOLINT(google-explicit-constructor)
  Text(std::string_view text) : marked(std::string(text)) {}  // NOLINT(google-explicit-constructor)
  bool operator==(const Text&) const = default;
  auto operator<=>(const Text&) const = default;
};

// The pieces of a text in order: literal runs and holes. Fails (one message, no place) on a marker that
// is not closed, of unknown kind, or with a missing or superfluous name.
struct TextPiece {
  std::string literal;
  std::optional<Hole> hole;  // if set, `literal` is empty
};
tl::expected<std::vector<TextPiece>, std::string> Pieces(const Text& text);

// By name, in order. Flat, because thousands of processes have dozens each: building, walking and sending them is most
// of what a large plan costs.
using Variables = boost::container::flat_map<std::string, Text>;

// Attributes that were set, "set_context.mode" -> 0, …; the function's name comes first so that the
// order is the documents'.
// A text that is one port's hole and nothing else stands for the number itself.
using ContextValues = std::map<std::string, Value>;

struct StopPolicy {
  std::string signal = "TERM";      // name without SIG
  std::uint32_t grace_ms = 10'000;  // then KILL
  // Where the user or a time limit ends the job: this signal comes first (name without SIG; empty: none), and `signal`
  // once the job's newest checkpoint is another one, or `checkpoint_ms` have passed.
  std::string checkpoint_signal = {};
  std::uint32_t checkpoint_ms = 0;

  bool operator==(const StopPolicy&) const = default;
};

// What the end of a role's processes means for the job. The work is done when every kAll and kAny role has ended
// well; what still runs then has its role's `linger_ms` to leave and is stopped.
enum class Ending : std::uint8_t {
  kAll,    // the role has ended well when every process of it has exited 0
  kAny,    // … when one has
  kNever,  // the role serves: the job does not wait for it
};

// When a process counts as ready. Roles that come `after` its role wait for that.
struct Readiness {
  enum class Kind : std::uint8_t {
    kStarted,  // as soon as its program runs
    kPort,     // somebody listens on TCP port `what` of its host
    kFile,     // there is a file at `what`
    kLine,     // its log holds `what`, within one line
    kCommand,  // `command` exits 0; it is started again every `every_ms`
    kDone,     // it has exited 0
  };
  Kind kind = Kind::kStarted;
  Text what;
  std::vector<Text> command;
  std::uint32_t every_ms = 1'000;
  std::uint32_t timeout_ms = 0;  // from its start; then it has failed. 0: it may take for ever

  bool operator==(const Readiness&) const = default;
};

// When processes that ended are started again.
struct RestartPolicy {
  enum class Scope : std::uint8_t {
    kProcess,  // the one that ended
    kRole,     // all of its role, after those that still run have been stopped
    kJob       // all of the job
  };
  std::uint32_t max = 0;        // restarts that the role has within `within_ms`; one more end is a failure. 0: none
  std::uint64_t within_ms = 0;  // 0: over the whole run
  Scope scope = Scope::kProcess;
  // How it must have ended: by a failure of any kind, or only by one of these exit codes and signals (names without
  // SIG), and by exit code 0 as well?
  bool any_failure = true;
  bool success = false;
  std::vector<std::int32_t> codes = {};
  std::vector<std::string> signals = {};
  // Waited before a restart; doubled for every earlier one within `within_ms`, up to kMaxBackoffMs.
  std::uint32_t backoff_ms = 1'000;

  static constexpr std::uint32_t kMaxBackoffMs = 60'000;

  bool operator==(const RestartPolicy&) const = default;
};

inline constexpr std::uint64_t kLeastLogBytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMostLogBytes = std::uint64_t{1} << 50;

// 0: no limit.
struct RoleLimits {
  std::uint64_t time_ms = 0;    // how long one process may run
  std::uint64_t silent_ms = 0;  // how long all processes of the role together may write nothing to their logs
  // How long each log may become, in bytes: then it loses its beginning. From kLeastLogBytes to
  // kMostLogBytes.
  std::uint64_t log_bytes = 0;

  bool operator==(const RoleLimits&) const = default;
};

// Which processor cores each process of a role is to have; which they are is known at the start.
struct CoreUse {
  enum class Kind : std::uint8_t {
    kAny,    // those that muster may use
    kAuto,   // its equal share of them
    kCount,  // so many of its own
    kList    // these, for all processes of the role
  };
  Kind kind = Kind::kAny;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> list;  // ascending

  bool operator==(const CoreUse&) const = default;
};

// What the plan's device numbers, from 0 on every host, stand for there. Number n of what muster may use is the n-th
// that it can see (docs/devices.md). No two jobs of a host have a device at the same time, unless both share.
struct DeviceUse {
  bool any = false;  // whichever are free at the start, of `given` or, if that is empty, of all; else …
  std::vector<std::uint32_t> given;  // … these numbers, ascending; empty: themselves
  bool shared = false;
  std::string kind;  // "ascend", "cuda", "hip"; empty: muster knows no variable that processes would heed

  bool operator==(const DeviceUse&) const = default;
};

struct Role {
  std::string name;   // "worker"
  std::string plays;  // the contract's role: "scheduler", "server", "worker", or "other"
  // Processes of one world are ranked together; empty for roles without ranks.
  std::string world;
  Ending ending = Ending::kAll;
  std::uint32_t linger_ms = 35'000;
  StopPolicy stop;
  std::vector<std::uint32_t> after;  // roles (indices, ascending) whose processes must all be ready first
  Readiness ready;
  RestartPolicy restart;
  RoleLimits limits;
  CoreUse cores;

  // Common to every process of the role; a process overrides or adds (see Process).
  std::vector<Text> command;
  bool shell = false;  // the command is one shell text: run as /bin/sh -c TEXT
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

  // What differs from the role's common part. After Fold() a key that all processes share is in the role.
  std::optional<std::vector<Text>> command;
  std::optional<Text> cwd;
  std::optional<Text> ready_what;  // of the role's readiness: a port of its own
  Variables env;
  ContextValues context;

  bool operator==(const Process&) const = default;
};

struct PlanHost {
  std::string label;          // "host0" …: how the plan speaks of it; its name and address are holes
  std::uint32_t devices = 0;  // that the job may use, numbered from 0
  // As the user named it; empty: nobody did. Where a run begins looking for it; not part of the plan's id.
  std::string name = {};

  bool operator==(const PlanHost&) const = default;
};

// A port to be found and held on a host at start. number 0: "auto".
struct PlanPort {
  std::uint32_t host = 0;
  std::uint16_t number = 0;
  std::string owner;  // "scheduler.0": the process that will listen; empty: nobody in particular

  bool operator==(const PlanPort&) const = default;
};

// A file written below the run directory before anything starts.
struct PlanFile {
  Text content;

  bool operator==(const PlanFile&) const = default;
};

// Where the job's processes write checkpoints, and by what the newest complete one is told (docs/recipes.md).
struct CheckpointPlace {
  Text dir;              // absolute, or below the run directory; empty: nothing is known of checkpoints
  std::string latest;    // pattern of paths below `dir`, by components (fnmatch(3)); or empty, and …
  std::string file;      // … this file below `dir` holds the path
  std::string complete;  // a checkpoint that is a folder counts only with this file in it; empty: it counts as it is

  bool operator==(const CheckpointPlace&) const = default;
};

// Where a secret's value is taken from at start; the value is never part of a plan.
struct SecretSource {
  std::string from_env;   // name of a variable of muster's own environment, or
  std::string from_file;  // absolute path of a file whose content (less one final newline) it is

  bool operator==(const SecretSource&) const = default;
};

struct Plan {
  std::string name;
  std::string framework;  // the contract's name
  std::string mindspore;  // the release whose context API was checked ("1.6.2"), or empty
  // Whether a script may import another release and still get its context.
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
  std::vector<ActivationStep> activation;  // done on every host, in order, before its first process
  // Limits of the whole job in ms; 0: none.
  std::uint64_t time_limit_ms = 0;    // from the first start to the end of the work
  std::uint64_t start_limit_ms = 0;   // … until every process is ready
  std::uint64_t silent_limit_ms = 0;  // for which no process of the job writes to its log

  // For people and `explain`; not part of the plan's id.
  std::string doc;
  std::vector<std::string> profiles;  // of the recipe, as they were asked for
  std::map<std::string, Value> params;
  std::map<std::string, Value> derived;
  std::map<std::string, Value> pinned;  // of `derived`: what the recipe computes where the user forced another value

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
