// Reads when parts of a log were written, from its index of times (wire/files/time_index.h). The index may be missing,
// cut or wrong; then only the times are. Holds no descriptor and at most one block of entries.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "wire/files/log_bytes.h"
#include "wire/files/time_index.h"

namespace muster {

class LogTimeReader {
 public:
  // For the log `name` of the folder (a descriptor, which must outlive the object). Empty if no times of it are known.
  static std::optional<LogTimeReader> Open(int logs_folder, const std::string& log_name);

  // An upper bound, close to the actual time, of when the byte at `offset` was written (agent/logs/log_times.h). Bytes
  // written after the last entry have the time of the last entry.
  std::uint64_t TimeOf(std::uint64_t offset);
  // Bytes before this offset were written before `wall_ns`.
  std::uint64_t OffsetAt(std::uint64_t wall_ns);
  // The last known time.
  std::uint64_t End();

 private:
  LogTimeReader(int folder, std::string name, std::size_t entries_begin, std::uint64_t entries);
  // Requires i < entries_.
  const LogTime& At(std::uint64_t i);
  // The first entry for which `holds` is true, which must be true for all later ones; entries_ if there is none.
  template <class Holds>
  std::uint64_t First(const Holds& holds);

  int folder_;
  std::string name_;
  std::size_t entries_begin_;
  std::uint64_t entries_;
  std::uint64_t block_begin_ = 0;
  std::vector<LogTime> block_;
  std::uint64_t found_ = 0;  // last position of TimeOf(), which is mostly called for the next bytes
};

// The beginning of the line that contains the byte at `offset`, if it is at most 64 KiB before; else `offset`. Not
// before the beginning of the log.
std::uint64_t LineBegin(LogBytes& log, std::uint64_t offset);
// The beginning of the last `lines` lines of the log; reads backwards from the end, block by block. 64 KiB without a
// newline count as a line, and nothing before a file hole counts: the amount read depends on `lines` alone.
std::uint64_t TailBegin(LogBytes& log, std::uint64_t lines);

}  // namespace muster
