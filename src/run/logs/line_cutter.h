// Cuts what a log grows by into lines. Memory is bounded, whatever is written.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

namespace muster {

// Cuts bytes into lines for people: ends are "\n", "\r\n" and "\r" (progress bars); what is longer than
// kMaxPiece comes in pieces, not cut inside a UTF-8 character.
class LineCutter {
 public:
  static constexpr std::size_t kMaxPiece = 4096;
  // `continues`: the piece goes on where the one before ended.
  using Emit = std::function<void(std::string_view piece, bool continues)>;

  void Feed(std::string_view bytes, const Emit& emit);
  // The unfinished line at the end, if there is one.
  void Flush(const Emit& emit);

 private:
  std::string line_;
  bool continues_ = false;
  bool after_return_ = false;
};

}  // namespace muster
