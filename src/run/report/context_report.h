// What became of the settled contexts, for the report: read from the records that the launched programs left beside
// them (context/<role>.<index>.applied.json, docs/python.md).
//
// The records are the programs' own files and are not trusted: no link is followed, sizes are limited, and what is
// not of the right type is no record. Knows nothing of the journal: the caller says how each process ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/report/report.h"

namespace muster {

// How the last attempt of a process ended, as far as its record can be judged by it.
struct AttemptEnd {
  bool started = false;
  bool ended = false;
  // It was stopped before its work was done: what it did not come to is nobody's mistake.
  bool cut_short = false;
  // It was told to stop, for whatever reason: that its last values are not known is no news.
  bool told_to_stop = false;
  std::uint32_t attempt = 0;
};

// Of every process that has a context and something to tell; alike processes of a role together. `run_dir` is a
// descriptor of the run directory, `ends` has one element per process of the plan.
std::vector<ContextReport> ReadContextReports(int run_dir, const Plan& plan, const std::string& run_id,
                                              const std::vector<AttemptEnd>& ends);

// "0-3, 5"
std::string IndexRanges(const std::vector<std::uint32_t>& indices);

// The report's lines about contexts, each ending with a newline, safe for a terminal: one per group, and one per
// attribute that was overridden. Empty if there is nothing to tell.
std::string ContextText(const std::vector<ContextReport>& contexts);

}  // namespace muster
