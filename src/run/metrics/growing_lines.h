// The lines of files that grow: a file to which lines are appended, and a log whose beginning may have been dropped.
// The bytes are a program's and not trusted: memory for a line is bounded, links are not followed, and only regular
// files are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/system/unique_fd.h"
#include "wire/files/log_bytes.h"

namespace muster {

// Cuts the bytes of a growing file into lines. Handles bytes and line ends only.
//
// The bytes are a program's and not trusted: at most kMaxLine bytes of a line are kept.
class GrowingLines {
 public:
  static constexpr std::size_t kMaxLine = 64U << 10;
  static constexpr std::size_t kMaxAtOnce = 1U << 20;  // maximum bytes that one call reads from a file
  // `whole`: the line was complete and not truncated.
  using Take = std::function<void(std::string_view line, bool whole)>;

  // With `returns` a carriage return ends a line, too, as in progress bars. Empty lines are skipped.
  explicit GrowingLines(bool returns) : ends_(returns ? "\r\n" : "\n") {}

  void Feed(std::string_view bytes, const Take& take);
  // Passes on the unfinished line at the end, if there is one.
  void Flush(const Take& take);
  // The next bytes do not follow the previous ones: the rest of the current line is dropped.
  void Skip();
  // For a file that was read up to `offset` and ends at `end`: returns the offset after which at most kMaxAtOnce bytes
  // are left, and skips the current line; returns `offset` itself if no more are left.
  std::uint64_t SkipToLast(std::uint64_t offset, std::uint64_t end);

 private:
  const char* ends_;
  std::string line_;
  bool cut_ = false;
  bool skips_ = false;
};

// Reads the lines of a growing log, whose beginning may have been dropped.
class GrowingLog {
 public:
  explicit GrowingLog(std::string path) : path_(std::move(path)) {}

  // As in AppendedFile.
  bool Read(const GrowingLines::Take& take);
  void Flush(const GrowingLines::Take& take) { lines_.Flush(take); }
  void LeaveOut();

 private:
  std::string path_;
  std::optional<LogBytes> log_;
  std::uint64_t offset_ = 0;
  GrowingLines lines_{true};
};

// Reads the lines of a file to which lines are appended. If it becomes shorter it is read from its beginning.
//
// The file is a program's and not trusted: links are not followed, and only regular files are read.
class AppendedFile {
 public:
  explicit AppendedFile(std::string path) : path_(std::move(path)) {}

  // Passes on new lines; reads at most GrowingLines::kMaxAtOnce bytes. Returns whether there may be more.
  bool Read(const GrowingLines::Take& take);
  void Flush(const GrowingLines::Take& take) { lines_.Flush(take); }
  // Skips to the last GrowingLines::kMaxAtOnce bytes of the unread part.
  void LeaveOut();

 private:
  std::string path_;
  UniqueFd file_;
  std::uint64_t offset_ = 0;
  GrowingLines lines_{false};
};

}  // namespace muster
