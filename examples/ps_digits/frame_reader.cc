// See frame_reader.h.
#include "ps_digits/frame_reader.h"

#include <utility>

namespace ps_digits {

void FrameReader::Append(std::span<const std::uint8_t> bytes) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(read_));
  read_ = 0;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<Message> FrameReader::Next() {
  const auto rest = std::span<const std::uint8_t>(bytes_).subspan(read_);
  if (fault_ || rest.size() < 4) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{rest[i]} << (8 * i);
  if (length > max_message_) {
    fault_ = "a message of " + std::to_string(length) + " bytes, at most " + std::to_string(max_message_) + " allowed";
    return std::nullopt;
  }
  if (rest.size() - 4 < length) return std::nullopt;
  auto message = DecodeMessage(rest.subspan(4, length));
  if (!message) {
    fault_ = message.error().message;
    return std::nullopt;
  }
  read_ += 4 + length;
  return std::move(*message);
}

}  // namespace ps_digits
