// See message.h.
#include "ps_digits/message.h"

#include <algorithm>
#include <bit>
#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

namespace ps_digits {
namespace {

// Each message lists its fields once, in `Fields`; Writer and Reader visit them.

class Writer {
 public:
  explicit Writer(Bytes& bytes) : bytes_(bytes) {}

  template <std::unsigned_integral T>
  void operator()(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  }
  void operator()(double value) { (*this)(std::bit_cast<std::uint64_t>(value)); }
  void operator()(const std::string& text) {
    (*this)(static_cast<std::uint32_t>(text.size()));
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void operator()(const Endpoint& endpoint) {
    const auto address = endpoint.address.bytes();
    (*this)(static_cast<std::uint8_t>(address.size()));
    bytes_.insert(bytes_.end(), address.begin(), address.end());
    (*this)(endpoint.port);
  }
  template <class T>
  void operator()(const std::vector<T>& items) {
    (*this)(static_cast<std::uint32_t>(items.size()));
    bytes_.reserve(bytes_.size() + items.size() * sizeof(T));
    for (const T& item : items) (*this)(item);
  }
  void operator()(const ServerPlace& place) {
    (*this)(place.node_id);
    (*this)(place.endpoint);
  }

 private:
  Bytes& bytes_;
};

// After the first invalid field, everything reads as zero and ok() is false.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}

  bool used_up() const { return ok_ && rest_.empty(); }

  template <std::unsigned_integral T>
  void operator()(T& value) {
    value = 0;
    const auto bytes = Take(sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) value = static_cast<T>(value | (T{bytes[i]} << (8 * i)));
  }
  void operator()(double& value) {
    std::uint64_t bits = 0;
    (*this)(bits);
    value = std::bit_cast<double>(bits);
  }
  void operator()(std::string& text) {
    const auto bytes = Take(Count(1));
    text.assign(bytes.begin(), bytes.end());
  }
  void operator()(Endpoint& endpoint) {
    std::uint8_t length = 0;
    (*this)(length);
    const auto address = Address::FromBytes(Take(length));
    if (!address) ok_ = false;
    endpoint.address = address.value_or(Address());
    (*this)(endpoint.port);
  }
  void operator()(std::vector<double>& values) {
    values.resize(Count(sizeof(double)));
    for (double& value : values) (*this)(value);
  }
  void operator()(std::vector<ServerPlace>& places) {
    // The smallest entry: an empty id, an IPv4 address, a port. Allocates only as much as the received bytes can hold.
    const std::size_t count = Count(4 + 1 + 4 + 2);
    for (std::size_t i = 0; i < count && ok_; ++i) {
      places.emplace_back();
      (*this)(places.back().node_id);
      (*this)(places.back().endpoint);
    }
  }

 private:
  std::span<const std::uint8_t> Take(std::size_t count) {
    if (count > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  // The number of elements of at least that many bytes each: bounded by the received bytes.
  std::size_t Count(std::size_t bytes_each) {
    std::uint32_t count = 0;
    (*this)(count);
    if (count > rest_.size() / bytes_each) ok_ = false;
    return ok_ ? count : 0;
  }

  std::span<const std::uint8_t> rest_;
  bool ok_ = true;
};

// `M` is the message, const when writing.
template <class M, class Visit>
void Fields(M& m, Visit& visit) {
  using T = std::remove_const_t<M>;
  if constexpr (std::is_same_v<T, Register>) {
    visit(m.role), visit(m.node_id), visit(m.port), visit(m.worker_num), visit(m.server_num);
  } else if constexpr (std::is_same_v<T, Topology>) {
    visit(m.job), visit(m.rank), visit(m.servers);
  } else if constexpr (std::is_same_v<T, Refused> || std::is_same_v<T, Failed>) {
    visit(m.reason);
  } else if constexpr (std::is_same_v<T, Hello>) {
    visit(m.job), visit(m.rank), visit(m.node_id);
    visit(m.settings.learning_rate), visit(m.settings.epochs), visit(m.settings.batch_size);
    visit(m.settings.data_fingerprint), visit(m.settings.decay), visit(m.settings.l2), visit(m.settings.smoothing);
    visit(m.settings.first_epoch);
  } else if constexpr (std::is_same_v<T, Pull>) {
    visit(m.step);
  } else if constexpr (std::is_same_v<T, Weights>) {
    visit(m.step), visit(m.loss), visit(m.values);
  } else if constexpr (std::is_same_v<T, Push>) {
    visit(m.step), visit(m.image_count), visit(m.loss), visit(m.gradient);
  } else {
    static_assert(std::is_empty_v<T>, "a message with fields must list them here");
  }
}

template <std::size_t kKind = 0>
Result<Message> DecodeKind(std::size_t kind, std::span<const std::uint8_t> fields) {
  if constexpr (kKind == std::variant_size_v<Message>) {
    return Failure{"a message of unknown kind " + std::to_string(kind)};
  } else {
    if (kind != kKind) return DecodeKind<kKind + 1>(kind, fields);
    std::variant_alternative_t<kKind, Message> message;
    Reader reader(fields);
    Fields(message, reader);
    if (!reader.used_up()) return Failure{"a malformed message of kind " + std::to_string(kind)};
    return Message(std::move(message));
  }
}

}  // namespace

Bytes EncodeFrame(const Message& message) {
  Bytes bytes(4);  // the length, known at the end
  Writer writer(bytes);
  writer(static_cast<std::uint8_t>(message.index()));
  std::visit([&](const auto& m) { Fields(m, writer); }, message);
  const std::size_t length = bytes.size() - 4;
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(length >> (8 * i));
  return bytes;
}

Result<Message> DecodeMessage(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return Failure{"an empty message"};
  return DecodeKind(bytes[0], bytes.subspan(1));
}

std::string Printable(std::string text) {
  if (text.size() > kMaxReasonLength) text.resize(kMaxReasonLength);
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f; }, '?');
  return text;
}

}  // namespace ps_digits
