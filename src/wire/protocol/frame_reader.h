// Splits a byte stream into frames: skips noise before the greeting, checks lengths, and reports protocol errors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

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
