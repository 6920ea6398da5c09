// What a rehearsal found: a table of checks, and every failure with the ranks and hosts that it is about. Made from the
// run directory alone, as every report is: from the plan, the journal and the stubs' words in the logs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "muster/result.h"
#include "run/journal/checked_journal.h"
#include "stub/records/stub_report.h"

namespace muster {

struct RehearsalRow {
  Check check = Check::kStart;
  StubFinding::Outcome outcome = StubFinding::Outcome::kOk;  // never kNote
  std::string text;                                          // what is well, how many failed, or why it was not checked

  bool operator==(const RehearsalRow&) const = default;
};

// The same finding of one or more processes of a host, and of the processes of another that it is about.
struct RehearsalFailure {
  Check check = Check::kStart;
  std::vector<std::uint32_t> processes;  // indices into the plan's, ascending
  std::vector<std::uint32_t> peers;      // whom they cannot reach; else none
  std::string text;
  std::string hint;  // may be empty

  bool operator==(const RehearsalFailure&) const = default;
};

struct RehearsedProcess {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string host;  // by its name

  bool operator==(const RehearsedProcess&) const = default;
};

struct Rehearsal {
  std::string run;
  std::string name;
  std::string run_dir;
  std::vector<RehearsedProcess> processes;
  std::uint32_t hosts = 0;
  double seconds = 0;
  std::string outcome;             // of the run: as in report.json
  std::int32_t run_exit_code = 0;  // … which says little of a rehearsal
  bool came_about = true;          // false: hosts could not be made ready, and no stub has run
  std::vector<RehearsalRow> rows;  // one for each check, in order
  std::vector<RehearsalFailure> failures;
  std::vector<RehearsalFailure> notes;  // worth knowing, and no failure

  bool ok() const { return failures.empty() && outcome == "ok"; }
};

// `accounts` by process of the plan, which is a rehearsal's.
Rehearsal JudgeRehearsal(const Plan& plan, const CheckedJournal& journal,
                         std::span<const std::optional<StubReport>> accounts);

// Kind "run" if the folder holds no rehearsal, or nothing that can be read.
Result<Rehearsal> ReadRehearsal(const std::string& run_dir);

// 0: every check is well or was not made; 1: one failed; 3: it did not come about, for another reason than a port;
// 128 + n: it was ended by signal n.
int RehearsalExitCode(const Rehearsal& rehearsal);

// "rank 3 (worker.3) on n2", "ranks 0-7 on n1, scheduler.0 on n1".
std::string PartyText(const Rehearsal& rehearsal, std::span<const std::uint32_t> processes);

// For people, safe for a terminal, ends with a newline; and for programs.
std::string RehearsalText(const Rehearsal& rehearsal);
std::string RehearsalJson(const Rehearsal& rehearsal);

}  // namespace muster
