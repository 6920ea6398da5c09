// The file of a journal, of a run or of a sweep: complete lines with checksums, so that cut, torn or corrupted ones
// are detected, appended with disk space reserved for more of them, and read in pieces with bounded memory.
// Independent of records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "wire/files/run_layout.h"

namespace muster {

// Reserves disk space beyond the end of a file, so that the file can still grow after others have filled the disk. File
// systems without fallocate(2), such as NFS before 4.2, reserve nothing.
class ReservedSpace {
 public:
  // Reserves `ahead` bytes beyond the end of the file; 0 reserves nothing.
  explicit ReservedSpace(std::uint64_t ahead = 0) : ahead_(ahead) {}

  // Renews the reserve of the open file, which has `written` bytes, once half of it is used. The length of the file
  // does not change (fallocate(2), FALLOC_FL_KEEP_SIZE). Returns 0, or ENOSPC or EDQUOT if the disk has too little
  // space; the earlier reserve then stays.
  int Keep(int file, std::uint64_t written);

  // Frees the space reserved beyond the end of the file.
  void Release(int file);

 private:
  std::uint64_t ahead_;
  std::uint64_t kept_ = 0;  // space is reserved up to this offset
};

// Adds checksums to lines of journals and verifies them, so that cut, torn or corrupted lines are detected. Independent
// of entries.

// Completes the line in `line`, which starts at `begin` and is a JSON object without its closing brace: appends its
// CRC-32C (RFC 3720, B.4) as the last member, the brace and a newline. Text before `begin` is unchanged.
void SealLine(std::string& line, std::size_t begin = 0);

// The body of a line (given without its newline), or why the line is invalid.
tl::expected<std::string_view, std::string> OpenLine(std::string_view line);

// Reads the lines of a journal, of a run or of a sweep, in pieces. Memory is bounded whatever the size of the file, and
// file holes in it are not read. Independent of records.

// In bytes: enough for the binding of a million processes.
inline constexpr std::size_t kMaxJournalLine = 64U << 20;

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

// Appends complete lines to the file of a journal, and keeps disk space reserved for more of them.
class JournalFile {
 public:
  // An open file whose length is `bytes`. Reserves `room` bytes of the disk beyond its end.
  JournalFile(UniqueFd file, std::uint64_t bytes, std::uint64_t room);
  JournalFile(JournalFile&&) = default;
  JournalFile& operator=(JournalFile&&) = default;
  ~JournalFile();

  // Reserves the space; call it before the first line. Returns 0, or the errno if the disk has too little space.
  int ReserveSpace();
  // Appends the lines and removes those from `lines` that were written; a line that the disk took only partly is cut
  // off again. Returns 0, or the errno.
  int Write(std::string& lines);
  // Syncs everything to disk. Returns 0, or the errno.
  int Sync();
  // Frees the reserved space, as the destructor does; call it after the last line.
  void Release();

  std::uint64_t bytes() const { return bytes_; }

 private:
  UniqueFd file_;
  ReservedSpace room_;
  std::uint64_t bytes_;
};

}  // namespace muster
