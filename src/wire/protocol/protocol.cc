#include "wire/protocol/protocol.h"

#include <algorithm>
#include <array>
#include <utility>

#include "wire/archive/archive.h"
#include "wire/archive/value_archive.h"
#include "wire/protocol/event_fields.h"

namespace muster {

// Archive fields of the messages in wire/protocol/protocol.h and of the types that they contain.

template <class A>
void Fields(A& archive, Hello& m) {
  archive(m.version, AtMost(m.run_id, protocol_bounds::kName), m.host, AtMost(m.logs, protocol_bounds::kText),
          m.lease_ms, AtMost(m.run_dir, protocol_bounds::kText), m.elsewhere, m.usage_ms,
          AtMost(m.device_kind, protocol_bounds::kName));
}

template <class A>
void Fields(A& archive, Finish& m) {
  archive(m.unused);
}

template <class A>
void Fields(A& archive, HeadHeartbeat& m) {
  archive(m.number);
}

template <class A>
void Fields(A& archive, AgentHeartbeat& m) {
  archive(m.number, m.at, m.answered, m.answered_at);
}

template <class A>
void Fields(A& archive, AgentReady& m) {
  archive(m.version, m.pid, m.start_ticks, AtMost(m.host_name, protocol_bounds::kHostName),
          AtMost(m.mechanisms, protocol_bounds::kWords, protocol_bounds::kName),
          AtMost(m.cgroup, protocol_bounds::kPath), m.descriptors, m.memory_kib, m.at,
          AtMost(m.address, protocol_bounds::kHostName), m.shares_run_dir, m.cores);
}

template <class A>
void Fields(A& archive, AgentSignalled& m) {
  archive(m.signal);
}

template <class A>
void Fields(A& archive, AgentFailed& m) {
  archive(Phrase{m.why, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, OpenAgent& m) {
  archive(m.number);
}

template <class A>
void Fields(A& archive, ToAgent& m) {
  archive(m.number, AtMost(m.bytes, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, CloseAgent& m) {
  archive(m.number);
}

template <class A>
void Fields(A& archive, FromAgent& m) {
  archive(m.number, AtMost(m.bytes, kMaxPassedOn));
}

template <class A>
void Fields(A& archive, AgentExited& m) {
  archive(m.number, Phrase{m.why, protocol_bounds::kPhrase}, m.killed);
}

template <class A>
void Fields(A& archive, FolderQuery& m) {
  archive(AtMost(m.what, protocol_bounds::kText), AtMost(m.path, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, ProgramQuery& m) {
  archive(AtMost(m.name, protocol_bounds::kText), AtMost(m.search_path, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, Inspect& m) {
  archive(AtMost(m.places, protocol_bounds::kFacts), AtMost(m.programs, protocol_bounds::kFacts),
          AtMost(m.pythons, protocol_bounds::kFacts, protocol_bounds::kText),
          AtMost(m.packages, protocol_bounds::kFacts, protocol_bounds::kText),
          AtMost(m.variables, protocol_bounds::kFacts, protocol_bounds::kText),
          AtMost(m.environment, protocol_bounds::kList, protocol_bounds::kText),
          AtMost(m.search_dirs, protocol_bounds::kList, protocol_bounds::kText), AtMost(m.cwd, protocol_bounds::kText),
          m.trials, m.within_ms);
}

template <class A>
void Fields(A& archive, LimitFact& m) {
  archive(AtMost(m.name, protocol_bounds::kName), m.soft, m.hard);
}

template <class A>
void Fields(A& archive, DiskFact& m) {
  archive(AtMost(m.what, protocol_bounds::kPhrase), AtMost(m.path, protocol_bounds::kPhrase),
          AtMost(m.kind, protocol_bounds::kName), m.bytes, m.free_bytes, m.inodes, m.free_inodes,
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, ProgramFact& m) {
  archive(AtMost(m.name, protocol_bounds::kPhrase), AtMost(m.path, protocol_bounds::kPhrase),
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, PythonFact& m) {
  archive(AtMost(m.program, protocol_bounds::kPhrase), AtMost(m.version, protocol_bounds::kPhrase),
          AtMost(m.packages, protocol_bounds::kFacts, protocol_bounds::kPhrase, protocol_bounds::kPhrase),
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, HostCheck& m) {
  archive(AtMost(m.kind, protocol_bounds::kName), AtMost(m.what, protocol_bounds::kPhrase),
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, HostFacts& m) {
  archive(
      AtMost(m.muster, protocol_bounds::kPhrase), AtMost(m.system, protocol_bounds::kPhrase),
      AtMost(m.kernel, protocol_bounds::kPhrase), AtMost(m.machine, protocol_bounds::kPhrase), m.root, m.cores,
      m.memory_bytes, AtMost(m.drivers, protocol_bounds::kWords, protocol_bounds::kName, protocol_bounds::kPhrase),
      AtMost(m.device_kind, protocol_bounds::kName), m.devices,
      AtMost(m.addresses, protocol_bounds::kFacts, protocol_bounds::kHostName),
      AtMost(m.limits, protocol_bounds::kWords),
      AtMost(m.variables, protocol_bounds::kVariables, protocol_bounds::kEnvironment, protocol_bounds::kEnvironment),
      AtMost(m.disks, protocol_bounds::kFacts), AtMost(m.programs, protocol_bounds::kFacts),
      AtMost(m.pythons, protocol_bounds::kFacts), AtMost(m.trials, protocol_bounds::kFacts));
}

template <class A>
void Fields(A& archive, Inspected& m) {
  archive(m.facts, Phrase{m.error, protocol_bounds::kPhrase}, m.asked_at, m.answered_at);
}

template <class A>
void Fields(A& archive, OpenPaths& m) {
  archive(AtMost(m.ports, protocol_bounds::kPorts));
}

template <class A>
void Fields(A& archive, PathTarget& m) {
  archive(AtMost(m.address, protocol_bounds::kHostName), m.port);
}

template <class A>
void Fields(A& archive, ProbePaths& m) {
  archive(AtMost(m.targets, kMaxPathTargets), m.within_ms);
}

template <class A>
void Fields(A& archive, ClosePaths& m) {
  archive(m.unused);
}

template <class A>
void Fields(A& archive, PathsOpen& m) {
  archive(m.port, Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, PathsProbed& m) {
  archive(AtMost(m.errors, kMaxPathTargets, protocol_bounds::kPhrase));
}

template <class A>
void Fields(A& archive, CoreRequest& m) {
  InRange(archive, m.kind, CoreRequest::Kind::kList);
  archive(m.process, m.count, AtMost(m.list, protocol_bounds::kCores), AtMost(m.role, protocol_bounds::kName),
          AtMost(m.devices, protocol_bounds::kList));
}

template <class A>
void Fields(A& archive, AllocateResources& m) {
  archive(AtMost(m.devices, protocol_bounds::kList), m.host_devices, m.any, AtMost(m.given, protocol_bounds::kList),
          m.shared, AtMost(m.kind, protocol_bounds::kName), AtMost(m.whose, protocol_bounds::kText),
          AtMost(m.cores, protocol_bounds::kHostProcesses), m.wait_ms, m.per_device,
          AtMost(m.owner, protocol_bounds::kName), AtMost(m.job, protocol_bounds::kName));
}

template <class A>
void Fields(A& archive, ResourcesAllocated& m) {
  archive(AtMost(m.devices, protocol_bounds::kHostDevices, protocol_bounds::kDeviceName),
          AtMost(m.cores, protocol_bounds::kHostProcesses, protocol_bounds::kCores),
          AtMost(m.notes, protocol_bounds::kNotes, protocol_bounds::kPhrase),
          Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, OfferCode& m) {
  archive(AtMost(m.hash, protocol_bounds::kName), AtMost(m.entries, kMaxCodeEntries), m.last);
}

template <class A>
void Fields(A& archive, CodeBytes& m) {
  archive(m.entry, AtMost(m.content, kCodeWindow));
}

template <class A>
void Fields(A& archive, CodeMissing& m) {
  archive(AtMost(m.entries, kMaxCodeEntries));
}

template <class A>
void Fields(A& archive, CodeReceived& m) {
  archive(m.bytes);
}

template <class A>
void Fields(A& archive, CodeReady& m) {
  archive(AtMost(m.folder, protocol_bounds::kPath), Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, PlaceFile& m) {
  archive(AtMost(m.path, protocol_bounds::kPath), m.offset, AtMost(m.content, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, FileBytes& m) {
  archive(AtMost(m.path, protocol_bounds::kPath), m.offset, AtMost(m.content, kMaxFilePart), m.last);
}

template <class A>
void Fields(A& archive, FilesSent& m) {
  archive(m.unused);
}

template <class A>
void Fields(A& archive, FilesStored& m) {
  archive(m.all);
}

template <class A>
void Fields(A& archive, PtySize& m) {
  archive(m.rows, m.columns);
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
void Fields(A& archive, PortRequest& m) {
  archive(AtMost(m.name, protocol_bounds::kName), m.number);
}

template <class A>
void Fields(A& archive, HoldPorts& m) {
  archive(AtMost(m.ports, protocol_bounds::kPorts));
}

template <class A>
void Fields(A& archive, PortsHeld& m) {
  archive(AtMost(m.ports, protocol_bounds::kPorts), Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, HostVariables& m) {
  archive(AtMost(m.take, protocol_bounds::kVariables, protocol_bounds::kName),
          AtMost(m.leave, protocol_bounds::kVariables, protocol_bounds::kName));
}

template <class A>
void Fields(A& archive, DefineEnvironment& m) {
  archive(m.block, AtMost(m.variables, protocol_bounds::kList, protocol_bounds::kText), m.of_host);
}

template <class A>
void Fields(A& archive, PassedText& m) {
  archive(m.number, AtMost(m.content, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, ReadyWhen& m) {
  InRange(archive, m.kind, ReadyWhen::Kind::kCommand);
  archive(m.port, AtMost(m.text, protocol_bounds::kText),
          AtMost(m.argv, protocol_bounds::kList, protocol_bounds::kText), m.every_ms);
}

template <class A>
void Fields(A& archive, StartProcess& m) {
  archive(m.process, m.attempt, AtMost(m.argv, protocol_bounds::kList, protocol_bounds::kText),
          AtMost(m.search_dirs, protocol_bounds::kList, protocol_bounds::kText), AtMost(m.cwd, protocol_bounds::kText),
          m.environment, AtMost(m.env, protocol_bounds::kList, protocol_bounds::kText),
          AtMost(m.log_path, protocol_bounds::kText), m.log_limit,
          AtMost(m.release_ports, protocol_bounds::kPorts, protocol_bounds::kName),
          AtMost(m.own_ports, protocol_bounds::kPorts, protocol_bounds::kName),
          AtMost(m.passed, protocol_bounds::kList), AtMost(m.cores, protocol_bounds::kCores), m.ready, m.pty,
          AtMost(m.remove, protocol_bounds::kList, protocol_bounds::kText),
          AtMost(m.devices, protocol_bounds::kHostDevices, protocol_bounds::kDeviceName));
}

template <class A>
void Fields(A& archive, ProcessAttempt& m) {
  archive(m.process, m.attempt);
}

template <class A>
void Fields(A& archive, StopProcesses& m) {
  archive(AtMost(m.processes, protocol_bounds::kList), m.signal, m.grace_ms);
}

template <class A>
void Fields(A& archive, SignalProcess& m) {
  archive(m.who, m.signal);
}

template <class A>
void Fields(A& archive, KillAgent& m) {
  archive(m.unused);
}

template <class A>
void Fields(A& archive, FillDisk& m) {
  archive(AtMost(m.directory, protocol_bounds::kPath), m.lasts_ms);
}

template <class A>
void Fields(A& archive, DiskFilled& m) {
  archive(m.bytes, Phrase{m.error, protocol_bounds::kPhrase});
}

template <class A>
void Fields(A& archive, RequestOutput& m) {
  archive(m.unused);
}

template <class A>
void Fields(A& archive, Activate& m) {
  archive(AtMost(m.steps, protocol_bounds::kList),
          AtMost(m.environment, protocol_bounds::kList, protocol_bounds::kText), AtMost(m.cwd, protocol_bounds::kText),
          AtMost(m.log_path, protocol_bounds::kText), m.within_ms, m.of_host);
}

template <class A>
void Fields(A& archive, ProcessUsage& m) {
  archive(m.process, m.attempt, m.running_ms, m.cpu_ms, m.memory_kib, m.device_kib);
}

template <class A>
void Fields(A& archive, UsageSampled& m) {
  archive(AtMost(m.processes, protocol_bounds::kHostProcesses));
}

template <class A>
void Fields(A& archive, DumpTarget& m) {
  archive(m.process, m.attempt, AtMost(m.path, protocol_bounds::kText));
}

template <class A>
void Fields(A& archive, TakeDump& m) {
  archive(m.dump, m.within_ms, AtMost(m.processes, protocol_bounds::kList));
}

namespace {

using namespace protocol_bounds;

constexpr std::size_t kMaxFields = 64;  // upper bound of the bytes for numbers and text lengths of one message

// Maximum size of a whole message in bytes, by kind. Less than the sum of the bounds of its parts.
constexpr std::size_t kMaxUnknown = 64U << 10;
template <class Message>
constexpr std::size_t kMaxBytes = kMaxUnknown;
template <>
constexpr std::size_t kMaxBytes<PortsHeld> = 2U << 20;
template <>
constexpr std::size_t kMaxBytes<OutputSeen> = 1U << 20;
template <>
constexpr std::size_t kMaxBytes<ProcessDumped> = 256U << 10;
template <>
constexpr std::size_t kMaxBytes<HostDumped> = 256U << 10;
template <>
constexpr std::size_t kMaxBytes<PtyBytes> = kPtyWindow + kMaxFields;
template <>
constexpr std::size_t kMaxBytes<ResourcesAllocated> = 1U << 20;
template <>
constexpr std::size_t kMaxBytes<HostActivated> = kEnvironment + (128U << 10);
template <>
constexpr std::size_t kMaxBytes<FileBytes> = kPath + kMaxFilePart + kMaxFields;
template <>
constexpr std::size_t kMaxBytes<Inspected> = 2U << 20;
template <>
constexpr std::size_t kMaxBytes<PathsProbed> = 1U << 20;
template <>
constexpr std::size_t kMaxBytes<CodeMissing> = 1U << 20;
template <>
constexpr std::size_t kMaxBytes<FromAgent> = kMaxPassedOn + kMaxFields;
template <>
constexpr std::size_t kMaxBytes<UsageSampled> = 2U << 20;

template <std::size_t... kKinds>
constexpr auto MostBytesByKind(std::index_sequence<kKinds...>) {
  return std::array{kMaxBytes<std::variant_alternative_t<kKinds, AgentMessage>>...};
}
constexpr auto kMaxBytesByKind = MostBytesByKind(std::make_index_sequence<std::variant_size_v<AgentMessage>>());
static_assert(kMaxBytesByKind.size() < 0x80, "the kind of a message is its first byte");

std::string Framed(const std::string& payload) {
  std::string frame;
  frame.reserve(kFrameLengthBytes + payload.size());
  for (unsigned shift = 0; shift < 32; shift += 8) frame.push_back(static_cast<char>(payload.size() >> shift));
  return frame += payload;
}

// The archive of a message begins with the number of its type, in one byte because there are fewer than 128 types.
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
  return kind < kMaxBytesByKind.size() ? kMaxBytesByKind[kind] : kMaxUnknown;
}

bool IsHeadHeartbeat(std::string_view command_payload) {
  return HasTypeOf(command_payload, AgentCommand(HeadHeartbeat{}));
}
bool IsAgentHeartbeat(std::string_view message_payload) {
  return HasTypeOf(message_payload, AgentMessage(AgentHeartbeat{}));
}

namespace {

std::size_t LengthAt(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = kFrameLengthBytes; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(bytes[i]);
  return length;
}

constexpr std::string_view kVersionLine = "muster ";

// The line of AgentGreeting() with the version of muster, if one is at the end of the bytes: they are untrusted.
std::string MusterVersionAtEndOf(std::string_view bytes) {
  constexpr std::size_t kMaxVersion = 32;
  if (!bytes.ends_with('\n')) return {};
  bytes.remove_suffix(1);
  const std::size_t begin = bytes.rfind(kVersionLine);
  if (begin == std::string_view::npos || (begin > 0 && bytes[begin - 1] != '\n')) return {};
  const std::string_view version = bytes.substr(begin + kVersionLine.size());
  const bool is_version = !version.empty() && version.size() <= kMaxVersion &&
                          version.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz.-+~") == version.npos;
  return is_version ? std::string(version) : std::string();
}

// Why the agent is refused whose greeting has another number ("muster-agent/10\n"), if the bytes contain one.
std::optional<std::string> OtherVersion(std::string_view bytes, std::string_view magic) {
  const std::string_view name = magic.substr(0, magic.find('/') + 1);
  for (std::size_t at = bytes.find(name); at != std::string_view::npos; at = bytes.find(name, at + 1)) {
    const std::string_view rest = bytes.substr(at + name.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits > 0 && digits < 10 && digits < rest.size() && rest[digits] == '\n')
      return OtherProtocolText(std::string(rest.substr(0, digits)), MusterVersionAtEndOf(bytes.substr(0, at)));
  }
  return std::nullopt;
}

}  // namespace

std::string AgentGreeting() { return std::string(kVersionLine) + MUSTER_VERSION "\n" + std::string(kMagic); }

std::string OtherProtocolText(const std::string& protocol, const std::string& muster) {
  return "it speaks protocol " + protocol + (muster.empty() ? "" : " (muster " + muster + ")") + ", this muster " +
         std::to_string(kProtocolVersion) + " (muster " MUSTER_VERSION "): install the same muster on both hosts";
}

FrameReader::FrameReader(std::string_view magic, MostBytes most) : magic_(magic), most_(most) {}

FrameReader FrameReader::OfMessages(std::string_view magic) { return FrameReader(magic, MostMessageBytes); }

void FrameReader::Feed(std::string_view bytes) {
  if (!error_.empty()) return;
  buffer_.erase(0, consumed_);
  consumed_ = 0;
  buffer_ += bytes;
}

std::optional<std::string> FrameReader::Next() {
  if (!error_.empty()) return std::nullopt;
  if (!magic_.empty()) {
    const std::size_t at = buffer_.find(magic_);
    if (const auto other = at == std::string::npos ? OtherVersion(buffer_, magic_) : std::nullopt) {
      error_ = *other;
      return std::nullopt;
    }
    // The magic may begin within the allowed noise and end after it.
    if (at == std::string::npos ? buffer_.size() >= kMaxNoise + magic_.size() : at > kMaxNoise) {
      error_ = "no greeting of an agent in the first " + std::to_string(kMaxNoise) + " bytes";
      return std::nullopt;
    }
    if (at == std::string::npos) return std::nullopt;
    consumed_ = at + magic_.size();
    magic_.clear();
  }
  const std::string_view rest = std::string_view(buffer_).substr(consumed_);
  if (rest.size() < kFrameLengthBytes) return std::nullopt;
  const std::size_t length = LengthAt(rest);
  if (length > kMaxFrame) {
    error_ = "a frame of " + std::to_string(length) + " bytes; at most " + std::to_string(kMaxFrame) + " are allowed";
    return std::nullopt;
  }
  if (most_ != nullptr && length > 0 && rest.size() > kFrameLengthBytes) {
    const auto kind = static_cast<unsigned char>(rest[kFrameLengthBytes]);
    if (const std::size_t most = most_(kind); length > most) {
      error_ = "a message of kind " + std::to_string(kind) + " and " + std::to_string(length) + " bytes; at most " +
               std::to_string(most) + " are allowed";
      return std::nullopt;
    }
  }
  if (rest.size() < kFrameLengthBytes + length) return std::nullopt;
  consumed_ += kFrameLengthBytes + length;
  return std::string(rest.substr(kFrameLengthBytes, length));
}

}  // namespace muster
