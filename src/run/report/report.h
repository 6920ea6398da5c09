// The report of a run: what happened, which process failed first and with which evidence, which code and activation
// it ran with, which job it was, and which logs lost their beginning. It is made from the run directory alone, and
// written when the run has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/value.h"
#include "run/directory/job_record.h"
#include "run/directory/process_output.h"
#include "run/directory/usage_history.h"
#include "run/journal/head_facts.h"
#include "run/journal/run_history.h"
#include "run/report/dump_report.h"
#include "run/report/failure_analysis.h"
#include "run/report/failure_fingerprint.h"
#include "run/report/metrics_report.h"
#include "run/report/startup.h"

namespace muster {

// Reports the activation of hosts: which variables it set and removed, and why it failed.
//
// Reads the logs of the activation; values of variables stay in the journal.

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
std::vector<ActivationReport> ReadActivations(const Plan& plan, const RunHistory& history, int folder);

// Lines of report.txt, each ending with a newline: the last lines of failed activations, …
std::string FailedActivationText(const std::vector<ActivationReport>& activations);
// … and the changes made by the others; if there are many hosts, those of the first few.
std::string ActivationText(const std::vector<ActivationReport>& activations);

// Reports on the code of a run.

// "0123456789ab on main, 3 changed or untracked"; empty if the state in git is not known.
std::string GitText(const CodeReport& code);

// Lines of report.txt, each ending with a newline; empty if nothing is known.
std::string CodeText(const CodeReport& code);

// Lists the logs of a run whose beginning was dropped because of a size limit. Depends on the plan, the history and the
// time indexes of the logs.

struct DroppedLog {
  std::string log;          // relative to the run directory
  std::uint64_t bytes = 0;  // dropped from its beginning
  std::uint64_t limit = 0;  // in bytes
  std::string by;           // "collapse-range" or "log-pipe", as reported by the host's agent; empty if unknown
};

// In the order of starts. `run_dir` is a descriptor.
std::vector<DroppedLog> ReadDroppedLogs(const Plan& plan, const RunHistory& history, int run_dir);

// The report's line about dropped logs, or an empty text.
std::string DroppedLogsText(const std::vector<DroppedLog>& dropped);

// What a report says about the job of an engine that the run was submitted as: its attempts, and how their allocations
// ended.

struct JobReport {
  std::string engine;
  std::string job;                   // its id; empty if it is not known
  std::vector<JobAttempt> attempts;  // of the run, oldest first
  std::size_t attempt = 0;           // this one, from 1; 0: no head has begun
  std::string end;             // how the allocation of this attempt ended, if it did before the run: "time_limit", …
  std::string host;            // of its head; of an attempt that lost another one, that one
  std::optional<JobEnd> said;  // by the engine, once the job was over
};

// Nothing for a run that was not submitted.
std::optional<JobReport> MakeJobReport(const std::string& run_dir);

// Why the run had no end: "slurm job 12 was cancelled"; empty if it is not known.
std::string LostText(const JobReport& job);
// The lines of a report: the job, and earlier and later attempts.
std::string JobLines(const JobReport& job);

// The report of a run: what happened, which process failed first and with which evidence, which ended because of it,
// and that no process is left. Made from the files of a run directory alone, so that the same code reports on old and
// active runs, on this machine or on another one to which the folder was copied.

struct AttemptReport {
  std::uint32_t attempt = 0;
  std::string host;
  std::optional<std::int32_t> pid;
  std::string started_at;  // UTC; empty if it was never started
  std::string ended_at;    // UTC; empty if its end was never seen
  std::optional<std::int32_t> exit_code;
  std::string signal;  // "SIGKILL"; empty if no signal ended it
  bool core_dumped = false;
  std::string spawn_stage;  // stage in which its start failed; empty if it did not
  double user_seconds = 0;
  double system_seconds = 0;
  std::uint64_t max_rss_kib = 0;
  std::vector<std::string> evidence;  // location of its core dump, kill for lack of memory
};

struct ProcessReport {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;  // of the plan, or as assigned by its framework and found in its log
  std::string host;                   // of its last attempt
  std::vector<std::string> devices;   // that it was given, by their names on the host
  std::string cores;                  // "0-3"; empty if it has no cores of its own
  std::vector<AttemptReport> attempts;
  // "origin": failed first · "victim": ended because of the origin · "ok": exited with code 0; if the run has an
  // origin, a bystander · "stopped": ended because muster was requested to stop it, or because its work was done ·
  // "lost": its end was not seen · "not_started" · "running"
  std::string verdict;
  std::optional<UsageSummary> usage = {};  // nothing if it was never sampled
};

struct FailureReport {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string ranks_by;  // the framework, if it assigns the ranks; else empty
  std::string host;
  std::optional<std::int32_t> exit_code;
  std::string signal;
  std::string at;  // UTC, on the head's clock
  // Largest error of `at` in seconds, because its host has another clock; empty if the clocks were not compared: then
  // `at` is when the head received the report.
  std::optional<double> at_error;
  std::string spawn_stage;
  std::vector<std::string> last_lines;  // at most kLastLines, safe for a terminal
  std::string log;                      // relative to the run directory
  std::string why;
  double after_seconds = 0;  // since its start
  FailureAnalysis analysis;
};

// How the settled context of one or more processes of a role was applied (docs/python.md). Texts in it were written by
// the launched programs: make them safe before showing them.
struct ContextReport {
  std::string role;
  std::vector<std::uint32_t> indices;  // processes for which all of this holds, ascending
  // "applied" · "overridden": applied, and later partly changed by the script · "unknown": applied, but the process
  // ended before its last values could be read · "never_read": no Python of muster's was started · "never_imported":
  // the script did not import mindspore · "incomplete": the process ended while it was applied · "failed": see `errors`
  // · "unreadable": the record of it cannot be read, see `errors` · "not_wrapped":
  // the script has not called muster_context.parallel(network)
  std::string state;
  std::string release;         // release of the imported package; empty if none was imported, or it states none
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

// A fault that a drill injected.
struct FaultReport {
  FaultInjected fault;
  std::string at;    // UTC
  double after = 0;  // seconds since the beginning of the run
};

// A restart: which process ended, and which processes were restarted for it.
struct RestartReport {
  std::string role;
  std::uint32_t index = 0;
  std::uint32_t attempt = 0;  // the attempt that ended
  std::string scope;          // "process", "role", "job"
  std::uint64_t processes = 0;
  std::string at;  // UTC
  std::string why;
};

// A spare that replaced a lost host.
struct ReplacementReport {
  std::string host;  // the lost host
  std::string by;
  std::string at;   // UTC
  std::string why;  // why the host was lost
};

struct Receipt {
  std::uint64_t started = 0;
  std::uint64_t reaped = 0;
  std::uint64_t left = 0;     // started, and not known to have exited
  std::uint64_t adopted = 0;  // orphans of processes that were killed in addition
  std::vector<std::string> by;
  // Whether the agents of all hosts have reported their end: else `left` is a number of processes about which nothing
  // is known.
  bool attested = true;
  std::vector<std::string> silent_hosts;  // lost without a word: something may be left there
};

// In seconds; 0 for phases that the run did not reach.
struct Timings {
  double plan = 0;     // evaluating and planning
  double connect = 0;  // agents, ports, files
  double spawn = 0;    // from the first ordered start to the last answered one
  double run = 0;      // from then on until the work was done or a failure
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
  std::string parent;  // id of the run whose plan or recipe was used; empty: none
  // The run that this run resumed, and the checkpoint that it continued from.
  struct Resumed {
    std::string run;
    std::string checkpoint;
  };
  std::optional<Resumed> resumed;
  std::vector<std::string> tags;
  std::string note;  // of the user; may have several lines
  std::vector<RoleMetrics> metrics;
  std::string checkpoint;  // the newest one that it is known to have written; empty: none
  // Of a run that was stopped, and asked for a last checkpoint that it did not write: "SIGUSR1 asked for one, …".
  std::string no_checkpoint;
  bool rehearsal = false;
  bool drill = false;
  // "ok", "failed", "stopped", "lost", as in report.json; "running" while a muster process holds the directory.
  std::string outcome;
  std::int32_t exit_code = 0;
  std::string why;               // empty if the run succeeded
  std::optional<JobReport> job;  // that it was submitted as
  std::optional<FailureReport> first_failure;
  CodeReport code;
  std::vector<ActivationReport> activations;
  std::vector<FaultReport> faults;              // in order
  std::vector<RecordedFailure> failures;        // in order
  std::vector<RestartReport> restarts;          // in order
  std::vector<ReplacementReport> replacements;  // in order
  std::vector<ProcessReport> processes;
  std::vector<ContextReport> contexts;  // by role, then by the first index
  std::vector<DumpReport> dumps;        // in order
  std::vector<DroppedLog> dropped_logs;
  // Of a run that did not succeed: what processes left in its directory besides logs and error files.
  std::vector<EvidenceFile> files;
  std::vector<std::string> unreadable_logs;  // "logs/worker.0.0.log: Permission denied": of the last attempts
  Receipt receipt;
  Timings timings;
  Startup startup;
  std::string journal_damage;  // why the journal ends before its file does; empty if it is complete
};

// "asan.4711 (worker.1): AddressSanitizer: …"
std::string FileText(const Report& report, const EvidenceFile& file);

// Reads plan.json, journal.jsonl and the origin's log. Fails with kind "run" if the folder has no plan or no journal
// with a first record; the report states what else is missing or damaged. A journal without its last record belongs to
// a head that was killed: outcome "lost". With `plan`, which must be the one in the folder, plan.json is not read.
Result<Report> MakeReport(const std::string& run_dir, std::shared_ptr<const Plan> plan = nullptr);
// Of a run that was read from there.
Result<Report> MakeReport(const std::string& run_dir, const RecordedRun& run);

// The text of report.json (docs/run_directory.md). With `run_dir`, which is no part of that file because folders are
// moved, also the key of that name.
std::string ReportJson(const Report& report, const std::string& run_dir = {});

// Which parts of a report to show.
struct ReportView {
  // Receipt, timings and start-up also for a run that succeeded; otherwise its report is one line, the path of its
  // directory, and problems along the way.
  bool details = true;
  // With details: timings and start-up, and the receipt also if nothing is left.
  bool times = true;
  // The output of the processes was shown on the same terminal: omits the traceback and the last lines.
  bool output_shown = false;
  bool colour = false;  // colours verdicts, for a terminal
};

// The text of report.txt: safe for a terminal, ends with a newline.
std::string ReportText(const Report& report, const ReportView& view = {});

// Writes the report of a run to files in its directory when the run has ended.

struct ReportFiles {
  std::optional<Report> report;  // empty if the run directory cannot be read back
  Diagnostics problems;          // files that could not be written
};

// Writes report.json and report.txt of the ended run, made from its directory like any other report; `plan` as for
// MakeReport.
ReportFiles WriteReportFiles(int folder, const std::string& run_dir, std::shared_ptr<const Plan> plan = nullptr);

}  // namespace muster
