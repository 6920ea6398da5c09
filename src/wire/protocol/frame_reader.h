// Frames out of a stream of bytes: the greeting before them, their lengths, and what makes the stream unusable.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

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
