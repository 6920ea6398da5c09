// Drills: faults as texts and what they need, and the judgement of a run into which they were injected. Its decisions
// are compared with those of the same supervisor in a simulation that gets the ends and losses that the run saw, and
// with what the recipe promises: restarts that take place, and that continue from a checkpoint.
//
// Pure: the journal and the steps of the processes are given.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"
#include "run/journal/head_facts.h"
#include "run/journal/journal.h"
#include "run/simulate/job_simulation.h"
#include "run/supervise/verdict.h"

namespace muster {

struct DrillFault {
  FaultKind kind = FaultKind::kKill;
  // A process, as "worker.3" or "worker:3" (a rank), or a host, for a fault of a process the first one there; of a disk
  // its folder, on the first host or as "n2:/scratch"; empty: the head.
  std::string target;
  double at = 0;     // seconds after all processes ran for the first time
  double lasts = 0;  // seconds; 0: for good
  // A defect instead: the stub fails in every attempt, instead of doing this step; 0: before its first.
  std::optional<std::uint64_t> step = {};

  bool operator==(const DrillFault&) const = default;
};

// "kill:worker:3@12s", "stop:worker.1@20s+5s", "agent:n2@30s", "head@1m", "exception:worker:0@40steps". The error is a
// sentence with an example.
tl::expected<DrillFault, std::string> ParseDrillFault(std::string_view text);
// "stop worker.1 for 5s", "exception worker.0 at step 40"
std::string DrillFaultText(const DrillFault& fault);
// Of failures of hosts: one without a time that it is down kills a process there, which the seed chooses; another one
// kills the agent. Failures of other machines than the plan's hosts are left out.
std::vector<DrillFault> FaultsOf(std::span<const SimulatedFailure> failures, const Plan& plan, std::uint64_t seed);

// Where a drill takes place.
struct DrillPlace {
  const Plan* plan = nullptr;      // never null
  std::vector<SiteHost> hosts;     // as the user named them; empty: this machine alone
  std::vector<SiteHost> spares;    //
  bool holds_connections = false;  // of other hosts, carried by a command on this machine (ssh)
  double lease_s = 0;              // heartbeat timeout of other hosts
  bool stubs = false;              // instead of the programs

  // "n2"; of a run on this machine alone the plan's label.
  std::string NameOf(std::uint32_t machine) const;
};
// Completes the targets ("worker:3" becomes "worker.3"), and orders the faults by time. Everything that cannot be
// injected in this place is reported at once, with what to do instead.
Result<std::vector<DrillFault>> CheckFaults(std::vector<DrillFault> faults, const DrillPlace& place);
// The host, which may be empty, and the folder of the target of a fault of a disk.
std::pair<std::string_view, std::string_view> DiskOf(std::string_view target);
// For how many seconds the limit of silence that ends a stopped process allows silence, of a host the first role; 0:
// there is none.
double SilenceLimit(const Plan& plan, std::string_view process);

// A decision of the supervisor after a failure, without what depends on times and words.
struct DrillDecision {
  std::optional<ProcessId> process;  // that failed
  std::uint32_t attempt = 0;
  std::uint32_t machine = 0;
  RestartVerdict verdict = RestartVerdict::kRestart;
  std::string rule;
  struct Restart {
    std::string scope;
    std::vector<ProcessId> processes;
    std::uint32_t count = 0;
    std::uint32_t max = 0;
    bool operator==(const Restart&) const = default;
  };
  std::vector<Restart> restarts;
  struct Replacement {
    std::uint32_t host = 0;
    std::uint32_t by = 0;
    bool operator==(const Replacement&) const = default;
  };
  std::vector<Replacement> replacements;
  bool ends = false;  // the job has failed

  bool operator==(const DrillDecision&) const = default;
};

// The steps that an attempt reported.
struct ReportedSteps {
  double first = 0;
  double interval = 1;  // between its first two reports
  double last = 0;
};

// What a run shows besides its journal.
struct DrillEvidence {
  // Nothing of an attempt that reported none.
  std::function<std::optional<ReportedSteps>(ProcessId process, std::uint32_t attempt)> steps;
  std::vector<std::string> checkpoints;  // complete ones, of this run and those that it continues
};

// From which checkpoint a process continued.
enum class CheckpointUse : std::uint8_t {
  kNewest,
  kOlder,    // another one, although a newer one was complete
  kNone,     // it began again at its first step
  kUnknown,  // it does not report steps, or names of checkpoints do not say at which they were written
};
inline constexpr std::array<std::string_view, 4> kCheckpointUseNames = {"newest", "older", "none", "unknown"};

// How a process continued when `newest` was the newest complete checkpoint.
struct Continuation {
  CheckpointUse use = CheckpointUse::kUnknown;
  std::string from = {};  // if it is an older one, its path
};
// `known` are all complete checkpoints, `again` what it reports now, `before` what it reported before the failure, and
// `begun` the first step of all. Names of checkpoints are taken for steps if the last number in one fits to the first
// step now: at most one interval of reports later.
Continuation JudgeContinuation(const CheckpointPlace& place, const std::string& newest,
                               std::span<const std::string> known, const ReportedSteps& again,
                               const ReportedSteps& before, double begun);
// "it began again at step 1, and not from step_30"; empty unless the use is kOlder or kNone.
std::string ContinuationFault(const Continuation& continuation, const std::string& newest, const ReportedSteps& again);

struct DrillRow {
  std::string fault;
  double at = 0;
  std::string expected;
  std::string happened;
  std::optional<double> lost;               // steps that were done again
  std::optional<CheckpointUse> checkpoint;  // nothing: no restart, or no checkpoint to continue from
  bool ok = true;
};

struct JudgedDrill {
  std::vector<DrillRow> rows;  // of each fault, of each failure that none of them explains, and of the end
  std::uint32_t decisions = 0;
  std::uint32_t as_simulated = 0;  // of these
};

// `records`: the whole journal. `killed`: the head was.
JudgedDrill JudgeDrill(const DrillPlace& place, std::span<const JournalRecord> records, const DrillEvidence& evidence,
                       const std::vector<VerdictRule>& rules, bool killed);

}  // namespace muster
