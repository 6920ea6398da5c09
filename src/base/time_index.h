// The index of times beside a log: when the log had which length. One agent writes it, whoever shows logs reads it.
//
// Knows the bytes of the format (docs/run_directory.md), neither files nor clocks. A head line of 16 bytes is followed
// by entries of 16 bytes; both numbers of an entry never decrease from one entry to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// What was at offsets below `offset` had been written by `wall_ns`, what is beyond was written later.
struct LogTime {
  std::uint64_t wall_ns = 0;  // since 1970, UTC
  std::uint64_t offset = 0;   // length of the log

  bool operator==(const LogTime&) const = default;
};

inline constexpr std::size_t kLogTimeBytes = 16;
inline constexpr std::string_view kTimeIndexHead{"muster-times/1\n\0", kLogTimeBytes};

void AppendLogTime(std::string& bytes, const LogTime& time);
// `bytes` must hold kLogTimeBytes.
LogTime LogTimeFrom(std::string_view bytes);

// "logs/worker.2.0.idx" for "logs/worker.2.0.log"; ".idx" behind a name of another kind.
std::string TimeIndexPath(std::string_view log_path);

}  // namespace muster
