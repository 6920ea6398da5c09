// Reads a log by stable offsets: they count from the first byte ever written, even if a limit has dropped the beginning
// of the file.
//
// Uses the log and the head of its time index (wire/files/time_index.h); does not interpret the log's content. The
// writer may drop bytes at any moment: each read is verified against the index and repeated if the file has changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/system/unique_fd.h"
#include "wire/files/time_index.h"

namespace muster {

// Reads at most `size` bytes of an open file from `offset` on. Skips a hole and sets `offset` to its end, so that the
// cost depends on the bytes written and not on the file's length. Returns the number of bytes; 0 at the end.
std::size_t ReadWritten(int file, std::uint64_t& offset, char* into, std::size_t size);

struct LogExtent {
  std::uint64_t begin = 0;  // offset of the first byte that has not been dropped
  std::uint64_t end = 0;
};

// Why an existing log cannot be read (EACCES, EIO), as errno; 0 if it can, or if there is none.
int LogError(int folder, const std::string& name);

class LogBytes {
 public:
  // Opens a log in `folder` (a descriptor that must outlive the object, or AT_FDCWD). Nothing if it is not a regular
  // file, or is a symbolic link.
  static std::optional<LogBytes> Open(int folder, const std::string& name);

  // The range of offsets that can be read now.
  LogExtent Look();
  // Reads at most `size` bytes from `offset` on. If `offset` is in the dropped part or in a hole, sets it to the next
  // readable byte. Returns the number of bytes; 0 at the end.
  std::size_t Read(std::uint64_t& offset, char* into, std::size_t size);
  // At most `size` bytes before `end` (or before the end of the log), without those before the last hole; sets `offset`
  // to the offset of the first.
  std::string ReadBefore(std::uint64_t end, std::size_t size, std::uint64_t& offset);

 private:
  // Maps file positions to log offsets, at one moment.
  struct State {
    std::uint64_t inode = 0;
    std::uint64_t base = 0;
    std::uint64_t kept = 0;

    bool operator==(const State&) const = default;
  };

  LogBytes(int folder, std::string name) : folder_(folder), name_(std::move(name)) {}
  bool OpenFile();
  State StateNow();
  LogHead Head();

  int folder_;
  std::string name_;
  UniqueFd file_;
  std::uint64_t inode_ = 0;
  UniqueFd index_;
  bool without_limit_ = false;  // the index states that nothing is ever dropped
};

// The length of the named log, including dropped bytes. Nothing if there is no such log. `folder` as for Open.
std::optional<std::uint64_t> LogEnd(int folder, const std::string& name);

// Write and read the log's head in the index of a log with a limit. WriteLogHead expects the open index.
bool WriteLogHead(int index, const LogHead& head);
std::optional<LogHead> ReadLogHead(int folder, const std::string& log_name);

}  // namespace muster
