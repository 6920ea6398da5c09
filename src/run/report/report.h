// The report of a run: what happened, which process failed first and with which evidence, which ended because of it,
// and that nothing is left. Made from the files of a run directory alone, so that the same code reports on a run of
// last week and on one of this minute, on this machine or where the folder was copied to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/last_lines.h"
#include "run/journal/head_facts.h"
#include "run/report/activation_report.h"
#include "run/report/code_report.h"
#include "run/report/dropped_logs.h"
#include "run/report/dump_report.h"
#include "run/report/failure_analysis.h"
#include "run/report/metrics_report.h"
#include "run/report/startup.h"

namespace muster {

struct AttemptReport {
  std::uint32_t attempt = 0;
  std::string host;
  std::optional<std::int32_t> pid;
  std::string started_at;  // UTC; empty if it never started
  std::string ended_at;    // UTC; empty if its end was never seen
  std::optional<std::int32_t> exit_code;
  std::string signal;  // "SIGKILL"; empty if it did not die by one
  bool core_dumped = false;
  std::string spawn_stage;  // where its start failed; empty if it did not
  double user_seconds = 0;
  double system_seconds = 0;
  std::uint64_t max_rss_kib = 0;
  std::vector<std::string> evidence;  // where its core went, that it was killed for lack of memory
};

struct ProcessReport {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;  // of the plan, or as its framework assigned it and its log names it
  std::string host;                   // of its last attempt
  std::vector<std::string> devices;   // that it was given, as they are called on the host
  std::string cores;                  // "0-3"; empty if it was given none of its own
  std::vector<AttemptReport> attempts;
  // "origin": failed first · "victim": ended because of the origin · "ok": exited 0; with an origin in the run a
  // bystander · "stopped": ended because muster was asked to stop it, or because its work was done · "lost": its end
  // was not seen · "not_started" · "running"
  std::string verdict;
};

struct FailureReport {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string ranks_by;  // the framework, where it assigns ranks; else empty
  std::string host;
  std::optional<std::int32_t> exit_code;
  std::string signal;
  std::string at;  // UTC, on the head's clock
  // How much that may be wrong, in seconds, because its host has another clock; nothing if the clocks were not
  // compared: then `at` is when the head received it.
  std::optional<double> at_error;
  std::string spawn_stage;
  std::vector<std::string> last_lines;  // at most kLastLines, safe for a terminal
  std::string log;                      // relative to the run directory
  std::string why;
  double after_seconds = 0;  // since its start
  FailureAnalysis account;
};

// What became of the settled context of one or more processes of a role (docs/python.md). Texts in it were written
// by the launched programs: make them safe before they are shown.
struct ContextReport {
  std::string role;
  std::vector<std::uint32_t> indices;  // those of whom all of this is true, ascending
  // "applied" · "overridden": applied, and the script has changed some since · "unknown": applied, and the process
  // ended before its last values could be read · "never_read": no Python of muster's was started · "never_imported":
  // the script did not import mindspore · "incomplete": the process ended while it was applied · "failed": see
  // `errors` · "unreadable": the record of it cannot be read, `errors` says why · "not_wrapped": `parallel` still waits
  std::string state;
  std::string release;         // what was imported says it is; empty if nothing was, or it says none
  std::string expected;        // the recipe's
  bool other_release = false;  // the two differ, and the recipe accepts that
  struct Change {
    std::string function;
    std::string attribute;
    Value planned;
    Value found;  // at the end of the process

    bool operator==(const Change&) const = default;
  };
  std::vector<Change> overridden;
  struct Problem {
    std::string kind;
    std::string message;

    bool operator==(const Problem&) const = default;
  };
  std::vector<Problem> errors;
};

// A restart: which process ended, and what was started again for it.
struct RestartReport {
  std::string role;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;  // which ended
  std::string scope;          // "process", "role", "job"
  std::uint64_t processes = 0;
  std::string at;  // UTC
  std::string why;
};

// A spare that took the place of a lost host.
struct ReplacementReport {
  std::string host;  // which was lost
  std::string by;
  std::string at;   // UTC
  std::string why;  // it was lost
};

struct Receipt {
  std::uint64_t started = 0;
  std::uint64_t reaped = 0;
  std::uint64_t left = 0;     // started and not known to be gone
  std::uint64_t adopted = 0;  // orphans of processes, ended besides
  std::vector<std::string> by;
};

// Seconds. What a run did not come to is 0.
struct Timings {
  double plan = 0;     // evaluating and planning
  double connect = 0;  // agents, ports, files
  double spawn = 0;    // first start ordered to last one answered
  double run = 0;      // from then on until the work was done or something went wrong
  double linger = 0;
  double stop = 0;
  double finish = 0;
  double total = 0;  // without plan
};

struct Report {
  std::string run;
  std::string plan;
  std::string name;
  std::string run_dir;
  std::string parent;  // id of the run whose plan or recipe it took; empty: none
  // The run that it went on with, and from which checkpoint.
  struct Resumed {
    std::string run;
    std::string checkpoint;
  };
  std::optional<Resumed> resumed;
  std::vector<std::string> tags;
  std::vector<RoleMetrics> metrics;
  std::string checkpoint;  // the newest one of its own that it was seen to have; empty: none
  bool rehearsal = false;
  // "ok", "failed", "stopped", "lost", as in report.json; "running" while a muster holds the directory.
  std::string outcome;
  std::int32_t exit_code = 0;
  std::string why;  // empty if it ended well
  std::optional<FailureReport> first_failure;
  CodeReport code;
  std::vector<ActivationReport> activations;
  std::vector<RestartReport> restarts;          // in order
  std::vector<ReplacementReport> replacements;  // in order
  std::vector<ProcessReport> processes;
  std::vector<ContextReport> contexts;  // by role, then by the first index
  std::vector<DumpReport> dumps;        // in order
  std::vector<DroppedLog> dropped_logs;
  Receipt receipt;
  Timings timings;
  Startup startup;
  std::string journal_damage;  // why the journal ends before its file does; empty if it is whole
};

// Reads plan.json, journal.jsonl and the origin's log. Fails with kind "run" if the folder holds no plan or no
// journal that begins; the report says what else is missing or damaged. A journal without its last record belongs to a
// head that was killed: outcome "lost".
Result<Report> MakeReport(const std::string& run_dir);

// report.json, as docs/run_directory.md has it.
std::string ReportJson(const Report& report);

// How much of a report is wanted.
struct ReportView {
  // Receipt, times and start-up, also of a run that succeeded; else such a run has one line, where it lies, and what
  // went wrong on the way.
  bool details = true;
  // What the processes wrote was shown where the text goes: neither the traceback nor the last lines come once more.
  bool output_shown = false;
  bool colour = false;  // of verdicts, for a terminal
};

// report.txt: for people, safe for a terminal, ends with a newline.
std::string ReportText(const Report& report, const ReportView& view = {});

}  // namespace muster
