// Reads the error file that a process may leave at $MUSTER_ERROR_FILE: JSON in muster's format (docs/run_directory.md)
// or in that of PyTorch's @record.
//
// The file is written by the program and not trusted: links are not followed, sizes are limited, and members of the
// wrong type are ignored. Texts in the result are UTF-8; callers must make them safe before showing them.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

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
