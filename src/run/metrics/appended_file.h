// Reads the lines of a file to which lines are appended. If it becomes shorter it is read from its beginning.
//
// The file is a program's and not trusted: links are not followed, and only regular files are read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/system/unique_fd.h"
#include "run/metrics/growing_lines.h"

namespace muster {

class AppendedFile {
 public:
  explicit AppendedFile(std::string path) : path_(std::move(path)) {}

  // Passes on new lines; reads at most GrowingLines::kMostAtOnce bytes. Returns whether there may be more.
  bool Read(const GrowingLines::Take& take);
  void Flush(const GrowingLines::Take& take) { lines_.Flush(take); }
  // Skips to the last GrowingLines::kMostAtOnce bytes of the unread part.
  void LeaveOut();

 private:
  std::string path_;
  UniqueFd file_;
  std::uint64_t offset_ = 0;
  GrowingLines lines_{false};
};

}  // namespace muster
