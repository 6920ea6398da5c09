// The result of a rehearsal: a table of checks, among them comparisons of hosts, and every failure with its ranks and
// hosts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "muster/result.h"
#include "run/journal/run_history.h"
#include "stub/records/stub_report.h"

namespace muster {

// The result of a rehearsal: a table of checks, and every failure with its ranks and hosts. Made from the run directory
// alone, like every report: from the plan, the journal and the stubs' reports in the logs.

struct RehearsalRow {
  Check check = Check::kStart;
  StubFinding::Outcome outcome = StubFinding::Outcome::kOk;  // never kNote
  std::string text;                                          // text of a success, number of failures, or why it was not
                                                             // checked

  bool operator==(const RehearsalRow&) const = default;
};

// The same finding of one or more processes of a host, possibly about processes of another host.
struct RehearsalFailure {
  Check check = Check::kStart;
  std::vector<std::uint32_t> processes;  // indices into the plan's, ascending
  std::vector<std::uint32_t> peers;      // processes that they cannot reach; else empty
  std::string text;
  std::string hint;  // may be empty

  bool operator==(const RehearsalFailure&) const = default;
};

struct RehearsedProcess {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string host;  // name of the host

  bool operator==(const RehearsedProcess&) const = default;
};

struct Rehearsal {
  std::string run;
  std::string name;
  std::string run_dir;
  std::vector<RehearsedProcess> processes;
  std::uint32_t hosts = 0;
  double seconds = 0;
  std::string outcome;             // of the run, as in report.json
  std::int32_t run_exit_code = 0;  // … which is not that of the rehearsal
  bool came_about = true;          // false: hosts could not be prepared, and no stub has run
  std::vector<RehearsalRow> rows;  // one for each check, in order
  std::vector<RehearsalFailure> failures;
  std::vector<RehearsalFailure> notes;  // remarkable, but no failures

  bool ok() const { return failures.empty() && outcome == "ok"; }
};

// `accounts` by process of the plan, which must be a rehearsal's.
Rehearsal JudgeRehearsal(const Plan& plan, const RunHistory& history,
                         std::span<const std::optional<StubReport>> accounts);

// Kind "run" if the folder contains no rehearsal, or nothing readable.
Result<Rehearsal> ReadRehearsal(const std::string& run_dir);

// 0: every check succeeded or was not made; 1: one failed; 3: it could not be run, for another reason than a port; 128
// + n: signal n ended it.
int RehearsalExitCode(const Rehearsal& rehearsal);

// "rank 3 (worker.3) on n2", "ranks 0-7 on n1, scheduler.0 on n1".
std::string PartyText(const Rehearsal& rehearsal, std::span<const std::uint32_t> processes);

// As text, safe for a terminal, ending with a newline; and as JSON.
std::string RehearsalText(const Rehearsal& rehearsal);
std::string RehearsalJson(const Rehearsal& rehearsal);
// The schema (wire/archive/json_schema.h) of that JSON.
std::string RehearsalSchema();

}  // namespace muster
