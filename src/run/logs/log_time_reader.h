// When a log was written: its index of times (wire/files/time_index.h), read. The index may be missing, cut or wrong;
// then times are, never more. Holds no descriptor and at most one block of entries.
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
  // For the log `name` of the folder (a descriptor, which must live as long). Nothing if no times of it are known.
  static std::optional<LogTimeReader> Open(int logs_folder, const std::string& log_name);

  // When the byte at `offset` was there: at most so late, and not much earlier (agent/logs/log_times.h). What was
  // written after the last entry has the time of the last entry.
  std::uint64_t TimeOf(std::uint64_t offset);
  // Bytes before this offset were written before `wall_ns`.
  std::uint64_t OffsetAt(std::uint64_t wall_ns);
  // The last time that is known.
  std::uint64_t End();

 private:
  LogTimeReader(int folder, std::string name, std::size_t entries_begin, std::uint64_t entries);
  // i < entries_
  const LogTime& At(std::uint64_t i);
  // The first entry for which `holds`, which must hold for all after it; entries_ if there is none.
  template <class Holds>
  std::uint64_t First(const Holds& holds);

  int folder_;
  std::string name_;
  std::size_t entries_begin_;
  std::uint64_t entries_;
  std::uint64_t block_begin_ = 0;
  std::vector<LogTime> block_;
  std::uint64_t found_ = 0;  // where TimeOf() was last: it is mostly asked for the next bytes
};

// Where the line that holds the byte at `offset` begins, if that is at most 64 KiB before; else `offset`. At least
// where the log begins.
std::uint64_t LineBegin(LogBytes& log, std::uint64_t offset);
// Where the last `lines` lines of the log begin; reads from the end, block by block. 64 KiB without a newline count as
// a line, and nothing before a hole does: how much is read depends on `lines` alone.
std::uint64_t TailBegin(LogBytes& log, std::uint64_t lines);

}  // namespace muster
