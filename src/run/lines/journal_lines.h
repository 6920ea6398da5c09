// Reads the lines of a journal, of a run or of a sweep, in pieces. Memory is bounded whatever the size of the file, and
// file holes in it are not read. Independent of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/unique_fd.h"
#include "wire/files/run_layout.h"

namespace muster {

// In bytes: enough for the binding of a million processes.
inline constexpr std::size_t kLongestJournalLine = 64U << 20;

// Opens the journal at `path`, relative to the folder (a descriptor, or AT_FDCWD). Invalid, with errno, if it cannot be
// opened or is not a regular file; links are refused.
UniqueFd OpenJournal(int folder, const std::string& path = kJournalEntry.name);

// How far a journal was read, and where to continue.
struct JournalPosition {
  std::uint64_t bytes = 0;
  std::uint64_t seq = 0;  // of the last record before that position

  bool operator==(const JournalPosition&) const = default;
};

class JournalLines {
 public:
  // `file` must outlive the object. Lines begin at offset `from`.
  JournalLines(int file, std::uint64_t from);

  // The next complete line without its newline, valid until the next call. Empty at the end of the file, or where
  // reading stopped: at a line that is cut, longer than 64 MiB, or contains a zero byte, which JSON text never does.
  std::optional<std::string_view> Next();

  // Why reading stopped; empty at the end of the file.
  const std::string& stopped() const { return stopped_; }

 private:
  bool ReadMore();

  int file_;
  std::uint64_t size_ = 0;    // of the file when it was opened
  std::uint64_t offset_;      // offset in the file of the buffer's first byte
  std::string buffer_;        // the part of the file that is being split into lines
  std::size_t begin_ = 0;     // start of the next line in the buffer
  std::size_t searched_ = 0;  // no newline between begin_ and here
  std::string stopped_;
};

}  // namespace muster
