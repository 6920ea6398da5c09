// The agent protocol: the messages that head and agent exchange over one pair of descriptors, by subject, with the
// bounds of all their texts and lists, their encoding as frames, and the splitting of a byte stream into frames. Its
// version is kProtocolVersion. No sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/activation.h"
#include "muster/event.h"
#include "muster/host_facts.h"
#include "wire/files/code_tree.h"

namespace muster {

// Size limits of the messages of the agent protocol (protocol.h). Every text and list of every message has a bound,
// stated by its Fields() (*_fields.h); a missing one does not compile. Readers check bounds before they allocate
// memory, and reject messages that exceed one. Writers truncate texts for users.

inline constexpr std::size_t kFrameLengthBytes = 4;  // before the payload
inline constexpr std::size_t kMaxFrame = 16U << 20;

namespace protocol_bounds {

// For commands, whose texts may be as long as a frame: the agent trusts the head.
inline constexpr std::size_t kText = kMaxFrame;
inline constexpr std::size_t kList = 1'000'000;

inline constexpr std::size_t kName = 1'024;    // of a port, a role, a kind
inline constexpr std::size_t kHostName = 255;  // or an address
inline constexpr std::size_t kDeviceName = 255;
inline constexpr std::size_t kPath = 4'096;  // PATH_MAX
inline constexpr std::size_t kPhrase = 16U << 10;
inline constexpr std::size_t kWords = 256;  // lists that muster itself makes: mechanisms, limits, drivers
inline constexpr std::size_t kNotes = 256;
inline constexpr std::size_t kPorts = 65'536;
inline constexpr std::size_t kHostProcesses = 65'536;  // of the plan, on one host
inline constexpr std::size_t kHostDevices = 65'536;
inline constexpr std::size_t kCores = 65'536;
inline constexpr std::size_t kVariables = 16'384;
inline constexpr std::size_t kEnvironment = 512U << 10;  // bytes of all variables; Linux starts no process with 2 MiB
inline constexpr std::size_t kFacts = 4'096;             // of one kind, per host

// Of a ProcessDumped (docs/journal.md, states).
inline constexpr std::size_t kDumpProcesses = 8;
inline constexpr std::size_t kDumpThreads = 8;
inline constexpr std::size_t kDumpFrames = 32;
inline constexpr std::size_t kDumpText = 1'024;

}  // namespace protocol_bounds

inline constexpr std::size_t kMaxFilePart = 1U << 20;   // of a FileBytes
inline constexpr std::size_t kMaxPassedOn = 64U << 10;  // of a FromAgent
inline constexpr std::size_t kMaxPathTargets = 1'024;   // of a ProbePaths

// Messages of the agent protocol: greeting, heartbeats and the end of a connection between head and agent.

#define MUSTER_PROTOCOL_VERSION 15
#define MUSTER_TEXT_OF(number) #number
#define MUSTER_PROTOCOL_MAGIC(number) "muster-agent/" MUSTER_TEXT_OF(number) "\n"

inline constexpr std::uint32_t kProtocolVersion = MUSTER_PROTOCOL_VERSION;
inline constexpr std::string_view kMagic = MUSTER_PROTOCOL_MAGIC(MUSTER_PROTOCOL_VERSION);

// What an agent writes first: its version of muster in a line of its own, which readers of every version skip as noise,
// and the magic.
std::string AgentGreeting();
// Why an agent is refused that speaks another version of the protocol; `muster`: its own version, if it is known.
std::string OtherProtocolText(const std::string& protocol, const std::string& muster = {});

#undef MUSTER_PROTOCOL_MAGIC
#undef MUSTER_TEXT_OF

// First command: everything that the agent must know before it can start processes.
struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::string run_id;
  std::uint32_t host = 0;  // index into Plan::hosts
  std::string logs;        // absolute path of the log folder, if any log has a limit; else empty
  // How long the head waits without a message before it considers the agent lost (wire/lease/lease.h). After Hello the
  // agent sends heartbeats, and kills all its processes if they are not answered. 0: no heartbeats; only the end of the
  // connection counts.
  std::uint64_t lease_ms = 0;
  // The run directory, absolute. The agent opens it now and creates its files below it. Empty: the agent creates no
  // files of its own.
  std::string run_dir = {};
  // Whether the agent is on another host than the head. The run directory contains `probe`, which holds the run's id;
  // an agent that does not find it creates the folder, and sends the files written there to the head (FileBytes).
  bool elsewhere = false;
  // The first interval of the samples of resource usage (UsageSampled). 0: none.
  std::uint64_t usage_ms = 0;
  std::string device_kind = {};  // of the devices that processes are given (base/system/host_devices.h), or empty
};

// Nothing more will be started: kill all remaining processes, answer with AgentEmpty, and exit.
struct Finish {
  bool unused = false;
};

// Answers an AgentHeartbeat, immediately. An agent without a lease takes it as a liveness check, and answers
// immediately with an AgentHeartbeat of the same number.
struct HeadHeartbeat {
  std::uint32_t number = 0;
};

// Answer to Hello.
struct AgentReady {
  std::uint32_t version = kProtocolVersion;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string host_name;
  std::vector<std::string> mechanisms;  // "pidfd", "close_range", "clone-files", "subreaper", "log-pipe", …
  std::string cgroup;                   // folder of the cgroup of its processes; empty: none
  std::uint32_t descriptors = 0;        // number of open descriptors in the agent
  std::uint64_t memory_kib = 0;         // resident memory
  MonotonicNs at = 0;
  std::string address;         // address of the host in the connection; empty if not over a network
  bool shares_run_dir = true;  // whether the agent sees the head's run directory
  std::uint32_t cores = 0;     // number of processor cores that the agent may use
};

// Sign of life. `number` counts from 1, or repeats that of a liveness check (HeadHeartbeat). The head measures the
// round-trip time from `answered` and `answered_at`.
struct AgentHeartbeat {
  std::uint32_t number = 0;
  MonotonicNs at = 0;
  std::uint32_t answered = 0;   // last heartbeat that the head answered; 0: none yet
  MonotonicNs answered_at = 0;  // when that answer arrived
};

// The engine that started the agent sent it this signal: the notice of an end, which the head decides about. An agent
// that an engine started, and whose head answers, goes on (docs/supervision.md).
struct AgentSignalled {
  std::int32_t signal = 0;
};

// The agent exits because of an error (invalid command, other protocol version).
struct AgentFailed {
  std::string why;
};

// Messages of the agent protocol: agents below an agent, one per run (agent/program/sub_agents.h).

// Start a sub-agent: an agent for one more run, with its own process and event loop. AgentExited reports its exit.
// `number` must not be that of a sub-agent whose AgentExited has not arrived.
struct OpenAgent {
  std::uint32_t number = 0;
};

// Bytes from the head for the sub-agent: part of a stream of frames, split anywhere.
struct ToAgent {
  std::uint32_t number = 0;
  std::string bytes;
};

// The head sends nothing more to the sub-agent, as if its connection had closed. Ignored if it has already exited.
struct CloseAgent {
  std::uint32_t number = 0;
};

// Bytes from the sub-agent: part of a stream of frames, split anywhere.
struct FromAgent {
  std::uint32_t number = 0;
  std::string bytes;
};

// The sub-agent has exited, all its output has been forwarded, and every process that it started is gone, except those
// that cannot be killed; `why` states their number. Number 0 is the agent
// itself: its guard sends this at the end of a connection that the agent dialled.
struct AgentExited {
  std::uint32_t number = 0;
  std::string why;           // why it failed: "ended by signal 9 (SIGKILL)"; empty if it finished normally
  std::uint32_t killed = 0;  // number of its remaining processes that were killed
};

// Messages of the agent protocol: properties of a host, and whether other hosts can reach it.

// A folder whose file system is inspected, and its label.
struct FolderQuery {
  std::string what;
  std::string path;  // absolute; need not exist
};

// A program to look up as a start would.
struct ProgramQuery {
  std::string name;
  std::string search_path;  // PATH
};

// Requests the properties of this host. The agent answers with one Inspected. Allowed at any time, one at a time.
struct Inspect {
  std::vector<FolderQuery> places;
  std::vector<ProgramQuery> programs;
  std::vector<std::string> pythons;      // looked up on the PATH of `environment`, and queried for their packages
  std::vector<std::string> packages;     // names of distributions
  std::vector<std::string> variables;    // of the agent's environment: NAME or PREFIX*
  std::vector<std::string> environment;  // "NAME=value": the environment of the Python interpreters
  std::vector<std::string> search_dirs;  // as in StartProcess
  std::string cwd;                       // absolute: base of relative names
  bool trials = false;                   // whether to probe kernel mechanisms and limits, and to look up the host's
                                         // name
  std::uint32_t within_ms = 0;           // time limit; facts that are unknown by then are omitted
};

// Listen at these held ports and at one more chosen by the kernel, until ClosePaths, so that other hosts can test
// whether they can connect. Answered by PathsOpen. Sent before any start.
struct OpenPaths {
  std::vector<std::uint16_t> ports;
};

struct PathTarget {
  std::string address;  // an IP literal
  std::uint16_t port = 0;
};

// Tests connections to these targets. Answered by PathsProbed.
struct ProbePaths {
  std::vector<PathTarget> targets;
  std::uint32_t within_ms = 0;  // time limit for all of them together
};

// Stop listening: later connections reach the job's own processes. Answered by PathsOpen with port 0.
struct ClosePaths {
  bool unused = false;
};

// Answer to Inspect. Texts come from files and programs of the host and are untrusted.
struct Inspected {
  HostFacts facts;
  std::string error;              // which facts are unknown and why; empty: none
  std::uint64_t asked_at = 0;     // wall clock of the host when Inspect arrived
  std::uint64_t answered_at = 0;  // wall clock of the host when this message was sent
};

// Answer to OpenPaths.
struct PathsOpen {
  std::uint16_t port = 0;  // the port chosen by the kernel
  std::string error;       // why the agent does not listen; empty: it does
};

// Answer to ProbePaths: per target, in order, why it cannot be reached; empty if it can.
struct PathsProbed {
  std::vector<std::string> errors;
};

// Messages of the agent protocol: devices and processor cores of a host that are allocated to a job.

// The processor cores that a process requests (docs/devices.md).
struct CoreRequest {
  enum class Kind : std::uint8_t {
    kAuto,   // an equal share of the remaining cores
    kCount,  // this number of exclusive cores
    kList    // these cores
  };
  ProcessId process = 0;
  Kind kind = Kind::kAuto;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> list;     // ascending
  std::string role;                    // for error messages
  std::vector<std::uint32_t> devices;  // the plan's numbers of its devices
};

// Allocates resources of the host to the job. Sent once, before any start. They belong to the job until the agent has
// collected the exit status of its last process.
struct AllocateResources {
  std::vector<std::uint32_t> devices;  // the plan's numbers of the devices used here, ascending
  std::uint32_t host_devices = 0;      // number of devices of the host according to the plan
  // Which devices the plan's numbers stand for: those of `given`, or the same numbers if it is empty. With `any`: any
  // free devices, out of `given` if it is not empty.
  bool any = false;
  std::vector<std::uint32_t> given;
  bool shared = false;  // other jobs that also set it may use the devices at the same time
  std::string kind;     // device kind (base/system/host_devices.h), or empty
  std::string whose;    // description of the holder, shown to other users: one line
  std::vector<CoreRequest> cores;
  // How long to wait for devices that other jobs hold; meanwhile DevicesAwaited is sent. 0: do not wait.
  std::uint64_t wait_ms = 0;
  std::uint32_t per_device = 0;  // if more than 1: maximum number of jobs that share a device; else unlimited
  std::string owner = {};        // the waiting sweep or run; without blanks
  std::string job = {};          // the run
};

inline constexpr std::uint64_t kWaitForEver = ~std::uint64_t{0};

// Answer to AllocateResources, in the requested order.
struct ResourcesAllocated {
  std::vector<std::string> devices;               // device names on this host
  std::vector<std::vector<std::uint32_t>> cores;  // ascending, never empty
  std::vector<std::string> notes;                 // warnings, as sentences
  std::string error;                              // empty: everything was allocated
};

// Messages of the agent protocol: code trees that are sent to a host.

// Offers a code tree that processes of this host need in its cache, in parts; `last` marks the last one. The agent
// answers with CodeMissing. Sent once, before any message that may name a file of the tree.
struct OfferCode {
  std::string hash;  // CodeTreeHash of all entries
  std::vector<CodeEntry> entries;
  bool last = false;
};

// Flow control: maximum bytes of CodeBytes sent and not yet confirmed by CodeReceived.
inline constexpr std::size_t kCodeWindow = 1U << 20;

// Part of the content of a missing entry. Files are sent in the order of CodeMissing, each from beginning to end; empty
// files are not sent.
struct CodeBytes {
  std::uint32_t entry = 0;
  std::string content;
};

// Answer to OfferCode: entries whose content the host lacks, ascending. CodeReady follows when all are stored.
struct CodeMissing {
  std::vector<std::uint32_t> entries;
};

// Confirms that this many bytes of CodeBytes have been written.
struct CodeReceived {
  std::uint32_t bytes = 0;
};

// The tree is complete, and remains until the agent exits; or it could not be stored.
struct CodeReady {
  std::string folder;  // absolute
  std::string error;   // empty: the tree is complete
};

// Messages of the agent protocol: files of the run directory on hosts that do not share the head's file system.

// A file, or the part of it at `offset`, for a run directory that the agent created. Parts of a file are sent in order.
// An existing file is replaced.
struct PlaceFile {
  std::string path;  // relative
  std::uint64_t offset = 0;
  std::string content;
};

// Answer to FilesSent: the head has written all files. Without it the agent keeps its copies.
struct FilesStored {
  bool all = false;
};

// Content at `offset` of a file below a run directory that the agent created. Parts of a file may be sent out of order:
// after the exit of a process the end of its log is sent first.
struct FileBytes {
  std::string path;  // relative
  std::uint64_t offset = 0;
  std::string content;
  bool last = false;  // end of the file
};

// All FileBytes have been sent, after Finish. The head answers with FilesStored; AgentEmpty is sent after that.
struct FilesSent {
  bool unused = false;
};

// Messages of the agent protocol: input and output of a pseudo-terminal.

// Window size of a terminal; 0 and 0 if unknown.
struct PtySize {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

// Flow control: each side may have sent this many bytes that the other has not confirmed with PtyTaken. After the
// process has exited the agent sends the remaining output regardless of the window: at most kMaxPtyRest.
inline constexpr std::size_t kPtyWindow = 64U << 10;
inline constexpr std::size_t kMaxPtyRest = 256U << 10;

// From the head: input. From the agent: output.
struct PtyBytes {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string bytes;
};

// Confirms that `count` bytes were passed on to the process or to the user; as many more may be sent.
struct PtyTaken {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint32_t count = 0;
};

// From the head: the user's window was resized. Messages about a closed pseudo-terminal have no effect.
struct PtyResized {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  PtySize size;
};

// Messages of the agent protocol: ports that are held for processes.

struct PortRequest {
  std::string name;
  // 0: the agent chooses one outside the ephemeral range and 8118..16309 that it has not chosen before.
  std::uint16_t number = 0;
};

// Bind and hold these ports (not listening) until the start that names them in `release_ports`. A port of the same name
// that is already held is released.
struct HoldPorts {
  std::vector<PortRequest> ports;
};

// Answer to HoldPorts: port numbers in the requested order, or an error.
struct PortsHeld {
  std::vector<PortRequest> ports;
  std::string error;  // empty: all are held
};

// Messages of the agent protocol: starting, watching and stopping processes.

// Variables that processes inherit from the host: the agent adds those of its own environment whose names match `take`
// and not `leave` (NAME, PREFIX* or *), unless the head sets them. Never those that begin with MUSTER_.
struct HostVariables {
  std::vector<std::string> take;
  std::vector<std::string> leave;

  bool operator==(const HostVariables&) const = default;
};

// A numbered block of environment variables ("NAME=value"), sent once and used by many starts.
struct DefineEnvironment {
  std::uint32_t block = 0;
  std::vector<std::string> variables;
  HostVariables of_host = {};
};

// Text that a process can read at descriptor `number` (3 or more), from its beginning. It is never stored in a file.
struct PassedText {
  std::int32_t number = 0;
  std::string content;
};

// The readiness condition to watch for after a start: the kinds of Readiness in muster/plan.h that the agent has to
// observe. The agent answers with ProcessReady.
struct ReadyWhen {
  enum class Kind : std::uint8_t { kNothing, kPort, kFile, kLine, kCommand };
  Kind kind = Kind::kNothing;
  std::uint16_t port = 0;
  std::string text;               // kFile: a path, relative to the process's cwd; kLine: text that a line of its log
                                  // contains
  std::vector<std::string> argv;  // kCommand: started like the process itself, its output discarded
  std::uint32_t every_ms = 0;     // kCommand: the interval between two attempts
};

struct StartProcess {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::vector<std::string> argv;         // argv[0] without a slash is looked up on the PATH of `env`, …
  std::vector<std::string> search_dirs;  // … then in these folders
  std::string cwd;                       // absolute
  std::uint32_t environment = 0;         // number of a block; `env` adds to it and overrides it
  std::vector<std::string> env;          // "NAME=value"
  std::string log_path;                  // absolute, in run_dir; created exclusively, mode 0600: stdout and stderr
  std::uint64_t log_limit = 0;           // bytes; beyond it the beginning of the log is dropped. 0: no limit
  std::vector<std::string> release_ports;
  std::vector<std::string> own_ports;  // of these, ports on which only this process listens: held again after its exit
  std::vector<PassedText> passed;
  std::vector<std::uint32_t> cores;  // cores that it may run on; empty: those of the agent
  ReadyWhen ready;
  // A pseudo-terminal with a window of this size becomes stdin, stdout, stderr and the controlling terminal. The agent
  // sends PtyOpened, copies the output to the log and to the head, and sends PtyClosed before the exit.
  std::optional<PtySize> pty;
  // The command that removes the run's containers on this host, run in the environment of the agent when everything
  // else has been killed, unless all processes with this command exited with 0. Empty: it leaves nothing to remove.
  std::vector<std::string> remove;
  std::vector<std::string> devices;  // names on this host, for samples of their memory
};

struct ProcessAttempt {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
};

// Sends `signal` (and SIGCONT) to the process groups immediately, and SIGKILL to remaining processes after `grace_ms`.
// grace_ms 0: SIGKILL only. A later StopProcesses for the same process can only shorten the grace period.
struct StopProcesses {
  std::vector<ProcessAttempt> processes;
  std::int32_t signal = 0;
  std::uint32_t grace_ms = 0;
};

// A drill (docs/drill.md): sends the signal to the process's group, as somebody else on the host would. Nothing is
// reported about it, and nothing is stopped by it in muster's sense. Without effect if the attempt is not running.
struct SignalProcess {
  ProcessAttempt who;
  std::int32_t signal = 0;
};

// A drill: the agent kills itself (SIGKILL).
struct KillAgent {
  bool unused = false;
};

// A drill: takes all free space of the file system of that directory, and keeps it full for `lasts_ms`
// (agent/host/disk_filler.h). Answered by DiskFilled.
struct FillDisk {
  std::string directory;  // absolute
  std::uint64_t lasts_ms = 0;
};

// Answer to FillDisk.
struct DiskFilled {
  std::uint64_t bytes = 0;
  std::string error;  // a sentence; empty: it is full

  bool operator==(const DiskFilled&) const = default;
};

// Requests the number of bytes that each running process has written. Answered by OutputSeen.
struct RequestOutput {
  bool unused = false;
};

// Messages of the agent protocol: the activation of a host, its steps, and the changes that they made.

// Execute these steps in one shell and report the changes of its environment with HostActivated. Sent once, before the
// first start.
struct Activate {
  std::vector<ActivationStep> steps;
  std::vector<std::string> environment;  // "NAME=value": the initial environment of the shell
  std::string cwd;                       // absolute
  std::string log_path;                  // absolute, in run_dir; created exclusively, mode 0600: output of the steps
  std::uint32_t within_ms = 0;           // time limit; after it the shell and its descendants are killed
  HostVariables of_host = {};            // in the initial environment, too
};

// Answer to Activate. Names and values come from sourced files and are untrusted.
struct HostActivated {
  std::uint32_t host = 0;
  std::map<std::string, std::string> set;  // new and changed variables
  std::vector<std::string> unset;          // removed variables, sorted
  std::uint64_t took_ms = 0;
  std::uint32_t failed_step = 0;  // counted from 1; 0: none, or the shell as a whole
  std::string error;              // reason of the failure, for users; empty if all steps succeeded

  bool operator==(const HostActivated&) const = default;
};

// Messages of the agent protocol: what running processes use of their host, sampled at intervals.

// What a process has used, with its descendants: those below it, and those of its process group.
struct ProcessUsage {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint64_t running_ms = 0;  // since its start
  std::uint64_t cpu_ms = 0;      // since its start: user and system time
  std::uint64_t memory_kib = 0;  // resident, now; a page that several of them share is counted once for each
  // In use on its devices, now, by all processes on them; nothing if it has no devices or their tool reports nothing.
  std::optional<std::uint64_t> device_kib = {};

  bool operator==(const ProcessUsage&) const = default;
};

// One sample of all running processes of the host, in ascending order. Hello states the interval at first.
struct UsageSampled {
  std::vector<ProcessUsage> processes;

  bool operator==(const UsageSampled&) const = default;
};

// Messages of the agent protocol: dumps, the current state of processes.

struct DumpTarget {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string path;  // absolute, in an existing folder in run_dir; file to create for the findings, mode 0600
};

// Requests the state of these processes. The agent answers with one ProcessDumped for each running process, then with
// HostDumped. Cancels a dump that is still in progress.
struct TakeDump {
  std::uint32_t dump = 0;
  std::uint32_t within_ms = 0;  // time limit for all stack tools together
  std::vector<DumpTarget> processes;
};

// The agent protocol: the messages that head and agent exchange over one pair of descriptors. Its version is
// kProtocolVersion.
//
// Messages and frames only, no sockets: a frame is a 4-byte little-endian length (at most kMaxFrame) followed by an
// archive (wire/archive/archive.h) of one AgentCommand (head to agent) or AgentMessage (agent to head). An agent first
// writes AgentGreeting(), which ends with kMagic, so that the reader can skip output of a login shell before it. The
// number in the magic is the protocol version, so that a mismatch is detected before the first message. A sub-agent
// writes no magic: no shell precedes it, and it has the version of the agent above it.

using AgentCommand =
    std::variant<Hello, DefineEnvironment, HoldPorts, StartProcess, StopProcesses, Finish, RequestOutput, TakeDump,
                 PtyBytes, PtyTaken, PtyResized, AllocateResources, Activate, HeadHeartbeat, PlaceFile, Inspect,
                 OpenPaths, ProbePaths, ClosePaths, OfferCode, CodeBytes, FilesStored, OpenAgent, ToAgent, CloseAgent,
                 SignalProcess, KillAgent, FillDisk>;

using AgentMessage =
    std::variant<AgentReady, PortsHeld, AgentFailed, ProcessStarted, SpawnFailed, ProcessExited, SignalSent, AgentEmpty,
                 ProcessReady, OutputSeen, FirstOutput, EndEvidence, PortTaken, ProcessDumped, HostDumped, PtyOpened,
                 PtyClosed, PtyBytes, PtyTaken, ResourcesAllocated, HostActivated, AgentHeartbeat, FileBytes, Inspected,
                 PathsOpen, PathsProbed, CodeMissing, CodeReceived, CodeReady, FilesSent, FromAgent, AgentExited,
                 DevicesAwaited, UsageSampled, AgentSignalled, DiskFilled>;

std::string EncodeFrame(const AgentCommand& command);
std::string EncodeFrame(const AgentMessage& message);
std::optional<AgentCommand> DecodeCommand(std::string_view payload);
std::optional<AgentMessage> DecodeMessage(std::string_view payload);
// Whether a payload is a heartbeat, determined from its first byte: heartbeats are read and written before all other
// messages (wire.h).
bool IsHeadHeartbeat(std::string_view command_payload);
bool IsAgentHeartbeat(std::string_view message_payload);

// Maximum size of a message payload in bytes, by its first byte, which is the kind; for unknown kinds a default.
std::size_t MostMessageBytes(unsigned char kind);

// Splits a byte stream into frames: skips noise before the greeting, checks lengths, and reports protocol errors.

// Splits a byte stream into frame payloads. The bytes are untrusted: a payload that is too long for its kind is an
// error as soon as its first byte is known.
class FrameReader {
 public:
  // The maximum size of a payload in bytes, by its first byte.
  using MostBytes = std::size_t (*)(unsigned char kind);

  // With a magic, at most kMaxNoise bytes before it are skipped; a magic with another version number is an error.
  // Payloads have at most kMaxFrame bytes, and at most what `most` returns, if given.
  static constexpr std::size_t kMaxNoise = 64U << 10;
  explicit FrameReader(std::string_view magic = {}, MostBytes most = nullptr);
  // A reader for messages of an agent.
  static FrameReader OfMessages(std::string_view magic);

  void Feed(std::string_view bytes);
  // The next complete payload; nothing if more bytes are needed or the stream is broken.
  std::optional<std::string> Next();
  // Why the stream is unusable; empty if there was no error.
  const std::string& error() const { return error_; }

 private:
  std::string magic_;
  MostBytes most_ = nullptr;
  std::string buffer_;
  std::size_t consumed_ = 0;
  std::string error_;
};

}  // namespace muster
