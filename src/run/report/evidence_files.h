// Finds what processes, their tools and frameworks left in the run directory about a failure besides logs and error
// files: logs of sanitizers, core dumps, dumps of faulthandler, tracebacks, and dumps of collective libraries.
//
// Names and contents are untrusted; links are not followed, and sizes and numbers are bounded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"

namespace muster {

struct EvidenceFile {
  std::string path;                  // below the run directory
  std::string what;                  // "AddressSanitizer: heap-use-after-free …", "a core dump of 8 KiB"
  std::optional<ProcessId> process;  // whose it is, if its name or content says so
  std::uint64_t at_ns = 0;           // when it was last written, by the wall clock of the file's host

  bool operator==(const EvidenceFile&) const = default;
};

// In the order of their paths. `run_dir` is a descriptor; `pids`: the processes with that pid, on whatever host.
std::vector<EvidenceFile> FindEvidenceFiles(int run_dir, const Plan& plan,
                                            const std::multimap<std::int32_t, ProcessId>& pids);

}  // namespace muster
