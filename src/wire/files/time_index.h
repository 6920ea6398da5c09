// The time index beside a log: the length of the log at points in time. One agent writes it; programs that show logs
// read it.
//
// Encodes and decodes the format (docs/run_directory.md); uses neither files nor clocks. A 16-byte header is followed,
// for a log with a limit, by the state of the log's beginning (LogHead), then by entries of 16 bytes. Both numbers of
// the entries never decrease. Offsets count from the first byte ever written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

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

}  // namespace muster
