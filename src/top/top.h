// muster top on a terminal: full screen, a pager of logs, and a loop that asks the head once a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "muster/result.h"
#include "top/screen.h"
#include "top/top_state.h"
#include "top/view.h"
#include "wire/files/log_bytes.h"

namespace muster {

// The part of a log that a pager shows: some lines from an offset on, moved up and down, or its end, which follows new
// output.
//
// Reads one file. However large it is, and however long its lines are, it reads a few hundred KiB at a time; a line is
// shown in pieces of LineCutter::kMaxPiece bytes.
class LogPager {
 public:
  // Begins at the end. A missing file, or a link, is shown as empty.
  explicit LogPager(const std::string& path);

  // Moves by so many lines, or by kWholeWay; `rows` is the number of lines shown. At the end it follows new output.
  void Move(std::int64_t lines, std::size_t rows);
  LogPage Page(std::size_t rows);

 private:
  LogExtent Extent() const;
  // The offset of the `lines` pieces before `offset`.
  std::uint64_t Back(std::uint64_t offset, std::size_t lines) const;
  // The pieces from `offset` on, at most `lines`; returns the offset after them.
  std::uint64_t Forward(std::uint64_t offset, std::size_t lines, std::vector<std::string>* into) const;
  // From `offset` on; `offset` is moved to the first byte that still exists, if necessary.
  std::string Read(std::uint64_t& offset, std::size_t most) const;

  mutable std::optional<LogBytes> log_;  // mutable: reading may open the file that replaced it
  std::uint64_t offset_ = 0;             // of the first line shown, unless the end is followed
  bool follows_ = true;
};

// `muster top` on a terminal: a loop that asks the head once a second, draws changes, and handles
// keys.
// Schedules requests; top/screen.h draws and top/view.h handles keys. The only effect on the head is one request a
// second.

// For a sweep, which has no head to ask: called once a second, and at its end.
using SweepSnapshots = std::function<Result<TopState>()>;

// Runs until the user quits: 0, or 128+n if signal n ended it. Begins with `first`, the state of the run in that
// directory, or of the sweep, if `sweep` is not empty; stays open when it ends, and shows the outcome. Fails, without
// output, with kind "terminal".
Result<int> ShowTop(const std::string& run_dir, TopState first, TopView view, SweepSnapshots sweep = {});

}  // namespace muster
