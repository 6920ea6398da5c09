// A log as a pager shows it: some lines from an offset on, moved up and down, or its end, which follows what is
// written.
//
// Knows one file. However large it is, and however long its lines are, a few hundred KiB of it are read at a time; a
// line is shown in pieces of LineCutter::kMaxPiece bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "top/screen.h"
#include "wire/files/log_bytes.h"

namespace muster {

class LogPager {
 public:
  // At its end. A file that is not there, or is a link, is shown as empty.
  explicit LogPager(const std::string& path);

  // Moves by so many lines, or by kWholeWay; `rows` is how many are shown. Whoever comes to the end follows it.
  void Move(std::int64_t lines, std::size_t rows);
  LogPage Page(std::size_t rows);

 private:
  LogExtent Extent() const;
  // Where the `lines` pieces before `offset` begin.
  std::uint64_t Back(std::uint64_t offset, std::size_t lines) const;
  // The pieces from `offset` on, at most `lines`; where what follows them begins.
  std::uint64_t Forward(std::uint64_t offset, std::size_t lines, std::vector<std::string>* into) const;
  // From `offset` on, or from the first byte that is kept: `offset` is then set to that.
  std::string Read(std::uint64_t& offset, std::size_t most) const;

  mutable std::optional<LogBytes> log_;  // mutable: reading it may mean opening the file that took its place
  std::uint64_t offset_ = 0;             // of the first line shown, unless the end is followed
  bool follows_ = true;
};

}  // namespace muster
