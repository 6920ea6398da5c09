// What the activation of hosts came to, as a report tells it: which variables it set and removed, and why it failed.
//
// Knows the journal and the activation's logs; values of variables stay in the journal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/checked_journal.h"

namespace muster {

// Of one host.
struct ActivationReport {
  std::string host;
  double seconds = 0;
  std::vector<std::string> set;  // names, in order
  std::vector<std::string> unset;
  std::uint32_t failed_step = 0;        // from 1; 0: none, or the shell as a whole
  std::string error;                    // empty if it did not fail
  std::string log;                      // relative to the run directory
  std::vector<std::string> last_lines;  // of that, if it failed: at most kLastLines, safe for a terminal
};

// In the order in which hosts answered. `folder` is the run directory, open.
std::vector<ActivationReport> ReadActivations(const Plan& plan, const CheckedJournal& journal, int folder);

// As lines of report.txt, each ending with a newline: what a failed one said last, …
std::string FailedActivationText(const std::vector<ActivationReport>& activations);
// … and what the others changed, of many hosts the first few.
std::string ActivationText(const std::vector<ActivationReport>& activations);

}  // namespace muster
