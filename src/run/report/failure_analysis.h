// The account of a first failure: what is known about the origin besides its status, what the others that failed had
// to say, what cannot be put in order, and the seconds around it as a time line.
//
// Knows the journal and the run directory; who the origin is has been decided (run/supervise/supervisor.h).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/directory/error_file.h"
#include "run/journal/checked_journal.h"
#include "run/journal/event_order.h"
#include "run/journal/head_facts.h"

namespace muster {

// Processes of one role.
struct Members {
  std::string role;
  std::vector<std::uint32_t> indices;  // ascending
  std::vector<std::uint32_t> ranks;    // of those, in the same order; empty for a role without ranks

  bool operator==(const Members&) const = default;
};

// The processes by role, in the plan's order.
std::vector<Members> MembersOf(const Plan& plan, const std::set<ProcessId>& processes);

// "worker.0-3, 5, server.0"
std::string MembersText(const std::vector<Members>& members);

// Processes that failed, too, and ended with the same words.
struct FailedGroup {
  Members who;
  std::string why;                 // "exited with code 1"
  std::vector<std::string> lines;  // of the first of them, as LastLines gives them
  bool alike = false;              // the others' differ from these in numbers
  std::string log;                 // of the first, relative to the run directory
  std::string hint;                // see PythonHint
  std::optional<ErrorNote> error;  // of the first
};

// Processes that ended in the same way at about the same time.
struct TimelineEntry {
  double from = 0;   // seconds after the first failure; negative before it
  double to = 0;     // of the last of them
  std::string what;  // "exited with code 1", "was sent SIGTERM"
  std::vector<Members> who;
};

// Processes of one host that may have failed before the origin.
struct UncertainOrder {
  std::vector<Members> who;
  std::string host;             // empty: the origin's own
  std::optional<double> after;  // seconds after the origin, of the nearest of them; nothing where no clock tells
  double within = 0;            // seconds: only what is further apart would be beyond doubt
};

struct FailureAnalysis {
  std::vector<std::string> evidence;  // of the origin: core dump, lack of memory
  std::string hint;                   // of the origin's last lines
  std::optional<ErrorNote> error;     // the origin's own words
  // Others that exited non-zero or died of a signal that muster had not sent, the first to end first.
  std::vector<FailedGroup> others;
  // When the origin failed, on the head's clock; nothing if that of its host was never compared with it, or it failed
  // otherwise than by its end.
  std::optional<MonotonicNs> at;
  // How much that may be wrong, in seconds; 0 on the head's own host.
  double at_error = 0;
  // Others that failed unasked, so close to the origin that the clocks and the kernel's report do not tell who was
  // first; by host, the origin's own first.
  std::vector<UncertainOrder> doubts;
  std::vector<Members> unordered;       // all of these
  std::vector<TimelineEntry> timeline;  // in order
};

// From how long before to how long after the first failure the time line tells, in seconds.
inline constexpr double kTimelineBefore = 5;
inline constexpr double kTimelineAfter = 10;

// `run_dir` is a descriptor of the run directory.
FailureAnalysis AnalyseFailure(const Plan& plan, const CheckedJournal& journal, const FirstFailure& origin,
                               const HostClocks& clocks, int run_dir);

// The clocks of a run's hosts, by machine (run/supervise/host_slots.h): known for a run on the head's own host, which
// is a run on one.
HostClocks ClocksOf(const Plan& plan, const CheckedJournal& journal);

// The account's lines for people, each ending with a newline, safe for a terminal: what comes before the origin's last
// lines, and what comes after them.
std::string FailureHeadline(const FailureAnalysis& account, bool with_traceback = true);
std::string FailureDetails(const FailureAnalysis& account, const std::string& origin_name);

}  // namespace muster
