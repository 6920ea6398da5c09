// Processes and logs that a user chooses on the command line: names of processes (--tee, --pty, --env), and logs by
// role, number, rank and attempt. Depends on the names of processes and of log files, not on their content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/values/rank_set.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/report/report.h"

namespace muster {

// Resolves process names on the command line: of --tee, --pty and
// --env.

// The processes named by the words: "worker", "worker:2", "worker:0-3,7". Numbers are ranks; in a role without ranks
// they are the processes' numbers in it. Fails with kind "tee".
Result<std::set<ProcessId>> TeedProcesses(const Plan& plan, const std::vector<std::string>& words);

// The single process named by a word of this form. Fails with kind "pty".
Result<ProcessId> ProcessAtTerminal(const Plan& plan, const std::string& word);

// The single process named by a word of this form. Fails with `kind`, which is the option's name, too.
Result<ProcessId> OneProcessNamed(const Plan& plan, std::string_view kind, const std::string& word);

// The first process named by a word of this form. Fails with kind "env".
Result<ProcessId> ExplainedProcess(const Plan& plan, const std::string& word);

// Selects logs of a run: those of the processes that a user has chosen by role, number, rank and attempt.
//
// Depends on the names of processes and of log files, not on their content.

struct LogFilter {
  std::string role;  // empty: all roles
  std::optional<std::uint32_t> index;
  std::optional<RankSet> ranks;  // processes without a rank are in none
  std::optional<std::uint32_t> attempt;
};

struct LogFile {
  std::string name;         // in the folder logs/: "worker.2.0.log"
  std::string prefix;       // "worker.2 rank 10", "worker.2 rank 10 attempt 1"
  std::size_t process = 0;  // in the report's order
  std::uint32_t attempt = 0;
};

class LogChoice {
 public:
  // Fails with kind "logs" if the run has no such process.
  static Result<LogChoice> Of(const Report& report, const LogFilter& filter);

  std::size_t processes() const { return processes_.size(); }
  // The log with this file name in logs/, if it was chosen.
  std::optional<LogFile> Find(std::string_view name) const;
  // The chosen logs in the folder, by process and attempt. Links are ignored, so that a link put there cannot determine
  // what the reader sees.
  std::vector<LogFile> In(const std::string& logs_folder) const;

 private:
  struct Chosen {
    std::size_t place = 0;
    std::string prefix;
  };
  std::map<std::string, Chosen, std::less<>> processes_;  // by "role.index"
  std::optional<std::uint32_t> attempt_;
};

}  // namespace muster
