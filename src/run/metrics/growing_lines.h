// Cuts the bytes of a growing file into lines. Handles bytes and line ends only.
//
// The bytes are a program's and not trusted: at most kLongestLine bytes of a line are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace muster {

class GrowingLines {
 public:
  static constexpr std::size_t kLongestLine = 64U << 10;
  static constexpr std::size_t kMostAtOnce = 1U << 20;  // maximum bytes that one call reads from a file
  // `whole`: the line was complete and not truncated.
  using Take = std::function<void(std::string_view line, bool whole)>;

  // With `returns` a carriage return ends a line, too, as in progress bars. Empty lines are skipped.
  explicit GrowingLines(bool returns) : ends_(returns ? "\r\n" : "\n") {}

  void Feed(std::string_view bytes, const Take& take);
  // Passes on the unfinished line at the end, if there is one.
  void Flush(const Take& take);
  // The next bytes do not follow the previous ones: the rest of the current line is dropped.
  void Skip();
  // For a file that was read up to `offset` and ends at `end`: returns the offset after which at most kMostAtOnce bytes
  // are left, and skips the current line; returns `offset` itself if no more are left.
  std::uint64_t SkipToLast(std::uint64_t offset, std::uint64_t end);

 private:
  const char* ends_;
  std::string line_;
  bool cut_ = false;
  bool skips_ = false;
};

}  // namespace muster
