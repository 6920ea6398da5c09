// What the launched programs did with their settings: how contexts were applied, and the ranks that frameworks
// assigned themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/plan.h"
#include "run/report/report.h"

namespace muster {

// Finds the ranks that frameworks assign themselves in the logs of their processes. Pure.

// How much of the beginning of a log to read: processes register first of all.
inline constexpr std::size_t kRegistrationBytes = std::size_t{64} << 10;

// The rank of a process that has the framework's role `plays` ("worker", "server"), from the beginning of its log;
// empty if the log does not contain it. ps-lite and BytePS log "W[9] is connected to others" with PS_VERBOSE=1 or more
// (van.cc, Van::ProcessAddNodeCommand); the id is 8 + 2 r for server r and 9 + 2 r for worker r (postoffice.h).
std::optional<std::uint32_t> AssignedRank(std::string_view framework, std::string_view plays, std::string_view log);

// Reports how the settled contexts were applied, from the records that the launched programs left beside them
// (context/<role>.<index>.applied.json, docs/python.md).
//
// The records are written by the programs and not trusted: links are not followed, sizes are limited, and a record with
// a value of the wrong type is invalid. Independent of the journal: the caller states how each process ended.

// How the last attempt of a process ended, as far as it matters for its record.
struct AttemptEnd {
  bool started = false;
  bool ended = false;
  // It was stopped before its work was done: missing values are not an error.
  bool cut_short = false;
  // It was ordered to stop, for whatever reason: unknown last values are not reported.
  bool ordered_to_stop = false;
  std::uint32_t attempt = 0;
};

// Reports on every process with a context that has something to report; processes of a role with equal results are
// grouped. `run_dir` is a descriptor of the run directory, `ends` has one element per process of the plan.
std::vector<ContextReport> ReadContextReports(int run_dir, const Plan& plan, const std::string& run_id,
                                              const std::vector<AttemptEnd>& ends);

// "0-3, 5"
std::string IndexRanges(const std::vector<std::uint32_t>& indices);

// The report's lines about contexts, each ending with a newline, safe for a terminal: one per group, and one per
// overridden attribute. Empty if there is nothing to report.
std::string ContextText(const std::vector<ContextReport>& contexts);

}  // namespace muster
