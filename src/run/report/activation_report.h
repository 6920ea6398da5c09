// Reports the activation of hosts: which variables it set and removed, and why it failed.
//
// Reads the journal and the activation's logs; values of variables stay in the journal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/journal.h"

namespace muster {

// The activation of one host.
struct ActivationReport {
  std::string host;
  double seconds = 0;
  std::vector<std::string> set;  // names, in order
  std::vector<std::string> unset;
  std::uint32_t failed_step = 0;        // from 1; 0: none failed, or the shell as a whole
  std::string error;                    // empty if it succeeded
  std::string log;                      // relative to the run directory
  std::vector<std::string> last_lines;  // of that log, if it failed: at most kLastLines, safe for a terminal
};

// In the order in which hosts answered. `folder` is a descriptor of the run directory.
std::vector<ActivationReport> ReadActivations(const Plan& plan, const CheckedJournal& journal, int folder);

// Lines of report.txt, each ending with a newline: the last lines of failed activations, …
std::string FailedActivationText(const std::vector<ActivationReport>& activations);
// … and the changes made by the others; if there are many hosts, those of the first few.
std::string ActivationText(const std::vector<ActivationReport>& activations);

}  // namespace muster
