// Runs a plan, from the run directory to the report: RunPlan creates the directory, connects one agent per host, starts
// every process, carries out the supervisor's decisions, writes the journal, shows the progress, and writes the report.
//
// Uses channels and files; how agents are started is the transport's concern (transport/). Independent of Lua; does not
// fork. Everything happens on one Asio loop in the calling thread and waits for events, without polling.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "code/tree.h"
#include "engine/engine_page.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"
#include "run/console/console.h"
#include "run/hosts/host_differences.h"
#include "run/hosts/host_history.h"
#include "run/session/run_clock.h"
#include "run/start/start_specs.h"
#include "run/supervise/verdict.h"
#include "transport/transport.h"
#include "wire/protocol/protocol.h"

namespace muster {

struct EngineJob;  // engine/engine_calls.h

// The checks of several hosts before the first process (docs/hosts.md).
struct Preflight {
  Inspect question;              // the same for all hosts (run/hosts/host_differences.h)
  std::vector<HostNeeds> needs;  // one per host of the plan, and per spare
  std::string muster;            // version of this program
};

struct RunRequest {
  Plan plan;
  std::string plan_id = {};  // PlanId of the plan, if already known

  // Stored in the run directory so that a RUN argument can be used as a recipe. Keys of `sources` are paths below
  // recipe/ (relative, '/'-separated, no "." or ".."), values the contents; `inputs` is the list that `plan --json`
  // shows: it is stored in plan.json and inputs.json.
  std::map<std::string, std::string> sources;
  Value inputs = Value(Value::List{});
  // How the sources were evaluated, for inputs.json (cli/lookup/known_recipe.h); null if the plan came from a file.
  Value evaluation = {};
  // Id of the run whose plan or recipe is used; empty: none.
  std::string parent = {};
  // The checkpoint from which processes continue until there is a newer one, and the run that wrote it; both empty:
  // none.
  std::string checkpoint = {};
  std::string resumed = {};  // id of a run
  // For a trial of a sweep: values of such placeholders, and variables of its processes (docs/environment.md).
  std::map<std::string, std::string> sweep = {};
  // Words, or NAME=VALUE (run/directory/run_tags.h).
  std::vector<std::string> tags = {};
  std::string note = {};  // run/directory/run_tags.h

  // The hosts named by the user, one per Plan::hosts; empty for a run on this machine alone, whose name the agent
  // reports and whose address is 127.0.0.1.
  std::vector<SiteHost> hosts;
  // Additional hosts, each with a number of devices, that replace lost ones. Only with `hosts`.
  std::vector<SiteHost> spares;

  // The engine's job in whose allocation the hosts are; null outside of one. The engine is asked once why a host was
  // lost, or why a signal stops the head.
  std::shared_ptr<const EngineJob> engine = {};

  DeviceTerms devices = {};

  // The environment that processes inherit ("NAME=value") and that contains secrets of kind from_env, and the folder in
  // which muster was called (absolute).
  std::vector<std::string> environment;
  // Hosts have environments of their own (containers of pods): processes inherit those, and nothing of `environment`.
  bool hosts_have_environment = false;
  std::string cwd;
  // Folders in which a command's bare name is searched after PATH: that of the muster program.
  std::vector<std::string> search_dirs;

  // The plan is a rehearsal's (run/start/rehearsal_plan.h): the run is marked as one and stored below another name, and
  // findings of preflight are only reported.
  bool rehearsal = false;
  // Faults will be injected: the run is marked as a drill.
  bool drill = false;

  // If empty, hosts are not checked. Ignored for a run on this machine alone.
  std::optional<Preflight> preflight = {};
  // --ship-code: the code that every host must have in its cache before processes start; null: none is shipped.
  std::shared_ptr<const CodeTree> code = {};
  // The folder whose state is queried from git in parallel with the start, absolute; empty: no query.
  std::string code_folder = {};
  // Called once, at the end: hosts that failed by themselves, by the names given by the user, with reasons.
  std::function<void(const std::vector<std::pair<std::string, std::string>>&)> on_bad_hosts = {};

  // Called once, at the end of a run that was not terse, and of which a report could be made: all hosts that it had,
  // with the failures that happened first there.
  std::function<void(const std::vector<HostUse>&)> on_used_hosts = {};

  // Omits files that duplicate others: plan.txt, and the report's files of a run that succeeded
  // (`muster report` does not need them). Also omits the resource usage of the head, creates the
  // control socket only after a second, and does not sync: a power failure may lose the end of the
  // journal.
  bool terse = false;
  // A folder, absolute, with the same files as `sources`: on the same file system they are hard-linked, not copied.
  std::string linked_sources = {};
  // A folder of the sweep, absolute, for the copy of muster's Python packages that its trials share; empty: the run has
  // its own.
  std::string shared_python = {};

  // The run directory: `run_dir` itself if not empty (--run-dir), else `runs_folder`/<name>/<time>-<id> (see RunsFolder
  // in run/directory/run_directory.h).
  std::string run_dir;
  std::string runs_folder;
  std::vector<VerdictRule> verdict_rules = DefaultVerdictRules();
  bool for_group = false;  // the group of that folder may read the run directory
  // `run_dir` exists already and has the files that define the run, from its submission to an engine: only the plan is
  // written again, with the hosts of the allocation.
  bool submitted = false;

  // --pass-exit-code: RunOutcome::exit_code is the exit code of the process that failed first (128+n for signal n).
  bool pass_exit_code = false;

  ConsoleOptions console;

  // --pty: this process gets a pseudo-terminal, connected to the user's terminal at descriptor `terminal`. Its output
  // is written to console.out, which must be the same terminal.
  std::optional<ProcessId> pty = {};
  int terminal = 0;

  // Mechanisms of the evaluator's sandbox; empty if no evaluator ran. For the journal.
  std::vector<std::string> lockdown;

  // Duration of evaluation and planning, and the evaluator's part of it; only for the report's timings.
  std::uint64_t plan_ns = 0;
  std::uint64_t evaluate_ns = 0;

  // Whether SIGINT, SIGTERM and SIGHUP are caught during the run (a signal that is ignored at the start stays ignored,
  // as nohup requires), and SIGPIPE is ignored.
  bool catch_signals = true;
  // The signal by which an engine announces the end of the allocation, and what it announces; 0: there is none. It
  // stops the run as SIGTERM does, and `on_announced` is called.
  int notice_signal = 0;
  std::string notice;
  std::function<void()> on_announced = {};
  // The signal by which an engine warns every process of its job before it kills them (EngineWarning), and others that
  // have no meaning for this process; 0: there is none.
  int warning_signal = 0;
  std::vector<int> ignored_signals = {};

  // Called from the loop once, when every process whose start was ordered has started; not called if that never
  // happens, such as after a start that failed.
  std::function<void(const std::string& run_id, const std::string& run_dir)> on_begun;
  // Called from the loop with the holders of devices that the run waits for, and with an empty text when the wait is
  // over.
  std::function<void(const std::string& run_id, const std::string& run_dir, const std::string& holders)> on_wait = {};
  // --detach: redirects the descriptor console.err to `head.log` of the run directory once that exists.
  bool keep_words = false;

  // Called once the run directory exists and is locked, before its files are written.
  std::function<void(const std::string& run_id, const std::string& run_dir)> on_directory = {};

  // If empty, the system's clock and a random run id (12 hex digits) are used; `make_clock` is for tests.
  std::function<std::unique_ptr<RunClock>(boost::asio::io_context&)> make_clock;
  std::string run_id;
};

struct RunOutcome {
  std::string run_id;
  std::string run_dir;  // absolute
  std::string outcome;  // "ok", "failed", "stopped", "lost": as in report.json
  // muster's exit code: 0 ok, 1 a process failed, 3 caused by the machine, 128+n ended by signal n.
  int exit_code = 0;
  std::string why;  // one sentence; empty if the run succeeded
  // How the engine's job ended, as the engine or the commands that started the agents said; nothing if they did not.
  std::optional<JobState> job_end = {};
  // The run was stopped because the engine has signalled its agents.
  bool stopped_by_engine = false;
  // The host that was lost without a word: it may have lost its power or its network. Empty: there was none.
  std::string unheard_host = {};
};

// Runs the plan to its end. Fails, without having started a process of the plan, if the plan or the request cannot be
// run at all: Blame::kBusy if the run directory is in use, Blame::kMachine if it cannot be created, Blame::kRecipe for
// a plan that ValidatePlan refuses or a secret whose source is missing. Later failures are outcomes: they are in the
// run directory, and were shown on the console.
Result<RunOutcome> RunPlan(const RunRequest& request, Transport& transport);

}  // namespace muster
