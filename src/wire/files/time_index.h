// The index of times beside a log: when the log had which length. One agent writes it, whoever shows logs reads it.
//
// Knows the bytes of the format (docs/run_directory.md), neither files nor clocks. A head line of 16 bytes is followed,
// for a log with a limit, by what became of its first bytes; then come entries of 16 bytes. Both numbers of an entry
// never decrease from one entry to the next. Offsets count from the first byte that was ever written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// What was at offsets below `offset` had been written by `wall_ns`, what is beyond was written later.
struct LogTime {
  std::uint64_t wall_ns = 0;  // since 1970, UTC
  std::uint64_t offset = 0;   // length of the log, what was dropped included

  bool operator==(const LogTime&) const = default;
};

inline constexpr std::size_t kLogTimeBytes = 16;
inline constexpr std::string_view kTimeIndexHead{"muster-times/1\n\0", kLogTimeBytes};

void AppendLogTime(std::string& bytes, const LogTime& time);
// `bytes` must hold kLogTimeBytes.
LogTime LogTimeFrom(std::string_view bytes);

// Of a log with a limit: where the file begins that has lost its first bytes. Written before and after each drop, so
// that whoever reads knows at every moment, and after every crash, what a byte of the file is (BaseOf).
struct LogHead {
  std::uint64_t base = 0;    // offset of the file's first byte, …
  std::uint64_t kept = 0;    // … and of the first one that may be read; what is between is being dropped
  std::uint64_t moving = 0;  // 0; kCollapsing; or the inode of the file that takes the log's place
  std::uint64_t limit = 0;   // the length that the log may have

  bool operator==(const LogHead&) const = default;
};

inline constexpr std::uint64_t kCollapsing = 1;  // the inode of no log
inline constexpr std::size_t kLogHeadBytes = 32;
inline constexpr std::string_view kLimitedIndexHead{"muster-times/2\n\0", kLogTimeBytes};

std::string LogHeadBytes(const LogHead& head);
// `bytes` must hold kLogHeadBytes.
LogHead LogHeadFrom(std::string_view bytes);
// Where the entries begin.
constexpr std::size_t EntriesBegin(bool limited) { return kLogTimeBytes + (limited ? kLogHeadBytes : 0); }

// The offset of the first byte of the file with this inode. A log is collapsed in two steps: its head becomes a hole
// and then the hole is cut out, so that a file whose first byte is in a hole has not been cut yet.
std::uint64_t BaseOf(const LogHead& head, std::uint64_t inode, bool begins_with_hole);

// "logs/worker.2.0.idx" for "logs/worker.2.0.log"; ".idx" behind a name of another kind.
std::string TimeIndexPath(std::string_view log_path);

}  // namespace muster
