// Compares the ledger of runs with what tests/support/recompute_ledger.py computes from their journals.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/command.h"
#include "support/places.h"

namespace muster::testing {

// Of `muster report --ledger WORDS`, which must be about these runs and, if it is given, the trials of the sweep.
// Returns the rows that are not 0, as " queued=NS productive_kept=NS …".
inline std::string CheckedLedger(const std::vector<std::string>& words, const std::vector<std::string>& run_dirs,
                                 const std::string& sweep_dir = {}, const std::vector<std::string>& env = {}) {
  Command command;
  command.argv = {"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/support/recompute_ledger.py", MusterProgram()};
  command.argv.insert(command.argv.end(), words.begin(), words.end());
  command.argv.emplace_back("--");
  command.argv.insert(command.argv.end(), run_dirs.begin(), run_dirs.end());
  if (!sweep_dir.empty()) command.argv.insert(command.argv.end(), {"--sweep", sweep_dir});
  command.env.insert(command.env.end(), env.begin(), env.end());
  const CommandResult result = RunCommand(command);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
  return " " + result.err;
}

}  // namespace muster::testing
