// What a process itself says about its end: the JSON it may leave at $MUSTER_ERROR_FILE (docs/run_directory.md), in
// muster's form or in that of PyTorch's @record.
//
// The file is the program's and not trusted: no link is followed, sizes are limited, and what is not of the right type
// is left out. Texts in the result are UTF-8; make them safe before they are shown.
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
  std::string at;                      // UTC; empty if it does not say when
  std::vector<std::string> traceback;  // the last kTracebackLines lines, each at most 1,000 bytes
  std::map<std::string, Value> more;   // what else it says, at most 20 members
  std::string unreadable;              // why it is none; empty if it is one

  bool operator==(const ErrorNote&) const = default;
};

inline constexpr std::size_t kTracebackLines = 40;

// {"message": "…", "traceback": "…", "timestamp": seconds, …}, or
// {"message": {"message": "…", "errorCode": N, "extraInfo": {"py_callstack": "…", "timestamp": "seconds"}}}, which is
// what torch.distributed.elastic.multiprocessing.errors writes; or why it is neither.
tl::expected<ErrorNote, std::string> ParseErrorNote(std::string_view json);

// "errors/worker.2.0.json", relative to the run directory.
std::string ErrorPath(const Plan& plan, ProcessId process, std::uint32_t attempt);

// Of one attempt; nothing if it left none. `run_dir` is a descriptor.
std::optional<ErrorNote> ReadErrorNote(int run_dir, const Plan& plan, ProcessId process, std::uint32_t attempt);

}  // namespace muster
