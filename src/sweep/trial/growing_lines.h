// Reads lines of a file that grows. Handles bytes, files and line ends only.
//
// The file is a program's and not trusted: links are not followed, only regular files are read, and at most
// kLongestLine bytes of a line are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/unique_fd.h"
#include "wire/files/log_bytes.h"

namespace muster {

// Cuts a stream of bytes into lines.
class GrowingLines {
 public:
  static constexpr std::size_t kLongestLine = 64U << 10;
  // `whole`: the line was complete and not truncated.
  using Take = std::function<void(std::string_view line, bool whole)>;

  // With `returns` a carriage return ends a line, too, as in progress bars. Empty lines are skipped.
  explicit GrowingLines(bool returns) : ends_(returns ? "\r\n" : "\n") {}

  void Feed(std::string_view bytes, const Take& take);
  // Passes on the unfinished line at the end, if there is one.
  void Flush(const Take& take);
  // The next bytes do not follow the previous ones: the rest of the current line is dropped.
  void Skip();

 private:
  const char* ends_;
  std::string line_;
  bool cut_ = false;
  bool skips_ = false;
};

// A file to which lines are appended. If it becomes shorter it is read from its beginning.
class AppendedFile {
 public:
  explicit AppendedFile(std::string path) : path_(std::move(path)) {}

  // Passes on new lines; reads at most kMostAtOnce bytes. Returns whether there may be more.
  bool Read(const GrowingLines::Take& take);
  void Flush(const GrowingLines::Take& take) { lines_.Flush(take); }
  // Skips to the last kMostAtOnce bytes of the unread part.
  void LeaveOut();

  static constexpr std::size_t kMostAtOnce = 1U << 20;

 private:
  std::string path_;
  UniqueFd file_;
  std::uint64_t offset_ = 0;
  GrowingLines lines_{false};
};

// The same for a log, whose beginning may have been dropped.
class GrowingLog {
 public:
  explicit GrowingLog(std::string path) : path_(std::move(path)) {}

  bool Read(const GrowingLines::Take& take);
  void Flush(const GrowingLines::Take& take) { lines_.Flush(take); }
  void LeaveOut();

 private:
  std::string path_;
  std::optional<LogBytes> log_;
  std::uint64_t offset_ = 0;
  GrowingLines lines_{true};
};

}  // namespace muster
