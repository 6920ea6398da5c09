// What muster gives an engine and what it answers: the commands of its page with everything filled in, batch scripts,
// the command that holds an allocation; the states of jobs, and why a run inside an allocation ended. Phrases are for
// people; texts of the engine in them are printable. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/allocation.h"
#include "engine/engine_page.h"
#include "engine/engine_settings.h"
#include "muster/result.h"

namespace muster {

// The commands of an engine's page with everything filled in: starting agents, submitting, asking for jobs, cancelling,
// signalling.

// A command, and which variables of the caller are not in its environment (NAME, PREFIX*).
struct EngineCall {
  std::vector<std::string> words;
  std::vector<std::string> clear;
  std::vector<std::string> jobs = {};  // that it is about

  bool operator==(const EngineCall&) const = default;
};

// "NAME=value" without those that `clear` names.
std::vector<std::string> WithoutVariables(std::vector<std::string> environment, std::span<const std::string> clear);

// When to try a command again that failed with this error, if it has been tried for that long: the controller may be
// restarting. Nothing: it will not help, or it was tried for long enough (kAwayTime).
inline constexpr std::chrono::seconds kAwayTime{60};
std::optional<std::chrono::milliseconds> TryAgainAfter(const EnginePage& page, std::string_view error,
                                                       std::chrono::milliseconds tried_for);

// What one start command starts on each of its hosts.
struct StartedAgent {
  std::string agent;                      // absolute path, the same on all hosts
  std::string dial_file;                  // the same
  std::vector<std::string> options = {};  // further words, without blanks
};

// One command that starts `agent --dial dial_file options…` once on each of these hosts, which are some of the
// allocation's. Kind "engine": a host is not in the allocation; or there are options, and the page has no place for
// them.
Result<EngineCall> StartCall(const EnginePage& page, const Allocation& allocation, std::span<const std::string> hosts,
                             const StartedAgent& agent);

// The command that submits a script. `script` is its path; if the page's command takes it on stdin, `on_stdin` is set.
EngineCall SubmitCall(const EnginePage& page, const std::string& script, bool& on_stdin);
// The job's id in what that printed. Kind "engine".
Result<std::string> SubmittedJob(const EnginePage& page, std::string_view output);

// The commands that ask for the states of the jobs by that query of the page: one, or one for each job.
std::vector<EngineCall> QueryCalls(const EnginePage& page, const EngineQuery& query, std::span<const std::string> jobs);
// The same for cancelling, and for sending a signal ("TERM") to the head of each job; none if the engine cannot.
std::vector<EngineCall> CancelCalls(const EnginePage& page, std::span<const std::string> jobs);
std::vector<EngineCall> SignalCalls(const EnginePage& page, std::span<const std::string> jobs,
                                    const std::string& signal);
// The same for returning them to the queue.
std::vector<EngineCall> RequeueCalls(const EnginePage& page, std::span<const std::string> jobs);
// Keeps these hosts from jobs that were requeued. None if the engine cannot.
std::vector<EngineCall> ExcludeCalls(const EnginePage& page, std::span<const std::string> jobs,
                                     std::span<const std::string> hosts);

// The batch script that runs a command of muster inside an allocation of an engine.

struct BatchJob {
  std::string name;                  // of the job
  std::uint32_t nodes = 1;           // of the allocation, spares included
  std::string folder;                // absolute: where the command runs
  std::vector<std::string> command;  // muster and its words
  std::string note;                  // a comment line; may be empty
  std::string output = {};           // the file for what it prints; empty: as the engine does by default
  std::string notice = {};           // the signal that announces the end, instead of the page's, and without its
                                     // warning; empty: those
  std::uint32_t stop_seconds = 0;    // how long the end of the job may take, with its checkpoint; 0: unknown
};

// The script: directives, first those that it always has, then those of the settings in the order of the page's
// options; then `cd` and the command in the place of the shell. The settings must be checked by that page
// (engine_settings.h); the number of nodes is the job's. Kind "format": the command or folder cannot stand in a script
// (a newline, NUL). Those of NoticeOf().
Result<std::string> BatchScript(const EnginePage& page, const EngineSettings& settings, const BatchJob& job);

// The lines of the settings without the directive, in the order of the page's options. Those that are part of another
// line are added to `into`, by its placeholder.
std::vector<std::string> SettingLines(const EnginePage& page, const EngineSettings& settings, std::uint32_t nodes,
                                      std::map<std::string, std::string, std::less<>>& into);

// The name as every engine takes it: other characters than letters, digits, '.', '_' and '-' become '_', and it begins
// with a letter.
std::string BatchJobName(std::string_view name);

// The command that holds an allocation of an engine for as long as a program runs in it, and what that program, `cat`,
// says about the allocation. Pure.

// The page's command with `cat` behind it, which prints the environment inside of the allocation and then what it reads
// at stdin. The allocation ends with its stdin, and so with this process. `nodes` is the number of hosts. Kind "usage":
// a text of `extra` cannot be split into words.
Result<std::vector<std::string>> AllocateWords(const EnginePage& page, const EngineSettings& settings,
                                               const std::string& name, std::uint32_t nodes);

// What is to be written to its stdin at once: it ends the environment.
inline constexpr std::string_view kAfterEnvironment{"\0", 1};

// The variables that it has printed, "NAME=value"; nothing as long as some are missing. `output` is untrusted.
std::optional<std::vector<std::string>> EnvironmentIn(std::string_view output);

// Those that the command has set or changed: not in `before`.
std::vector<std::string> AddedVariables(const std::vector<std::string>& environment,
                                        const std::vector<std::string>& before);

// The id of the job in its error output, which is known while the job is queued; empty if it is not there (yet).
std::string AllocatedJob(const EnginePage& page, std::string_view words);

// The allocation in whose environment that is. Devices are not counted: they are those that were asked for. Kinds of
// ReadAllocation.
Result<Allocation> AllocationOf(const EnginePage& page, const std::vector<std::string>& environment);

// The states of an engine's jobs, from what its commands print.

struct JobStatus {
  JobState state = JobState::kUnknown;
  std::string word;              // the engine's own: "NODE_FAIL"
  std::string reason;            // the engine's own words; may be empty
  std::optional<int> exit_code;  // of an ended job; the number of a signal counts as 128 and it
  std::string hosts;             // the engine's list; may be empty

  bool operator==(const JobStatus&) const = default;
};

// Whether the job is over; kVanished is.
bool IsOver(JobState state);

// What a command of an EngineQuery printed.
struct JobAnswer {
  std::string out;
  std::string err;
  int exit_code = 0;
};

// The status of each of `jobs`, about which the query was asked; kVanished for those that the engine does not know.
// Kind "engine": the engine did not answer, so that nothing is known about the jobs: ask again later. Never fails
// because of a word that the page does not know: such a state is kUnknown.
Result<std::map<std::string, JobStatus>> JobStates(const EnginePage& page, const EngineQuery& query,
                                                   std::span<const std::string> jobs, const JobAnswer& answer);

// How the engine says in the output of a job that it ended it: the last such words. Nothing: it does not.
std::optional<JobState> EndInOutput(const EnginePage& page, std::string_view output);

// What two queries come to: the second, asked later of another source, counts where it knows more.
JobStatus CombinedStatus(const JobStatus& first, const JobStatus& second);

// What an engine knows about the end of a run inside an allocation: the questions to ask it once a host is lost or a
// signal stops the head, and what its answers say.
//
// Phrases are for people; texts of the engine in them are printable. Pure.

// The allocation that a run is in.
struct EngineJob {
  EnginePage page;
  std::string id;
};

struct EngineQuestion {
  EngineCall call;
  // Empty if the answer explains nothing: the host or job is as usual, or the engine did not answer.
  std::function<std::string(const JobAnswer&)> phrase;
  // What the answer says about the end of the job, if it does; may be empty.
  std::function<std::optional<JobState>(const JobAnswer&)> state = {};
};

// About a lost host, and about the job, which may have lost it. The page must outlive the questions.
std::vector<EngineQuestion> QuestionsAboutHost(const EnginePage& page, const std::string& job, const std::string& host);
// About a job whose head got a signal.
std::vector<EngineQuestion> QuestionsAboutStop(const EnginePage& page, const std::string& job);

// About a job whose end the engine has announced: only causes besides its time limit.
std::vector<EngineQuestion> QuestionsAboutNotice(const EnginePage& page, const std::string& job);

// Whether the job is suspended, and what to say then ("slurm job 12 is suspended"); nothing if the engine cannot be
// asked about one job.
std::optional<EngineQuestion> QuestionAboutPause(const EnginePage& page, const std::string& job);

// The answer that a job is being ended, which does not say why: all that some engines say while its head still runs.
std::string EndingPhrase(const EnginePage& page, const std::string& job);

// What the output of the command that started agents says, as far as it explains the end of the job; may be empty.
std::string PhraseOfWords(const EnginePage& page, const std::string& job, std::string_view words);

// The state in which the job ended, as that output says; nothing if it does not.
std::optional<JobState> StateOfWords(const EnginePage& page, std::string_view words);

// Seconds in [[D-]HH:]MM:SS; nothing for other texts ("UNLIMITED").
std::optional<std::uint64_t> SecondsInClock(std::string_view text);

}  // namespace muster
