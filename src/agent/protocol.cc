#include "agent/protocol.h"

#include <array>
#include <utility>

#include "base/activation_archive.h"
#include "base/code_tree_archive.h"

namespace muster {
namespace {

using namespace protocol_bounds;

}  // namespace

// --- the fields of every message, once for both directions -----------------------------------------

template <class A>
void Fields(A& archive, Hello& m) {
  archive(m.version, AtMost(m.run_id, kName), m.host, AtMost(m.logs, kText), m.lease_ms, AtMost(m.run_dir, kText),
          m.elsewhere);
}
template <class A>
void Fields(A& archive, DefineEnvironment& m) {
  archive(m.block, AtMost(m.variables, kList, kText));
}
template <class A>
void Fields(A& archive, Activate& m) {
  archive(AtMost(m.steps, kList), AtMost(m.environment, kList, kText), AtMost(m.cwd, kText), AtMost(m.log_path, kText),
          m.within_ms);
}
template <class A>
void Fields(A& archive, HostActivated& m) {
  archive(m.host, AtMost(m.set, kVariables, kEnvironment, kEnvironment), AtMost(m.unset, kVariables, kEnvironment),
          m.took_ms, m.failed_step, Phrase{m.error, kPhrase});
}
template <class A>
void Fields(A& archive, PortRequest& m) {
  archive(AtMost(m.name, kName), m.number);
}
template <class A>
void Fields(A& archive, HoldPorts& m) {
  archive(AtMost(m.ports, kPorts));
}
template <class A>
void Fields(A& archive, CoreWish& m) {
  InRange(archive, m.kind, CoreWish::Kind::kList);
  archive(m.process, m.count, AtMost(m.list, kCores), AtMost(m.role, kName), AtMost(m.devices, kList));
}
template <class A>
void Fields(A& archive, Allot& m) {
  archive(AtMost(m.devices, kList), m.host_devices, m.any, AtMost(m.given, kList), m.shared, AtMost(m.kind, kName),
          AtMost(m.whose, kText), AtMost(m.cores, kHostProcesses), m.wait_ms, m.per_device, AtMost(m.party, kName),
          AtMost(m.job, kName));
}
template <class A>
void Fields(A& archive, DevicesAwaited& m) {
  archive(m.host, m.count, Phrase{m.holders, kPhrase});
}
template <class A>
void Fields(A& archive, Allotted& m) {
  archive(AtMost(m.devices, kHostDevices, kDeviceName), AtMost(m.cores, kHostProcesses, kCores),
          AtMost(m.notes, kNotes, kPhrase), Phrase{m.error, kPhrase});
}
template <class A>
void Fields(A& archive, PassedText& m) {
  archive(m.number, AtMost(m.content, kText));
}
template <class A>
void Fields(A& archive, ReadyWhen& m) {
  InRange(archive, m.kind, ReadyWhen::Kind::kCommand);
  archive(m.port, AtMost(m.text, kText), AtMost(m.argv, kList, kText), m.every_ms);
}
template <class A>
void Fields(A& archive, PtySize& m) {
  archive(m.rows, m.columns);
}
template <class A>
void Fields(A& archive, StartProcess& m) {
  archive(m.process, m.attempt, AtMost(m.argv, kList, kText), AtMost(m.search_dirs, kList, kText), AtMost(m.cwd, kText),
          m.environment, AtMost(m.env, kList, kText), AtMost(m.log_path, kText), m.log_limit,
          AtMost(m.release_ports, kPorts, kName), AtMost(m.own_ports, kPorts, kName), AtMost(m.passed, kList),
          AtMost(m.cores, kCores), m.ready, m.pty);
}
template <class A>
void Fields(A& archive, ProcessAttempt& m) {
  archive(m.process, m.attempt);
}
template <class A>
void Fields(A& archive, StopProcesses& m) {
  archive(AtMost(m.processes, kList), m.signal, m.grace_ms);
}
template <class A>
void Fields(A& archive, Finish& m) {
  archive(m.unused);
}
template <class A>
void Fields(A& archive, PlaceFile& m) {
  archive(AtMost(m.path, kPath), m.offset, AtMost(m.content, kText));
}
template <class A>
void Fields(A& archive, FileBytes& m) {
  archive(AtMost(m.path, kPath), m.offset, AtMost(m.content, kMostFilePart), m.last);
}
template <class A>
void Fields(A& archive, FilesSent& m) {
  archive(m.unused);
}
template <class A>
void Fields(A& archive, FilesKept& m) {
  archive(m.all);
}
template <class A>
void Fields(A& archive, HeadBeat& m) {
  archive(m.number);
}
template <class A>
void Fields(A& archive, AgentBeat& m) {
  archive(m.number, m.at, m.answered, m.answered_at);
}
template <class A>
void Fields(A& archive, AskOutput& m) {
  archive(m.unused);
}
template <class A>
void Fields(A& archive, DumpTarget& m) {
  archive(m.process, m.attempt, AtMost(m.path, kText));
}
template <class A>
void Fields(A& archive, TakeDump& m) {
  archive(m.dump, m.within_ms, AtMost(m.processes, kList));
}
template <class A>
void Fields(A& archive, PtyBytes& m) {
  archive(m.process, m.attempt, AtMost(m.bytes, kMaxPtyRest));
}
template <class A>
void Fields(A& archive, PtyTaken& m) {
  archive(m.process, m.attempt, m.count);
}
template <class A>
void Fields(A& archive, PtyResized& m) {
  archive(m.process, m.attempt, m.size);
}
template <class A>
void Fields(A& archive, PtyOpened& m) {
  archive(m.process, m.attempt, m.at);
}
template <class A>
void Fields(A& archive, PtyClosed& m) {
  archive(m.process, m.attempt, m.bytes, m.unlogged, m.at);
}
template <class A>
void Fields(A& archive, StackFrame& m) {
  archive(AtMost(m.function, kDumpText), AtMost(m.file, kDumpText), m.line);
}
template <class A>
void Fields(A& archive, ThreadState& m) {
  archive(m.tid, m.alike, AtMost(m.name, kDumpText), AtMost(m.state, kDumpText), AtMost(m.wait, kDumpText),
          AtMost(m.call, kDumpText), AtMost(m.target, kDumpText), AtMost(m.frames, kDumpFrames));
}
template <class A>
void Fields(A& archive, SystemProcessState& m) {
  archive(m.pid, m.parent, AtMost(m.program, kDumpText), m.cpu_ns, m.threads_seen, AtMost(m.by, kDumpText),
          AtMost(m.threads, kDumpThreads));
}
template <class A>
void Fields(A& archive, ProcessDumped& m) {
  archive(m.dump, m.process, m.attempt, m.log_bytes, m.silent_ms, m.window_ns, AtMost(m.states, kDumpProcesses), m.at);
}
template <class A>
void Fields(A& archive, DumpNote& m) {
  archive(AtMost(m.kind, kName), Phrase{m.detail, kPhrase});
}
template <class A>
void Fields(A& archive, HostDumped& m) {
  archive(m.host, m.dump, AtMost(m.notes, kNotes));
}
template <class A>
void Fields(A& archive, ProcessReady& m) {
  archive(m.process, m.attempt, m.at);
}
template <class A>
void Fields(A& archive, OutputSeen& m) {
  archive(m.host, AtMost(m.processes, kHostProcesses), AtMost(m.bytes, kHostProcesses));
}
template <class A>
void Fields(A& archive, FirstOutput& m) {
  archive(m.process, m.attempt, m.at);
}
template <class A>
void Fields(A& archive, EndEvidence& m) {
  archive(m.process, m.attempt, AtMost(m.kind, kName), Phrase{m.detail, kPhrase}, m.at);
}
template <class A>
void Fields(A& archive, PortTaken& m) {
  archive(m.process, m.attempt, AtMost(m.port, kName), m.number, Phrase{m.holder, kPhrase}, m.running, m.at);
}
template <class A>
void Fields(A& archive, AgentReady& m) {
  archive(m.version, m.pid, m.start_ticks, AtMost(m.host_name, kHostName), AtMost(m.mechanisms, kWords, kName),
          AtMost(m.cgroup, kPath), m.descriptors, m.memory_kib, m.at, AtMost(m.address, kHostName), m.shares_run_dir,
          m.cores);
}
template <class A>
void Fields(A& archive, PortsHeld& m) {
  archive(AtMost(m.ports, kPorts), Phrase{m.error, kPhrase});
}
template <class A>
void Fields(A& archive, AgentFailed& m) {
  archive(Phrase{m.why, kPhrase});
}
template <class A>
void Fields(A& archive, ProcessStarted& m) {
  archive(m.process, m.attempt, m.pid, m.start_ticks, m.at);
}
template <class A>
void Fields(A& archive, SpawnFailed& m) {
  archive(m.process, m.attempt, AtMost(m.stage, kName), m.error, Phrase{m.detail, kPhrase}, m.at);
}
template <class A>
void Fields(A& archive, ProcessExited& m) {
  archive(m.process, m.attempt, m.signalled, m.code, m.core_dumped, m.user_us, m.system_us, m.max_rss_kib, m.at);
}
template <class A>
void Fields(A& archive, SignalSent& m) {
  archive(m.process, m.attempt, m.signal, m.error, m.at);
}
template <class A>
void Fields(A& archive, AgentEmpty& m) {
  archive(m.host, m.started, m.reaped, m.adopted, AtMost(m.by, kWords, kName), m.descriptors, m.memory_kib);
}

// --- what a host is like ---------------------------------------------------------------------------

template <class A>
void Fields(A& archive, PlaceSought& m) {
  archive(AtMost(m.what, kText), AtMost(m.path, kText));
}
template <class A>
void Fields(A& archive, ProgramSought& m) {
  archive(AtMost(m.name, kText), AtMost(m.search_path, kText));
}
template <class A>
void Fields(A& archive, Inspect& m) {
  archive(AtMost(m.places, kFacts), AtMost(m.programs, kFacts), AtMost(m.pythons, kFacts, kText),
          AtMost(m.packages, kFacts, kText), AtMost(m.variables, kFacts, kText), AtMost(m.environment, kList, kText),
          AtMost(m.search_dirs, kList, kText), AtMost(m.cwd, kText), m.trials, m.within_ms);
}
template <class A>
void Fields(A& archive, LimitFact& m) {
  archive(AtMost(m.name, kName), m.soft, m.hard);
}
template <class A>
void Fields(A& archive, DiskFact& m) {
  archive(AtMost(m.what, kPhrase), AtMost(m.path, kPhrase), AtMost(m.kind, kName), m.bytes, m.free_bytes, m.inodes,
          m.free_inodes, Phrase{m.error, kPhrase});
}
template <class A>
void Fields(A& archive, ProgramFact& m) {
  archive(AtMost(m.name, kPhrase), AtMost(m.path, kPhrase), Phrase{m.error, kPhrase});
}
template <class A>
void Fields(A& archive, PythonFact& m) {
  archive(AtMost(m.program, kPhrase), AtMost(m.version, kPhrase), AtMost(m.packages, kFacts, kPhrase, kPhrase),
          Phrase{m.error, kPhrase});
}
template <class A>
void Fields(A& archive, TrialFact& m) {
  archive(AtMost(m.kind, kName), AtMost(m.what, kPhrase), Phrase{m.error, kPhrase});
}
template <class A>
void Fields(A& archive, HostFacts& m) {
  archive(AtMost(m.muster, kPhrase), AtMost(m.system, kPhrase), AtMost(m.kernel, kPhrase), AtMost(m.machine, kPhrase),
          m.root, m.cores, m.memory_bytes, AtMost(m.drivers, kWords, kName, kPhrase), AtMost(m.device_kind, kName),
          m.devices, AtMost(m.addresses, kFacts, kHostName), AtMost(m.limits, kWords),
          AtMost(m.variables, kVariables, kEnvironment, kEnvironment), AtMost(m.disks, kFacts),
          AtMost(m.programs, kFacts), AtMost(m.pythons, kFacts), AtMost(m.trials, kFacts));
}
template <class A>
void Fields(A& archive, Inspected& m) {
  archive(m.facts, Phrase{m.error, kPhrase}, m.asked_at, m.answered_at);
}

// --- ways between hosts, and code ------------------------------------------------------------------

template <class A>
void Fields(A& archive, OpenPaths& m) {
  archive(AtMost(m.ports, kPorts));
}
template <class A>
void Fields(A& archive, PathTarget& m) {
  archive(AtMost(m.address, kHostName), m.port);
}
template <class A>
void Fields(A& archive, TryPaths& m) {
  archive(AtMost(m.targets, kMostPathTargets), m.within_ms);
}
template <class A>
void Fields(A& archive, ClosePaths& m) {
  archive(m.unused);
}
template <class A>
void Fields(A& archive, PathsOpen& m) {
  archive(m.port, Phrase{m.error, kPhrase});
}
template <class A>
void Fields(A& archive, PathsTried& m) {
  archive(AtMost(m.errors, kMostPathTargets, kPhrase));
}
template <class A>
void Fields(A& archive, OfferCode& m) {
  archive(AtMost(m.hash, kName), AtMost(m.entries, kMostCodeEntries), m.last);
}
template <class A>
void Fields(A& archive, CodeBytes& m) {
  archive(m.entry, AtMost(m.content, kCodeWindow));
}
template <class A>
void Fields(A& archive, CodeWanted& m) {
  archive(AtMost(m.entries, kMostCodeEntries));
}
template <class A>
void Fields(A& archive, CodeTaken& m) {
  archive(m.bytes);
}
template <class A>
void Fields(A& archive, CodeReady& m) {
  archive(AtMost(m.folder, kPath), Phrase{m.error, kPhrase});
}

// --- agents below an agent ---------------------------------------------------------------------------

template <class A>
void Fields(A& archive, OpenAgent& m) {
  archive(m.number);
}
template <class A>
void Fields(A& archive, ToAgent& m) {
  archive(m.number, AtMost(m.bytes, kText));
}
template <class A>
void Fields(A& archive, CloseAgent& m) {
  archive(m.number);
}
template <class A>
void Fields(A& archive, FromAgent& m) {
  archive(m.number, AtMost(m.bytes, kMostPassedOn));
}
template <class A>
void Fields(A& archive, AgentGone& m) {
  archive(m.number, Phrase{m.why, kPhrase}, m.killed);
}

// --- frames ----------------------------------------------------------------------------------------

namespace {

constexpr std::size_t kMostFields = 64;  // bytes of the numbers of any message, of the lengths of its texts, …

// What a message of the kind may come to as a whole. Each is less than what its parts might be together.
constexpr std::size_t kMostUnknown = 64U << 10;
template <class Message>
constexpr std::size_t kMostBytes = kMostUnknown;
template <>
constexpr std::size_t kMostBytes<PortsHeld> = 2U << 20;
template <>
constexpr std::size_t kMostBytes<OutputSeen> = 1U << 20;
template <>
constexpr std::size_t kMostBytes<ProcessDumped> = 256U << 10;
template <>
constexpr std::size_t kMostBytes<HostDumped> = 256U << 10;
template <>
constexpr std::size_t kMostBytes<PtyBytes> = kPtyWindow + kMostFields;
template <>
constexpr std::size_t kMostBytes<Allotted> = 1U << 20;
template <>
constexpr std::size_t kMostBytes<HostActivated> = kEnvironment + (128U << 10);
template <>
constexpr std::size_t kMostBytes<FileBytes> = kPath + kMostFilePart + kMostFields;
template <>
constexpr std::size_t kMostBytes<Inspected> = 2U << 20;
template <>
constexpr std::size_t kMostBytes<PathsTried> = 1U << 20;
template <>
constexpr std::size_t kMostBytes<CodeWanted> = 1U << 20;
template <>
constexpr std::size_t kMostBytes<FromAgent> = kMostPassedOn + kMostFields;

template <std::size_t... kKinds>
constexpr auto MostBytesByKind(std::index_sequence<kKinds...>) {
  return std::array{kMostBytes<std::variant_alternative_t<kKinds, AgentMessage>>...};
}
constexpr auto kMostBytesByKind = MostBytesByKind(std::make_index_sequence<std::variant_size_v<AgentMessage>>());
static_assert(kMostBytesByKind.size() < 0x80, "the kind of a message is its first byte");

std::string Framed(const std::string& payload) {
  std::string frame;
  frame.reserve(kFrameLengthBytes + payload.size());
  for (unsigned shift = 0; shift < 32; shift += 8) frame.push_back(static_cast<char>(payload.size() >> shift));
  return frame += payload;
}

// Of any message an archive begins with the number of its type, which is one byte as long as there are few types.
template <class Message>
bool HasTypeOf(std::string_view payload, const Message& example) {
  static_assert(std::variant_size_v<Message> < 0x80);
  return !payload.empty() && static_cast<std::size_t>(static_cast<unsigned char>(payload.front())) == example.index();
}

}  // namespace

std::string EncodeFrame(const AgentCommand& command) { return Framed(Archived(command)); }
std::string EncodeFrame(const AgentMessage& message) { return Framed(Archived(message)); }

namespace {

template <class T>
std::optional<T> Decoded(std::string_view payload) {
  BoundedArchiveReader reader(payload);
  T value{};
  reader(value);
  if (!reader.Complete()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<AgentCommand> DecodeCommand(std::string_view payload) { return Decoded<AgentCommand>(payload); }
std::optional<AgentMessage> DecodeMessage(std::string_view payload) {
  if (payload.empty() || payload.size() > MostMessageBytes(static_cast<unsigned char>(payload.front()))) {
    return std::nullopt;
  }
  return Decoded<AgentMessage>(payload);
}

std::size_t MostMessageBytes(unsigned char kind) {
  return kind < kMostBytesByKind.size() ? kMostBytesByKind[kind] : kMostUnknown;
}

bool IsHeadBeat(std::string_view command_payload) { return HasTypeOf(command_payload, AgentCommand(HeadBeat{})); }
bool IsAgentBeat(std::string_view message_payload) { return HasTypeOf(message_payload, AgentMessage(AgentBeat{})); }

}  // namespace muster
