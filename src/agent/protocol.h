// The agent protocol: what head and agent say to each other over one pair of descriptors. Version 9.
//
// Knows messages and frames, not sockets: a frame is a 4-byte little-endian length (at most kMaxFrame)
// followed by an archive (base/archive.h) of one AgentCommand (head to agent) or AgentMessage (agent to
// head). The first thing an agent writes is kMagic, so that noise of a login shell before it can be skipped; the number
// in it is the version of the protocol, so that an agent of another one is known before anything else is said. One
// below another has no shell before it, and is of that one's version: it writes none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "agent/protocol_bounds.h"
#include "base/archive.h"
#include "base/code_tree.h"
#include "muster/activation.h"
#include "muster/event.h"
#include "muster/host_facts.h"

namespace muster {

inline constexpr std::uint32_t kProtocolVersion = 9;
inline constexpr std::string_view kMagic = "muster-agent/9\n";

// --- head to agent ---------------------------------------------------------------------------------

// First command: everything the agent must know before it can start processes.
struct Hello {
  std::uint32_t version = kProtocolVersion;
  std::string run_id;
  std::uint32_t host = 0;  // index into Plan::hosts
  std::string logs;        // absolute path of the folder of the logs, if some have a limit; else empty
  // How long the head waits for a word of the agent before it takes the host for lost (base/lease.h): from the Hello on
  // the agent sends beats, and ends everything if they are not answered. 0: the connection itself is proof of life.
  std::uint64_t lease_ms = 0;
  // The run directory, absolute: opened now, and what the agent makes in it lies below it. Empty: of an agent that
  // makes none of its files.
  std::string run_dir = {};
  // On another host than the head. The run directory holds `probe` with the run's id in it; an agent that does not find
  // that makes the folder, and sends what is written there (FileBytes).
  bool elsewhere = false;
};

// A file for a run directory that the agent has made, or the part of it that begins at the offset; the parts of a file
// come in order. It is replaced if it is there.
struct PlaceFile {
  std::string path;  // relative
  std::uint64_t offset = 0;
  std::string content;
};

// A named block of environment variables ("NAME=value"), sent once and referred to by many starts.
struct DefineEnvironment {
  std::uint32_t block = 0;
  std::vector<std::string> variables;
};

// Do these steps in one shell and tell what they changed in its environment: answered by HostActivated. Once, before
// the first start.
struct Activate {
  std::vector<ActivationStep> steps;
  std::vector<std::string> environment;  // "NAME=value": what the shell begins with
  std::string cwd;                       // absolute
  std::string log_path;                  // absolute, in run_dir; created exclusively, mode 0600: what the steps say
  std::uint32_t within_ms = 0;           // then the shell and what it started are killed
};

struct PortRequest {
  std::string name;
  // 0: the agent chooses one outside the ephemeral range and 8118..16309 that it has not chosen before.
  std::uint16_t number = 0;
};

// Bind and hold these ports (not listening) until the start that names them in `release_ports`. A port of the same name
// that is held already is given up.
struct HoldPorts {
  std::vector<PortRequest> ports;
};

// Which processor cores one process is to have (docs/devices.md).
struct CoreWish {
  enum class Kind : std::uint8_t {
    kAuto,   // its equal share of what is left
    kCount,  // so many of its own
    kList    // these
  };
  ProcessId process = 0;
  Kind kind = Kind::kAuto;
  std::uint32_t count = 0;
  std::vector<std::uint32_t> list;     // ascending
  std::string role;                    // for messages
  std::vector<std::uint32_t> devices;  // the plan's numbers of its devices
};

// What of the host the job is to have: asked once, before any start. What is given is the job's until the agent has
// reaped its last process.
struct Allot {
  std::vector<std::uint32_t> devices;  // the plan's numbers of those that are used here, ascending
  std::uint32_t host_devices = 0;      // how many the plan takes the host to have
  // What the plan's numbers stand for: `given`, or themselves if that is empty. With `any`: whichever are free, of
  // `given` if that is not empty.
  bool any = false;
  std::vector<std::uint32_t> given;
  bool shared = false;  // others who say the same may have them too
  std::string kind;     // base/host_devices.h, or empty
  std::string whose;    // who has them, for others to read: one line
  std::vector<CoreWish> cores;
  // How long devices that others hold are waited for; told by DevicesAwaited. 0: not at all.
  std::uint64_t wait_ms = 0;
  std::uint32_t per_device = 0;  // more than 1: they are shared, by at most so many jobs; else, any number
  std::string party = {};        // the sweep or run among those that wait; without blanks
  std::string job = {};          // the run
};

inline constexpr std::uint64_t kWaitForEver = ~std::uint64_t{0};

// What a process finds to read at descriptor `number` (100 or more), from its beginning. It is in no file.
struct PassedText {
  std::int32_t number = 0;
  std::string content;
};

// What to look out for after a start (see Readiness in muster/plan.h, whose kinds these are but for those that need
// no looking). The agent answers with ProcessReady.
struct ReadyWhen {
  enum class Kind : std::uint8_t { kNothing, kPort, kFile, kLine, kCommand };
  Kind kind = Kind::kNothing;
  std::uint16_t port = 0;
  std::string text;               // kFile: a path, relative to the process's cwd; kLine: what a line of its log holds
  std::vector<std::string> argv;  // kCommand: started like the process itself, its output dropped
  std::uint32_t every_ms = 0;     // kCommand: the pause between two
};

// The window of a terminal; 0 and 0 where that is not known.
struct PtySize {
  std::uint16_t rows = 0;
  std::uint16_t columns = 0;
};

struct StartProcess {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::vector<std::string> argv;         // argv[0] without a slash is looked up on the PATH of `env`, …
  std::vector<std::string> search_dirs;  // … then in these folders
  std::string cwd;                       // absolute
  std::uint32_t environment = 0;         // block; `env` adds to it and overrides it
  std::vector<std::string> env;          // "NAME=value"
  std::string log_path;                  // absolute, in run_dir; created exclusively, mode 0600: stdout and stderr
  std::uint64_t log_limit = 0;           // bytes; from then on the log loses its beginning. 0: none
  std::vector<std::string> release_ports;
  std::vector<std::string> own_ports;  // of those: nobody else listens there, so they are held again at its end
  std::vector<PassedText> passed;
  std::vector<std::uint32_t> cores;  // that it may run on; empty: those that the agent may
  ReadyWhen ready;
  // A pseudo-terminal with a window of this size becomes stdin, stdout, stderr and the controlling terminal. The agent
  // tells PtyOpened, copies what is written there to the log and to the head, and tells PtyClosed before the end.
  std::optional<PtySize> pty;
};

struct ProcessAttempt {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
};

// Sends `signal` (and CONT) to the process groups at once, SIGKILL to what is left after `grace_ms`.
// grace_ms 0: SIGKILL only. A later StopProcesses for the same process can only shorten the grace.
struct StopProcesses {
  std::vector<ProcessAttempt> processes;
  std::int32_t signal = 0;
  std::uint32_t grace_ms = 0;
};

// Nothing more will be started: end whatever is left, answer with AgentEmpty, and exit.
struct Finish {
  bool unused = false;
};

// Answer to AgentBeat, at once. To an agent without a lease it is a question, which it answers by an AgentBeat of the
// same number, at once: whether it lives.
struct HeadBeat {
  std::uint32_t number = 0;
};

// How much have the running processes written? Answered by OutputSeen.
struct AskOutput {
  bool unused = false;
};

struct DumpTarget {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string path;  // absolute, in run_dir, in a folder that is there: created for what is found, mode 0600
};

// What are these processes doing? Answered by one ProcessDumped for each that runs, and then by HostDumped. A
// dump that is still being taken is given up for it.
struct TakeDump {
  std::uint32_t dump = 0;
  std::uint32_t within_ms = 0;  // the time for tools that show stacks, for all of them together
  std::vector<DumpTarget> processes;
};

// --- both ways: what goes through a pseudo-terminal ------------------------------------------------

// Each side may have sent so many bytes that the other has not told to be taken. When its process has ended the agent
// sends what is left, whatever is granted: at most kMaxPtyRest.
inline constexpr std::size_t kPtyWindow = 64U << 10;
inline constexpr std::size_t kMaxPtyRest = 256U << 10;

// From the head: typed. From the agent: written.
struct PtyBytes {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::string bytes;
};

// So many of these went on, to the process or to the user, and as many more may be sent.
struct PtyTaken {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::uint32_t count = 0;
};

// From the head: the user's window has another size. What is said of a pseudo-terminal that is closed has no effect.
struct PtyResized {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  PtySize size;
};

// Answer to FilesSent: the head has them, on its disk as far as write(2) tells. Without it they stay with the agent.
struct FilesKept {
  bool all = false;
};

// A folder about whose file system is asked, and what it is called.
struct PlaceSought {
  std::string what;
  std::string path;  // absolute; need not be there
};

// A program that is looked for as a start would.
struct ProgramSought {
  std::string name;
  std::string search_path;  // PATH
};

// What is this host like? Answered by one Inspected. At any time, one at a time.
struct Inspect {
  std::vector<PlaceSought> places;
  std::vector<ProgramSought> programs;
  std::vector<std::string> pythons;      // looked for on the PATH of `environment`, and asked for their packages
  std::vector<std::string> packages;     // names of distributions
  std::vector<std::string> variables;    // of the agent's own: NAME or PREFIX*
  std::vector<std::string> environment;  // "NAME=value": what pythons begin with
  std::vector<std::string> search_dirs;  // as in StartProcess
  std::string cwd;                       // absolute: where relative names begin
  bool trials = false;                   // whether to try what the host lets an agent do, and to look up its name
  std::uint32_t within_ms = 0;           // then what is not known yet is not told
};

// Listen at these ports, which are held, and at one more of the kernel's choice, so that other hosts can try whether
// they get there: until ClosePaths. Answered by PathsOpen. Before any start.
struct OpenPaths {
  std::vector<std::uint16_t> ports;
};

struct PathTarget {
  std::string address;  // an IP literal
  std::uint16_t port = 0;
};

// Can these be connected to? Answered by PathsTried.
struct TryPaths {
  std::vector<PathTarget> targets;
  std::uint32_t within_ms = 0;  // for all of them together
};

// Answered by PathsOpen with port 0: who connects from then on reaches the job's own processes.
struct ClosePaths {
  bool unused = false;
};

// A tree of code that processes of this host are to find in its cache; in parts, the last one says so. Answered by
// CodeWanted. Once, before anything that may name a file of it.
struct OfferCode {
  std::string hash;  // CodeTreeHash of all the entries
  std::vector<CodeEntry> entries;
  bool last = false;
};

// So many bytes of CodeBytes may be on their way: sent, and not told by CodeTaken.
inline constexpr std::size_t kCodeWindow = 1U << 20;

// A part of the content of a wanted entry. Files come in the order in which they were wanted, each from its beginning
// to its end; an empty one is not sent.
struct CodeBytes {
  std::uint32_t entry = 0;
  std::string content;
};

// --- agents below an agent (agent/sub_agents.h) ----------------------------------------------------------

// Be the agent of one more run: another agent, with a process and a loop of its own. Its end is told by AgentGone. The
// number must not be that of one whose AgentGone has not come.
struct OpenAgent {
  std::uint32_t number = 0;
};

// More of what the head says to that agent: a stream of frames, cut anywhere.
struct ToAgent {
  std::uint32_t number = 0;
  std::string bytes;
};

// The head has no more to say to it: as if its connection had ended. One that is gone is not meant any more.
struct CloseAgent {
  std::uint32_t number = 0;
};

using AgentCommand =
    std::variant<Hello, DefineEnvironment, HoldPorts, StartProcess, StopProcesses, Finish, AskOutput, TakeDump,
                 PtyBytes, PtyTaken, PtyResized, Allot, Activate, HeadBeat, PlaceFile, Inspect, OpenPaths, TryPaths,
                 ClosePaths, OfferCode, CodeBytes, FilesKept, OpenAgent, ToAgent, CloseAgent>;

// --- agent to head ---------------------------------------------------------------------------------

// Answer to Hello.
struct AgentReady {
  std::uint32_t version = kProtocolVersion;
  std::int32_t pid = 0;
  std::uint64_t start_ticks = 0;
  std::string host_name;
  std::vector<std::string> mechanisms;  // "pidfd", "close_range", "clone-files", "subreaper", "log-pipe", …
  std::string cgroup;                   // folder of the group that its processes are in; empty: none
  std::uint32_t descriptors = 0;        // open in the agent
  std::uint64_t memory_kib = 0;         // resident
  MonotonicNs at = 0;
  std::string address;         // by which the host was reached; empty if not over a network
  bool shares_run_dir = true;  // the head's is its own, too
  std::uint32_t cores = 0;     // of the host that the agent may run on
};

// Answer to HoldPorts: numbers in the order asked, or why not.
struct PortsHeld {
  std::vector<PortRequest> ports;
  std::string error;  // empty: all held
};

// Answer to Allot, in the order asked.
struct Allotted {
  std::vector<std::string> devices;               // their names on this host
  std::vector<std::vector<std::uint32_t>> cores;  // ascending, never empty
  std::vector<std::string> notes;                 // sentences about what could not be as it should
  std::string error;                              // empty: all is given
};

// Answer to Activate. Names and values come from what was sourced and are not trusted.
struct HostActivated {
  std::uint32_t host = 0;
  std::map<std::string, std::string> set;  // variables that are new, or have another value
  std::vector<std::string> unset;          // that are gone, in order
  std::uint64_t took_ms = 0;
  std::uint32_t failed_step = 0;  // from 1; 0: none, or the shell as a whole
  std::string error;              // why it failed, a phrase for people; empty if all went well

  bool operator==(const HostActivated&) const = default;
};

// It lives. The number counts from 1, or is that of a question (HeadBeat); what it says of the beat that was answered
// last tells how long the way is.
struct AgentBeat {
  std::uint32_t number = 0;
  MonotonicNs at = 0;
  std::uint32_t answered = 0;   // 0: none was yet
  MonotonicNs answered_at = 0;  // when the answer came
};

// What stands at `offset` of a file below the run directory that the agent has made. Those of one file may come out of
// order: the end of a log comes first when its process has ended.
struct FileBytes {
  std::string path;  // relative
  std::uint64_t offset = 0;
  std::string content;
  bool last = false;  // here the file ends
};

// All FileBytes have gone, after Finish: answered by FilesKept, for which AgentEmpty waits.
struct FilesSent {
  bool unused = false;
};

// Answer to Inspect. Texts come from files and programs of the host and are not trusted.
struct Inspected {
  HostFacts facts;
  std::string error;              // what of them is not known, and why; empty: all is told
  std::uint64_t asked_at = 0;     // by the host's wall clock: when Inspect came, …
  std::uint64_t answered_at = 0;  // … and when this went
};

// Answer to OpenPaths.
struct PathsOpen {
  std::uint16_t port = 0;  // the one of the kernel's choice
  std::string error;       // why it does not listen; empty: it does
};

// Answer to TryPaths: of each target, in order, why it cannot be reached; empty: it can.
struct PathsTried {
  std::vector<std::string> errors;
};

// Answer to OfferCode: the entries whose content the host lacks, ascending. CodeReady follows when it has them.
struct CodeWanted {
  std::vector<std::uint32_t> entries;
};

// So many bytes of CodeBytes have been written.
struct CodeTaken {
  std::uint32_t bytes = 0;
};

// The tree is there as a whole, and stays until the agent ends; or it cannot be had.
struct CodeReady {
  std::string folder;  // absolute
  std::string error;   // empty: it is there
};

// The agent refuses to go on (bad command, other version) and exits.
struct AgentFailed {
  std::string why;
};

// More of what that agent says: the greeting and frames, cut anywhere.
struct FromAgent {
  std::uint32_t number = 0;
  std::string bytes;
};

// That agent has ended, all that it said has been sent, and nothing is left of what it had started but what cannot be
// ended, which `why` counts.
struct AgentGone {
  std::uint32_t number = 0;
  std::string why;           // what the agent did: "ended by signal 9 (SIGKILL)"; empty if it finished
  std::uint32_t killed = 0;  // processes that it had left
};

using AgentMessage =
    std::variant<AgentReady, PortsHeld, AgentFailed, ProcessStarted, SpawnFailed, ProcessExited, SignalSent, AgentEmpty,
                 ProcessReady, OutputSeen, FirstOutput, EndEvidence, PortTaken, ProcessDumped, HostDumped, PtyOpened,
                 PtyClosed, PtyBytes, PtyTaken, Allotted, HostActivated, AgentBeat, FileBytes, Inspected, PathsOpen,
                 PathsTried, CodeWanted, CodeTaken, CodeReady, FilesSent, FromAgent, AgentGone, DevicesAwaited>;

// --- frames ----------------------------------------------------------------------------------------

std::string EncodeFrame(const AgentCommand& command);
std::string EncodeFrame(const AgentMessage& message);
std::optional<AgentCommand> DecodeCommand(std::string_view payload);
std::optional<AgentMessage> DecodeMessage(std::string_view payload);
// Whether a payload is a heartbeat, told from its first byte: those are read and written before everything else
// (wire.h).
bool IsHeadBeat(std::string_view command_payload);
bool IsAgentBeat(std::string_view message_payload);

// How many bytes the payload of a message may have, by its first byte: that tells the kind, if there is such a kind.
std::size_t MostMessageBytes(unsigned char kind);

// Cuts a stream of bytes into frame payloads. Bytes are untrusted: one that is too long for its kind breaks the stream
// before it is there.
class FrameReader {
 public:
  // The most bytes of a payload by its first byte.
  using MostBytes = std::size_t (*)(unsigned char kind);

  // With a magic, bytes before it are skipped, at most kMaxNoise of them; one that differs in its number is an error.
  // Payloads have at most kMaxFrame bytes, and what `most` says, if it is given.
  static constexpr std::size_t kMaxNoise = 64U << 10;
  explicit FrameReader(std::string_view magic = {}, MostBytes most = nullptr);
  // Of what an agent says.
  static FrameReader OfMessages(std::string_view magic);

  void Feed(std::string_view bytes);
  // The next complete payload; nothing if more bytes are needed or the stream is broken.
  std::optional<std::string> Next();
  // Why the stream is unusable; empty while all is well.
  const std::string& error() const { return error_; }

 private:
  std::string magic_;
  MostBytes most_ = nullptr;
  std::string buffer_;
  std::size_t consumed_ = 0;
  std::string error_;
};

}  // namespace muster
