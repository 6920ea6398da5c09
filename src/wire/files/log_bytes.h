// A log by stable offsets, which count from the first byte ever written, even if a limit has dropped the beginning of
// the file; and the time index beside it: its length at points in time, and the state of its beginning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/unique_fd.h"

namespace muster {

// The time index beside a log: the length of the log at points in time. One agent writes it; programs that show logs
// read it.
//
// Encodes and decodes the format (docs/run_directory.md); uses neither files nor clocks. A 16-byte header is followed,
// for a log with a limit, by the state of the log's beginning (LogHead), then by entries of 16 bytes. Both numbers of
// the entries never decrease. Offsets count from the first byte ever written.

// Bytes below `offset` had been written by `wall_ns`; later bytes were written later.
struct LogTime {
  std::uint64_t wall_ns = 0;  // since 1970, UTC
  std::uint64_t offset = 0;   // length of the log, including dropped bytes

  bool operator==(const LogTime&) const = default;
};

inline constexpr std::size_t kLogTimeBytes = 16;
inline constexpr std::string_view kTimeIndexHead{"muster-times/1\n\0", kLogTimeBytes};

void AppendLogTime(std::string& bytes, const LogTime& time);
// `bytes` must hold kLogTimeBytes.
LogTime LogTimeFrom(std::string_view bytes);

// For a log with a limit: where the file begins after bytes were dropped. Written before and after each drop, so that
// readers can map file positions to offsets at every moment, also after a crash (BaseOf).
struct LogHead {
  std::uint64_t base = 0;    // offset of the file's first byte
  std::uint64_t kept = 0;    // offset of the first readable byte; the bytes between are being dropped
  std::uint64_t moving = 0;  // 0; kCollapsing; or the inode of the file that replaces the log
  std::uint64_t limit = 0;   // maximum length of the log in bytes

  bool operator==(const LogHead&) const = default;
};

inline constexpr std::uint64_t kCollapsing = 1;  // not a valid inode of a log
inline constexpr std::size_t kLogHeadBytes = 32;
inline constexpr std::string_view kLimitedIndexHead{"muster-times/2\n\0", kLogTimeBytes};

std::string LogHeadBytes(const LogHead& head);
// `bytes` must hold kLogHeadBytes.
LogHead LogHeadFrom(std::string_view bytes);
// Position of the first entry in the index.
constexpr std::size_t EntriesBegin(bool limited) { return kLogTimeBytes + (limited ? kLogHeadBytes : 0); }

// The offset of the first byte of the file with this inode. A log is collapsed in two steps: its beginning is punched
// out as a hole, then the hole is removed. So a file that begins with a hole has not been collapsed yet.
std::uint64_t BaseOf(const LogHead& head, std::uint64_t inode, bool begins_with_hole);

// "logs/worker.2.0.idx" for "logs/worker.2.0.log"; for a name without ".log", ".idx" is appended.
std::string TimeIndexPath(std::string_view log_path);

// Reads a log by stable offsets: they count from the first byte ever written, even if a limit has dropped the beginning
// of the file.
//
// Uses the log and the head of its time index; does not interpret the log's content. The
// writer may drop bytes at any moment: each read is verified against the index and repeated if the file has changed.

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
