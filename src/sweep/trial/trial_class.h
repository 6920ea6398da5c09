// What the end of a run was, in the classes by which a sweep decides what to do about it, and which host is to blame.
//
// What a run cannot tell is the caller's to say: that its loss is no number (diverged), and that the sweep itself ended
// it (stopped).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/journal/head_facts.h"
#include "run/session/run_request.h"
#include "space/sweep_description.h"
#include "sweep/trial/log_patterns.h"

namespace muster {

// What is known of how a run ended badly.
struct EndFacts {
  Cause cause = Cause::kFailed;
  std::string why;  // the run's own sentence
  // Who failed first, on which machine (run/supervise/host_slots.h), and what is known of that.
  struct Origin {
    std::uint32_t machine = 0;
    std::optional<ProcessExited> exit = {};
    std::optional<SpawnFailed> spawn = {};
    std::optional<LimitPassed> limit = {};
    std::vector<EndEvidence> evidence = {};
    std::vector<std::string> last_lines = {};
  };
  std::optional<Origin> origin = {};
  std::optional<std::uint32_t> lost = {};  // the machine whose agent was lost, or never came to be
};

struct TrialEnding {
  TrialClass trial_class = TrialClass::kOk;
  std::string blamed = {};  // the host, as the user named it; empty: none, or this machine
  std::string why = {};     // one sentence, safe for a terminal; empty if it ended well

  bool operator==(const TrialEnding&) const = default;
};

// `hosts`: names of the run's hosts, spares behind them; empty for a run on this machine.
TrialEnding ClassOf(const EndFacts& facts, const ClassPatterns& patterns, const std::vector<std::string>& hosts);

// Reads the journal of the run directory, and the last lines of who failed first.
EndFacts ReadEndFacts(const Plan& plan, const RunOutcome& outcome);

// Both. Of a run that ended well nothing is read.
TrialEnding ClassOfRun(const Plan& plan, const RunOutcome& outcome, const ClassPatterns& patterns,
                       const std::vector<std::string>& hosts);

}  // namespace muster
