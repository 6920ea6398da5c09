#include "wire/protocol/protocol.h"

#include <array>
#include <utility>

#include "wire/archive/archive.h"
#include "wire/protocol/activation_fields.h"
#include "wire/protocol/code_fields.h"
#include "wire/protocol/connection_fields.h"
#include "wire/protocol/device_fields.h"
#include "wire/protocol/dump_fields.h"
#include "wire/protocol/event_fields.h"
#include "wire/protocol/file_fields.h"
#include "wire/protocol/inspection_fields.h"
#include "wire/protocol/port_fields.h"
#include "wire/protocol/protocol_bounds.h"
#include "wire/protocol/start_fields.h"
#include "wire/protocol/sub_agent_fields.h"
#include "wire/protocol/terminal_fields.h"
#include "wire/protocol/usage_fields.h"

namespace muster {
namespace {

using namespace protocol_bounds;

constexpr std::size_t kMostFields = 64;  // upper bound of the bytes for numbers and text lengths of one message

// Maximum size of a whole message in bytes, by kind. Less than the sum of the bounds of its parts.
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
constexpr std::size_t kMostBytes<ResourcesAllocated> = 1U << 20;
template <>
constexpr std::size_t kMostBytes<HostActivated> = kEnvironment + (128U << 10);
template <>
constexpr std::size_t kMostBytes<FileBytes> = kPath + kMostFilePart + kMostFields;
template <>
constexpr std::size_t kMostBytes<Inspected> = 2U << 20;
template <>
constexpr std::size_t kMostBytes<PathsProbed> = 1U << 20;
template <>
constexpr std::size_t kMostBytes<CodeMissing> = 1U << 20;
template <>
constexpr std::size_t kMostBytes<FromAgent> = kMostPassedOn + kMostFields;
template <>
constexpr std::size_t kMostBytes<UsageSampled> = 2U << 20;

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
  return kind < kMostBytesByKind.size() ? kMostBytesByKind[kind] : kMostUnknown;
}

bool IsHeadHeartbeat(std::string_view command_payload) {
  return HasTypeOf(command_payload, AgentCommand(HeadHeartbeat{}));
}
bool IsAgentHeartbeat(std::string_view message_payload) {
  return HasTypeOf(message_payload, AgentMessage(AgentHeartbeat{}));
}

}  // namespace muster
