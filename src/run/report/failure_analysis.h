// Analyses a first failure: evidence of its origin besides its status, the output of other processes, and what
// processes, their tools and frameworks left in the run directory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/directory/process_output.h"
#include "run/journal/run_history.h"

namespace muster {

// Finds what processes, their tools and frameworks left in the run directory about a failure besides logs and error
// files: logs of sanitizers, core dumps, dumps of faulthandler, tracebacks, and dumps of collective libraries.
//
// Names and contents are untrusted; links are not followed, and sizes and numbers are bounded.

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

// Analyses a first failure: evidence about the origin besides its status, the output of other failed processes,
// failures whose order is uncertain, and a timeline of the seconds around it.
//
// Reads the run directory; the supervisor has determined the origin (run/supervise/supervisor.h).

// Processes of one role.
struct Members {
  std::string role;
  std::vector<std::uint32_t> indices;  // ascending
  std::vector<std::uint32_t> ranks;    // of these processes, in the same order; empty for a role without ranks

  bool operator==(const Members&) const = default;
};

// The processes by role, in the plan's order.
std::vector<Members> MembersOf(const Plan& plan, const std::set<ProcessId>& processes);

// "worker.0-3, 5, server.0"
std::string MembersText(const std::vector<Members>& members);

// Other failed processes whose last lines are the same.
struct FailedGroup {
  Members who;
  std::string why;                    // "exited with code 1"
  std::vector<std::string> lines;     // last lines of the first process, see LastLines
  bool alike = false;                 // whether the lines of the others differ only in numbers
  std::string log;                    // of the first, relative to the run directory
  std::string hint;                   // see FailureHint
  std::optional<ErrorNote> error;     // of the first
  std::vector<std::string> evidence;  // about the first: core dump, lack of memory
};

// Processes that ended in the same way at about the same time.
struct TimelineEntry {
  double from = 0;   // seconds after the first failure; negative before it
  double to = 0;     // end of the last of them
  std::string what;  // "exited with code 1", "was sent SIGTERM"
  std::vector<Members> who;
};

// Processes of one host that may have failed before the origin.
struct UncertainOrder {
  std::vector<Members> who;
  std::string host;             // empty: the origin's own
  std::optional<double> after;  // seconds after the origin, of the nearest of them; empty if clocks were not compared
  double within = 0;            // seconds: only for larger distances would the order be certain
};

// A process that ended after the origin, or was stopped because of it, although what it left behind is older, or
// although the origin itself names it: it may have failed first.
struct EarlierSign {
  Members who;
  std::string what;              // "its error file was written before: ValueError('loss is nan')"
  std::optional<double> before;  // seconds before the origin's own first sign; empty if there is no such time

  bool operator==(const EarlierSign&) const = default;
};

struct FailureAnalysis {
  std::vector<std::string> evidence;  // about the origin: core dump, lack of memory
  std::string hint;                   // of the origin's last lines
  std::optional<ErrorNote> error;     // the origin's error file
  // Others that exited non-zero or died of a signal that muster had not sent, in the order of their ends; and those
  // that muster stopped, if they left an error file or are in `signs`.
  std::vector<FailedGroup> others;
  // When the origin failed, on the head's clock; empty if its host's clock was never compared with it, or if the
  // failure was not an end.
  std::optional<MonotonicNs> at;
  // Largest error of `at` in seconds; 0 on the head's own host.
  double at_error = 0;
  // Others that failed without a stop so close to the origin that clocks and kernel reports do not determine which was
  // first; by host, the origin's own first.
  std::vector<UncertainOrder> doubts;
  std::vector<EarlierSign> signs;       // of others, the oldest first
  std::vector<Members> unordered;       // all processes in `doubts`
  std::vector<TimelineEntry> timeline;  // in order
};

// The interval of the timeline around the first failure, in seconds.
inline constexpr double kTimelineBefore = 5;
inline constexpr double kTimelineAfter = 10;

// `run_dir` is a descriptor of the run directory; `files` is what was found in it.
FailureAnalysis AnalyseFailure(const Plan& plan, const RunHistory& history, const FirstFailure& origin, int run_dir,
                               std::span<const EvidenceFile> files = {});

// A process that failed before the first one to end, as its error file proves: the file is older than everything that
// the other left behind, and does not only say that a peer was lost.
struct ProvenOrigin {
  ProcessExited exit;
  std::string evidence;  // "its error file is 1.9s older than what worker.0 left behind, which ended first"
};
inline constexpr std::string_view kErrorFileEvidence = "its error file is ";

// `history` has the ends of all processes. Empty if there is none; another one may be in doubt (EarlierSign).
std::optional<ProvenOrigin> FindProvenOrigin(const Plan& plan, const RunHistory& history, const FirstFailure& origin,
                                             int run_dir);

// Lines about the failure, each ending with a newline, safe for a terminal: those before the origin's last lines, and
// those after them.
std::string SignText(const EarlierSign& sign);
std::string FailureHeadline(const FailureAnalysis& analysis, bool with_traceback = true);
// Texts that repeat `why`, how the origin failed, or one another are shortened.
std::string FailureDetails(const FailureAnalysis& analysis, const std::string& origin_name, const std::string& why);

}  // namespace muster
