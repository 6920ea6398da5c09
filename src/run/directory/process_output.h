// What the processes of a run leave in its directory to be read by people: their logs, with the last lines, the line
// that most likely states a failure and the times of their parts, and the error files at $MUSTER_ERROR_FILE. Nothing
// of it is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"
#include "wire/files/log_bytes.h"

namespace muster {

// The path of a process's log, relative to the run directory. Computed from names only.

// "logs/worker.2.0.log".
std::string LogPath(const Plan& plan, ProcessId process, std::uint32_t attempt);

// Reads the last lines of a process's log, and finds the line that most likely states why the process failed.
//
// Independent of runs. A log is untrusted; the results are safe for a terminal.

inline constexpr std::size_t kLastLines = 20;
inline constexpr std::size_t kLastBytes = 64U << 10;

// At most `most` of the last lines in the last `window` bytes, each at most 2,000 bytes, control bytes and invalid
// UTF-8 as \xNN, known secrets as "(hidden)". If carriage returns overwrote a line, its last state. Empty if the file
// cannot be read.
std::vector<std::string> LastLines(int at, const std::string& path, std::size_t most = kLastLines,
                                   std::size_t window = kLastBytes);

// The same for the first `end` bytes of the file.
std::vector<std::string> LastLinesBefore(int at, const std::string& path, std::uint64_t end, std::size_t most,
                                         std::size_t window = kLastBytes);

// The error line: what a sanitizer found ("AddressSanitizer: heap-use-after-free a.cc:3 in main"), or, if the lines end
// with what Python prints on a failure, the last line of a traceback ("RuntimeError: shapes do not fit") or the first
// line of faulthandler ("Fatal Python error: Segmentation fault"). A prefix like "[rank3]: " is removed. Empty if there
// is none; a traceback must end among the last kLastLines.
std::string FailureHint(const std::vector<std::string>& lines);

// Reads when parts of a log were written, from its index of times (wire/files/log_bytes.h). The index may be missing,
// cut or wrong; then only the times are. Holds no descriptor and at most one block of entries.

class LogTimeReader {
 public:
  // For the log `name` of the folder (a descriptor, which must outlive the object). Empty if no times of it are known.
  static std::optional<LogTimeReader> Open(int logs_folder, const std::string& log_name);

  // An upper bound, close to the actual time, of when the byte at `offset` was written (agent/parts/process_logs.h).
  // Bytes written after the last entry have the time of the last entry.
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

// Reads the error file that a process may leave at $MUSTER_ERROR_FILE: JSON in muster's format (docs/run_directory.md)
// or in that of PyTorch's @record.
//
// The file is written by the program and not trusted: links are not followed, sizes are limited, and members of the
// wrong type are ignored. Texts in the result are UTF-8; callers must make them safe before showing them.

struct ErrorNote {
  std::string message;                 // at most 2,000 bytes
  std::string at;                      // UTC; empty if the file contains no time
  std::vector<std::string> traceback;  // the last kTracebackLines lines, each at most 1,000 bytes
  std::map<std::string, Value> more;   // other members of the file, at most 20
  std::string unreadable;              // why the file is invalid; empty if it is valid

  bool operator==(const ErrorNote&) const = default;
};

inline constexpr std::size_t kTracebackLines = 40;

// {"message": "…", "traceback": "…", "timestamp": seconds, …}, or
// {"message": {"message": "…", "errorCode": N, "extraInfo": {"py_callstack": "…", "timestamp": "seconds"}}}, which
// torch.distributed.elastic.multiprocessing.errors writes. Fails with the reason if the text is neither.
tl::expected<ErrorNote, std::string> ParseErrorNote(std::string_view json);

// "errors/worker.2.0.json", relative to the run directory.
std::string ErrorPath(const Plan& plan, ProcessId process, std::uint32_t attempt);

// The error file of one attempt; empty if there is none. `run_dir` is a descriptor.
std::optional<ErrorNote> ReadErrorNote(int run_dir, const Plan& plan, ProcessId process, std::uint32_t attempt);

}  // namespace muster
