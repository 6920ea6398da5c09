#include "tensorboard/event_record.h"

#include <bit>
#include <cstddef>

#include "base/values/fingerprint.h"
#include "base/values/json_text.h"

namespace muster {
namespace {

// A number in little-endian, whatever the machine.
template <class Unsigned>
void AppendFixed(std::string& bytes, Unsigned number) {
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
}

// A message under construction: fields in the wire format of protocol buffers.
class Message {
 public:
  Message& Integer(std::uint32_t field, std::uint64_t number) {
    Key(field, 0);
    Varint(number);
    return *this;
  }
  Message& Double(std::uint32_t field, double number) {
    Key(field, 1);
    AppendFixed(bytes_, std::bit_cast<std::uint64_t>(number));
    return *this;
  }
  Message& Float(std::uint32_t field, float number) {
    Key(field, 5);
    AppendFixed(bytes_, std::bit_cast<std::uint32_t>(number));
    return *this;
  }
  Message& Bytes(std::uint32_t field, std::string_view bytes) {
    Key(field, 2);
    Varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& Inner(std::uint32_t field, const Message& message) { return Bytes(field, message.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void Key(std::uint32_t field, std::uint32_t wire_type) { Varint(std::uint64_t{field} << 3U | wire_type); }
  void Varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7U) bytes_ += static_cast<char>(number | 0x80U);
    bytes_ += static_cast<char>(number);
  }

  std::string bytes_;
};

std::uint32_t MaskedCrc(std::string_view bytes) {
  constexpr std::uint32_t kMask = 0xA282EAD8;
  return std::rotr(Crc32c(bytes), 15) + kMask;
}

std::string Record(const Message& message) {
  std::string record;
  AppendFixed(record, std::uint64_t{message.bytes().size()});
  AppendFixed(record, MaskedCrc(record));
  record += message.bytes();
  AppendFixed(record, MaskedCrc(message.bytes()));
  return record;
}

// An Event with the only value of its Summary.
std::string SummaryRecord(double wall_time, std::int64_t step, const Message& value) {
  Message event;
  event.Double(1, wall_time);
  if (step != 0) event.Integer(2, static_cast<std::uint64_t>(step));
  return Record(event.Inner(5, Message().Inner(1, value)));
}

// A value without a number, whose metadata has data of the plugin HParams. `field`: of HParamsPluginData.
std::string HParamsRecord(double wall_time, std::string_view tag, std::uint32_t field, const Message& data) {
  const Message plugin = Message().Bytes(1, "hparams").Bytes(2, Message().Inner(field, data).bytes());
  constexpr std::uint64_t kFloat = 1;  // DataType
  std::string zero;
  AppendFixed(zero, std::uint32_t{0});
  const Message shape = Message().Inner(2, Message().Integer(1, 1));
  const Message tensor = Message().Integer(1, kFloat).Inner(2, shape).Bytes(5, zero);
  return SummaryRecord(wall_time, 0, Message().Bytes(1, tag).Inner(8, tensor).Inner(9, Message().Inner(1, plugin)));
}

// google.protobuf.Value
Message ParameterValue(const Value& value) {
  if (value.IsNull()) return Message().Integer(1, 0);
  if (value.IsNumber()) return Message().Double(2, value.Number());
  if (value.AsBool() != nullptr) return Message().Integer(4, *value.AsBool() ? 1 : 0);
  return Message().Bytes(3, value.AsString() != nullptr ? *value.AsString() : JsonText(value));
}

void AddParameters(const std::string& prefix, const Value::Map& parameters, Message& session) {
  for (const auto& [name, value] : parameters) {
    if (value.AsMap() != nullptr) {
      AddParameters(prefix + name + ".", *value.AsMap(), session);
    } else {
      session.Inner(1, Message().Bytes(1, prefix + name).Inner(2, ParameterValue(value)));
    }
  }
}

}  // namespace

std::string FileVersionRecord(double wall_time) {
  return Record(Message().Double(1, wall_time).Bytes(3, "brain.Event:2"));
}

std::string ScalarRecord(double wall_time, std::int64_t step, std::string_view tag, float value) {
  return SummaryRecord(wall_time, step, Message().Bytes(1, tag).Float(2, value));
}

std::string SessionBeganRecord(double wall_time, const Value::Map& parameters) {
  Message session;
  AddParameters("", parameters, session);
  session.Double(5, wall_time);
  return HParamsRecord(wall_time, "_hparams_/session_start_info", 3, session);
}

std::string SessionEndedRecord(double wall_time, SessionStatus status) {
  const Message session = Message().Integer(1, static_cast<std::uint64_t>(status)).Double(2, wall_time);
  return HParamsRecord(wall_time, "_hparams_/session_end_info", 4, session);
}

}  // namespace muster
