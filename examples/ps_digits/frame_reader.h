// Splits a stream of bytes into messages. Buffers at most one unfinished message of bounded length. Independent of
// sockets.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ps_digits/message.h"

namespace ps_digits {

class FrameReader {
 public:
  explicit FrameReader(std::size_t max_message) : max_message_(max_message) {}

  void set_max_message(std::size_t bytes) { max_message_ = bytes; }
  void Append(std::span<const std::uint8_t> bytes);

  // The next complete message, if there is one.
  std::optional<Message> Next();
  // The error in the stream, after which there are no more messages.
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  std::size_t max_message_;
  Bytes bytes_;
  std::size_t read_ = 0;  // bytes_ before this have been consumed
  std::optional<std::string> fault_;
};

}  // namespace ps_digits
