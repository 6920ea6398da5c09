// Simulates lives of a job against failures: the supervisor with its restarts, verdicts and spares decides as in a run,
// and agents answer at once. What the time of the hosts was used for follows from the times of failures and starts.
//
// Pure: no clock, no files. Of the plan, limits and frameworks have no effect, and a restart of any of its processes
// takes the job back to its last checkpoint.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "muster/plan.h"
#include "muster/site.h"
#include "run/supervise/orders.h"
#include "run/supervise/verdict.h"

namespace muster {

// Seconds since the beginning. `down`: how long the host was lost; 0: a process there was killed, and the host stayed.
struct SimulatedFailure {
  double at = 0;
  std::uint32_t machine = 0;
  double down = 0;

  bool operator==(const SimulatedFailure&) const = default;
};

// Times between failures of each host.
struct FailureRate {
  double mean_s = 0;  // from the end of one to the next
  double shape = 1;   // of Weibull's distribution; 1: exponential
  double down_s = 0;  // mean of an exponential distribution
};
// By time, until `horizon_s`. The same for the same seed.
std::vector<SimulatedFailure> DrawFailures(const FailureRate& rate, std::uint32_t machines, double horizon_s,
                                           std::uint64_t seed);

struct SimulatedTerms {
  double horizon_s = 0;
  double interval_s = 0;  // work between checkpoints
  double save_s = 0;      // that writing one takes, in which the work stands still
  double start_s = 0;     // from the start of the processes to their first step
  double queue_s = 0;     // until another run begins after the end of one; it also waits until enough hosts are up
  std::uint32_t spares = 0;
};

// What the time was used for; the rows add up to the horizon.
enum class SimulatedRow : std::uint8_t { kKept, kLost, kCheckpoint, kStart, kWaiting };
inline constexpr std::array<std::string_view, 5> kSimulatedRowNames = {"kept", "lost", "checkpoint", "start",
                                                                       "waiting"};

struct SimulatedLife {
  std::array<double, kSimulatedRowNames.size()> seconds = {};
  std::uint32_t failures = 0;  // that hit the job
  std::uint32_t runs = 0;
  std::uint32_t replaced = 0;  // hosts, by spares
  std::uint32_t stops = 0;     // verdicts

  double& Of(SimulatedRow row) { return seconds[static_cast<std::size_t>(row)]; }
  double Of(SimulatedRow row) const { return seconds[static_cast<std::size_t>(row)]; }
};

// `failures` are by time, of machines up to the plan's hosts and spares. The plan must be one that ValidatePlan
// accepts.
SimulatedLife SimulateLife(const Plan& plan, std::span<const SimulatedFailure> failures, const SimulatedTerms& terms,
                           const std::vector<VerdictRule>& rules);

// What happens to one run, besides what its supervisor does. Only ends of processes that run count, and each machine is
// lost once.
struct SimulatedEvent {
  enum class Kind : std::uint8_t {
    kExited,      // the process exited with `code`, or was killed by signal `code`
    kNotStarted,  // attempt `code` of the process could not be started, whenever that is
    kHeld,        // nothing reaches the machine any more, or comes from it, until it is lost
    kLost,        // the machine
    kSilent,      // the process writes nothing more, and soon no other one does
    kStopAsked,   // by the user
  };
  double at = 0;  // seconds
  Kind kind = Kind::kExited;
  ProcessId process = 0;
  std::uint32_t machine = 0;
  bool signalled = false;
  std::int32_t code = 0;
  bool together = false;  // kSilent: others fall silent at the same time
};
struct SimulatedDecisions {
  std::vector<Action> actions;
  std::optional<RunEnded> ended;  // nothing: the run goes on
};
// What the supervisor decides in a run to which these happen, by time, until `until`. `source`: what verdicts look at.
SimulatedDecisions DecisionsOn(const Plan& plan, const std::vector<SiteHost>& spares,
                               const std::vector<VerdictRule>& rules, FailureSource& source,
                               std::span<const SimulatedEvent> events, double until);

// The interval of work between checkpoints that loses least, by J. W. Young (CACM 17(9), 1974) as refined by J. T. Daly
// (FGCS 22(3), 2006, eq. 20), for the mean time between failures of the job.
double BestInterval(double save_s, double between_failures_s);
// The share of time that is kept with such an interval, for exponential times between failures (Daly, eq. 13).
double KeptShare(double interval_s, double save_s, double start_s, double between_failures_s);

}  // namespace muster
