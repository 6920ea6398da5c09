#include "wire/protocol/frame_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "wire/protocol/connection_messages.h"
#include "wire/protocol/protocol.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {
namespace {

std::size_t LengthAt(std::string_view bytes) {
  std::size_t length = 0;
  for (std::size_t i = kFrameLengthBytes; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(bytes[i]);
  return length;
}

// The version in the greeting of an agent of another version ("muster-agent/10\n"), if the bytes contain one.
std::optional<std::string> OtherVersion(std::string_view bytes, std::string_view magic) {
  const std::string_view name = magic.substr(0, magic.find('/') + 1);
  for (std::size_t at = bytes.find(name); at != std::string_view::npos; at = bytes.find(name, at + 1)) {
    const std::string_view rest = bytes.substr(at + name.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits > 0 && digits < 10 && digits < rest.size() && rest[digits] == '\n')
      return std::string(rest.substr(0, digits));
  }
  return std::nullopt;
}

}  // namespace

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
      error_ = "it speaks protocol " + *other + ", this muster " + std::to_string(kProtocolVersion);
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
