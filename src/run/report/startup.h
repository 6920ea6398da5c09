// How a run came to work, step by step: what was done before the first process, and for each role how long its
// processes took to start, to be ready and to say something, with the slowest one named.
//
// Knows the journal; the start counted is each process's first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/checked_journal.h"
#include "run/journal/event_order.h"

namespace muster {

// Seconds that processes of a role took for a step.
struct StartupStep {
  std::uint64_t processes = 0;  // that came to its end
  double median = 0;
  double slowest = 0;
  std::uint32_t index = 0;  // of the slowest

  bool operator==(const StartupStep&) const = default;
};

struct RoleStartup {
  std::string role;
  std::uint64_t processes = 0;              // that were ordered to start
  double ordered = 0;                       // when the first one was, seconds after the run began
  std::optional<StartupStep> spawn;         // from the order until its program ran
  std::optional<StartupStep> ready;         // from there until it was ready, for roles that say when
  std::optional<StartupStep> first_output;  // from there to its log's first byte
};

// Seconds.
struct Startup {
  double evaluate = 0;             // the evaluator, from its start to its answer; 0 with --plan
  double plan = 0;                 // everything else before the run: reading, checking
  double agent = 0;                // from the run's beginning until the last agent answered
  double activate = 0;             // from there until the last host was activated; 0 if there is nothing to activate
  double wait = 0;                 // for devices that others held; 0 if there was no need to
  double bind = 0;                 // the rest until the first order: ports, files, environments
  std::vector<RoleStartup> roles;  // in the plan's order, those of which something was ordered
};

Startup MakeStartup(const Plan& plan, const CheckedJournal& journal, const HostClocks& clocks);

// As lines of report.txt, each ending with a newline; empty if nothing was ordered to start.
std::string StartupText(const Startup& startup);

}  // namespace muster
