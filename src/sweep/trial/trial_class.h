// Classifies the end of a run, for a sweep's decision what to do about it, and finds the host to
// blame.
// The caller decides what a run cannot know: that its loss is no number (diverged), and that the sweep itself ended it
// (stopped).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine_page.h"
#include "metrics/log_patterns.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/journal/head_facts.h"
#include "run/session/run_request.h"
#include "space/sweep_description.h"

namespace muster {

// The patterns of RetryChoice: which words in the last lines of a failure say of which class it is.
class ClassPatterns {
 public:
  // Kind "pattern": an invalid regular expression, or a class that is no failure.
  static Result<ClassPatterns> Of(const std::map<TrialClass, std::string>& patterns, const Place& place);

  struct Match {
    TrialClass trial_class = TrialClass::kCrash;
    std::string line;
  };
  // For the last line that matches a pattern; if several match in one line, the first class.
  std::optional<Match> Find(const std::vector<std::string>& lines) const;

 private:
  std::map<TrialClass, LinePattern> patterns_;
};

// What is known about a failed run.
struct FailureFacts {
  Cause cause = Cause::kFailed;
  std::string why;  // the run's own reason
  // The process that failed first, its machine (run/supervise/host_replacement.h), and its failure.
  struct Origin {
    std::uint32_t machine = 0;
    std::optional<ProcessExited> exit = {};
    std::optional<SpawnFailed> spawn = {};
    std::optional<LimitPassed> limit = {};
    std::vector<EndEvidence> evidence = {};
    std::vector<std::string> last_lines = {};
  };
  std::optional<Origin> origin = {};
  std::optional<std::uint32_t> lost = {};    // the machine whose agent was lost, or never connected
  std::optional<JobState> job_end = {};      // as in RunOutcome
  bool stopped_by_engine = false;            // the same
  std::optional<FailureJudged> judged = {};  // the last failure on which a verdict was given
};

struct TrialEnding {
  TrialClass trial_class = TrialClass::kOk;
  std::string blamed = {};                   // the host, as the user named it; empty: none, or this machine
  std::string why = {};                      // one sentence, safe for a terminal; empty on success
  std::optional<FailureJudged> judged = {};  // of the failure that ended it

  bool operator==(const TrialEnding&) const = default;
};

// `hosts`: names of the run's hosts, followed by the spares; empty for a run on this machine.
TrialEnding ClassOf(const FailureFacts& facts, const ClassPatterns& patterns, const std::vector<std::string>& hosts);

// Reads the journal of the run directory, and the last log lines of the process that failed first.
FailureFacts ReadFailureFacts(const Plan& plan, const RunOutcome& outcome);

// Both. Reads nothing for a successful run.
TrialEnding ClassOfRun(const Plan& plan, const RunOutcome& outcome, const ClassPatterns& patterns,
                       const std::vector<std::string>& hosts);

}  // namespace muster
