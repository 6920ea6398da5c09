// The page of an engine: what muster knows of Slurm, PBS, … as data (lua/muster/engines, or a user's own file), and
// the commands with placeholders that it consists of. The other files of this folder use it; docs/engines.md
// describes its fields.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "muster/diagnostic.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// Commands and lines with placeholders, as pages of engines write them: { "scancel", "{each_job}" }.

// Values of placeholders by name.
struct TemplateValues {
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::vector<std::string>, std::less<>> lists;  // a word that is {each_NAME} becomes these words
};

// The names of the placeholders of a word, in order: "{agent}" has agent. "{{" and "}}" stand for braces. The error is
// a phrase: a brace that is not closed, an empty name, a stray '}'.
tl::expected<std::vector<std::string>, std::string> PlaceholdersIn(std::string_view word);

// The word with its placeholders filled. All of them must have a value in `texts`, and the word must be well-formed.
std::string Filled(std::string_view word, const TemplateValues& values);

// The words of a command, filled; a word that consists of one placeholder of `lists` becomes as many words.
std::vector<std::string> FilledCommand(std::span<const std::string> words, const TemplateValues& values);

// The page of an engine: what muster knows of Slurm, PBS, … as data (lua/muster/engines, or a user's own file). The
// other files of this folder use it; docs/engines.md describes its fields.

// The state of a job of an engine.
enum class JobState : std::uint8_t {
  kQueued,
  kRunning,
  kSuspended,
  kEnding,  // it ends; its outcome is not final
  kEnded,   // only its exit code says how; not a state that JobStatus has
  kSucceeded,
  kFailed,
  kCancelled,
  kTimeLimit,
  kPreempted,
  kNodeFailed,
  kOutOfMemory,
  kUnknown,   // the engine does not know at the moment
  kVanished,  // the engine has no record of the job (any more); not a word of pages
};

// "queued", "time_limit", …: the words of pages, and "vanished".
std::string_view JobStateName(JobState state);

// Where a text comes from: one of three.
struct EngineText {
  std::string variable;              // its value
  std::string file;                  // the file whose path this variable holds
  std::vector<std::string> command;  // its output
};

enum class HostListForm : std::uint8_t {
  kCompressed,  // n[01-04,7],login
  kLines,       // the first word of each line
  kWords,       // names, with blanks between them
  kCounts,      // NAME COUNT …, one a line
  kPairs,       // NAME COUNT NAME COUNT
};

struct EngineHosts {
  EngineText text;
  HostListForm form = HostListForm::kLines;
  std::vector<std::string>
      expand;  // prints a compressed {list} that muster cannot expand, one name a line; may be empty
};

// How many tasks the allocation has on each host, where its list of hosts does not say: a variable with numbers in the
// order of the hosts, "4(x2),1".
struct EngineTasks {
  std::string variable;
  std::string asked;  // a variable that is set if its user asked for tasks; else the numbers are those of processors
};

// A command that gets an allocation of its own for the words behind it, and gives it back when they end, or on SIGHUP.
struct EngineAllocate {
  std::vector<std::string> command;  // without those words; empty: the engine has none
  std::string after;                 // the job's id follows this text in its error output
};

// How many devices the allocation has on each host: output with "Nodes=n[1-2] … GRES=gpu:2(IDX:0-1)", as Slurm prints
// it.
struct EngineDevices {
  std::vector<std::string> command;
  std::vector<std::string> kinds;  // names of the generic resources that are devices
};

enum class EngineOptionType : std::uint8_t {
  kText,
  kCount,
  kDuration,
  kFlag,
  kList,
  kTable,
  kRequeue,
  kEachTrial,
  kNotice
};
enum class EngineDuration : std::uint8_t { kDaysClock, kClock, kHoursMinutes, kSeconds };

// One setting of a user for the engine: slurm = { partition = "gpu" }.
struct EngineOption {
  std::string name;
  std::string doc;
  EngineOptionType type = EngineOptionType::kText;
  EngineDuration form = EngineDuration::kSeconds;  // kDuration
  std::string line;                                // of the batch script, with {value}; a flag's without
  std::string into;      // a placeholder of script.always that `line` becomes part of; empty: a line of its own
  bool devices = false;  // it says how many devices a node has: N or KIND:N
  bool tasks = false;    // it says how many tasks a node has
  // Of a page with manifests: where the value goes, {"pod", "priorityClassName"} (engine/manifest.h). Empty: what
  // manifests do with the option is known by its name.
  std::vector<std::string> path;
  std::optional<Value> default_value;
};

// The signal that tells the head of the coming end of the allocation, so long before: where the job does not say how
// long its end takes (BatchJob::stop_seconds), and its user nothing (the option of type "notice").
struct EngineNotice {
  std::string signal;
  std::uint32_t seconds = 0;
  std::string given;  // what a directive of the user that sets it begins with: "--signal"; empty: none is known
};

// The signal that every process of a job gets a while before its engine kills it, for whatever reason.
struct EngineWarning {
  std::string line;                  // of the script: the engine is to send it
  std::string signal;                // the head stops the run
  std::vector<std::string> ignored;  // other signals that come with that line
};

struct EngineScript {
  std::string directive;            // "#SBATCH "
  std::vector<std::string> always;  // lines that every script has
  std::vector<std::string> output;  // lines that send what the script prints to the file {output}
};

// How a job returns to the queue, under the same id, when its allocation ends: by the engine, if it did not end by
// itself, and by a command.
struct EngineRequeue {
  std::string line;                  // of the script: the engine may requeue the job
  std::string otherwise;             // … may not; may be empty
  std::string node_fail;             // of the script, if a lost node is to requeue the job; may be empty
  std::vector<std::string> command;  // requeues a job, also the one that it is called in
  std::vector<std::string> exclude;  // keeps {hosts} from a job that was requeued; may be empty
};

// How a job is submitted and its id found in the output: behind `after`, up to `before`, or else up to a blank.
struct EngineSubmit {
  std::vector<std::string> command;  // without {script} the script comes on stdin
  std::string after;
  std::string before;
};

enum class JobAnswerForm : std::uint8_t {
  kColumns,  // a line for each job
  kPairs,    // a line for each job: Name=value Name=value
  kStanzas,  // several lines for each job: name = value
};
enum class JobField : std::uint8_t { kNone, kJob, kState, kReason, kExit, kHosts };

// A question about the states of jobs. With {job} it is asked for each job, with {jobs} or {each_job} for many at once.
struct EngineQuery {
  std::vector<std::string> command;
  JobAnswerForm form = JobAnswerForm::kColumns;
  std::string separator;                  // kColumns, kStanzas; empty: blanks
  std::vector<JobField> columns;          // kColumns
  std::map<std::string, JobField> names;  // kPairs, kStanzas
  std::string head;                 // kStanzas: begins one and is followed by the job; empty: the name of kJob does
  std::vector<std::string> absent;  // any of these in its error output: it knows none of the jobs
};

// A question about the state of one {host}: a line with the state, and its reason behind the separator.
struct EngineHostQuery {
  std::vector<std::string> command;
  std::string separator;
  std::vector<std::string> usual;  // states of a host that serves its job
};

// A question about one {job} that is to end: its output has a time behind the text `after`, unless that is one of the
// words `unset`.
struct EnginePreemptQuery {
  std::vector<std::string> command;
  std::string after;
  std::vector<std::string> unset;
};

struct EnginePage {
  std::string name;
  std::string doc;
  std::string source;
  std::string tried;  // the real engine that the page was tried with; empty: stand-ins only
  // The engine is asked with a manifest from outside, and there is no batch script: such a page has only the fields
  // above and `options`.
  bool manifest = false;

  std::string inside;  // a variable that is set inside an allocation
  EngineText job;      // its id
  EngineHosts hosts;
  std::optional<EngineTasks> tasks;
  std::optional<EngineDevices> devices;
  std::string node_name;  // a variable of started processes: the engine's name of their host; empty: the host's own
  std::vector<std::string> start;  // one command that starts one agent on each host
  std::vector<std::string> clear;  // NAME, PREFIX*: not in its environment
  std::vector<std::string> own;    // NAME, PREFIX*: of the head's own task, not for the processes of a job

  EngineAllocate allocate;

  std::vector<EngineOption> options;
  std::optional<EngineNotice> notice;
  std::optional<EngineWarning> warning;
  EngineScript script;
  EngineSubmit submit;
  std::vector<std::string> cancel;
  std::vector<std::string> signal;       // {signal} without SIG; empty: the engine has no such command
  std::vector<EngineQuery> queries;      // least load on the scheduler first
  std::optional<EngineRequeue> requeue;  // none: the engine cannot
  std::vector<std::string> query_clear;  // NAME, PREFIX*: not in the environment of any question
  std::vector<std::string> away;         // in the errors of commands whose controller does not answer: it may restart
  std::vector<std::string> never;        // reasons of queued jobs that cannot start as they were requested
  // For reports of runs that a host or the engine ended:
  std::optional<EngineHostQuery> host_query;
  std::optional<EnginePreemptQuery> preempted;           // what says that a job is being preempted, in its grace time
  std::vector<std::string> time_left;                    // prints the time that is left of a {job}: [[D-]HH:]MM:SS
  std::vector<std::pair<std::string, JobState>> aborts;  // texts of the start command, and what they mean; in order

  JobState ending = JobState::kEnding;      // what ends a job in that state, if nothing else is known; kEnding: unknown
  std::map<std::string, JobState> states;   // by the engine's word
  std::map<std::string, JobState> reasons;  // of jobs that failed: by the first word of the reason
  std::map<std::string, JobState> exits;    // of jobs that failed: by the exit code as it is printed
  bool exit_has_signal = false;             // exit codes are CODE:SIGNAL
  std::uint32_t signal_base = 128;          // otherwise a code above it is a signal's number and this

  const EngineOption* FindOption(std::string_view option) const;
};

// The page that a file returned. `file` is named in diagnostics; `lines` has the lines of its keys by path
// (SiteFileTable), and may be empty. All problems at once: kinds "unknown_key", "type", "enum", "missing", "format".
Result<EnginePage> ReadEnginePage(const Value& table, const std::string& file,
                                  const std::map<std::string, std::uint32_t>& lines);

}  // namespace muster
