// Measures the start-up of a run: the steps before the first process, and for each role how long its processes took to
// start, to become ready and to write output, with the slowest one.
//
// Only the first start of each process counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/run_history.h"

namespace muster {

// Time in seconds that processes of a role took for a step.
struct StartupStep {
  std::uint64_t processes = 0;  // number of processes that completed the step
  double median = 0;
  double slowest = 0;
  std::uint32_t index = 0;  // of the slowest

  bool operator==(const StartupStep&) const = default;
};

struct RoleStartup {
  std::string role;
  std::uint64_t processes = 0;              // whose start was ordered
  double ordered = 0;                       // seconds from the beginning of the run until the first one was ordered
  std::optional<StartupStep> spawn;         // from the order until its program ran
  std::optional<StartupStep> ready;         // from there until it was ready, for roles with a readiness condition
  std::optional<StartupStep> first_output;  // from there until its log's first byte
};

// In seconds.
struct Startup {
  double evaluate = 0;             // the evaluator, from its start to its answer; 0 with --plan
  double plan = 0;                 // other work before the run: reading, checking
  double agent = 0;                // from the run's beginning until the last agent answered
  double activate = 0;             // from there until the last host was activated; 0 without activation
  double wait = 0;                 // for devices held by other jobs; 0 if there was no wait
  double bind = 0;                 // the rest until the first order: ports, files, environments
  std::vector<RoleStartup> roles;  // in the plan's order; only roles whose start was ordered
};

Startup MakeStartup(const Plan& plan, const RunHistory& history);

// Lines of report.txt, each ending with a newline; empty if no start was ordered.
std::string StartupText(const Startup& startup);

}  // namespace muster
