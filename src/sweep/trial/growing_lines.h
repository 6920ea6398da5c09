// The lines of a file that grows while it is read. Knows bytes, files and line ends, not what lines say.
//
// The file is a program's and not trusted: links are not followed, what is no regular file is not read, and of a line
// no more than kLongestLine bytes are kept.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/unique_fd.h"
#include "wire/files/log_bytes.h"

namespace muster {

// Cuts bytes into lines as they come.
class GrowingLines {
 public:
  static constexpr std::size_t kLongestLine = 64U << 10;
  // `whole`: the line was no longer than that, and its end was seen.
  using Take = std::function<void(std::string_view line, bool whole)>;

  // With `returns` a carriage return ends a line, too, as progress bars write them. Lines without a byte are left out.
  explicit GrowingLines(bool returns) : ends_(returns ? "\r\n" : "\n") {}

  void Feed(std::string_view bytes, const Take& take);
  // The unfinished line at the end, if there is one.
  void Flush(const Take& take);
  // What comes next does not follow what came before: the rest of a line is left out.
  void Skip();

 private:
  const char* ends_;
  std::string line_;
  bool cut_ = false;
  bool skips_ = false;
};

// A file to which lines are appended. One that has become shorter is read from its beginning.
class AppendedFile {
 public:
  explicit AppendedFile(std::string path) : path_(std::move(path)) {}

  // Takes lines that have come since; at most kMostAtOnce bytes are read. Whether there may be more.
  bool Read(const GrowingLines::Take& take);
  void Flush(const GrowingLines::Take& take) { lines_.Flush(take); }
  // Of what there is now, and has not been read, the last kMostAtOnce bytes alone will be.
  void LeaveOut();

  static constexpr std::size_t kMostAtOnce = 1U << 20;

 private:
  std::string path_;
  UniqueFd file_;
  std::uint64_t offset_ = 0;
  GrowingLines lines_{false};
};

// A log, which may have lost its beginning; the same otherwise.
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
