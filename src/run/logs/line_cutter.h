// Splits the bytes of a growing log into lines, in bounded memory.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

namespace muster {

// Splits bytes into lines for display: line ends are "\n", "\r\n" and "\r" (progress bars); longer lines than kMaxPiece
// are split into pieces, but not inside a UTF-8 character.
class LineCutter {
 public:
  static constexpr std::size_t kMaxPiece = 4096;
  // `continues`: the piece continues the previous one.
  using Emit = std::function<void(std::string_view piece, bool continues)>;

  void Feed(std::string_view bytes, const Emit& emit);
  // Emits the unfinished line at the end, if there is one.
  void Flush(const Emit& emit);

 private:
  std::string line_;
  bool continues_ = false;
  bool after_return_ = false;
};

}  // namespace muster
