// A run, from a plan to its report: RunPlan makes the run directory, connects one agent per host, starts
// every process, lets the supervisor decide, journals, shows, and writes the report.
//
// Knows channels and files, not how an agent comes to run (transport/), and neither Lua nor fork.
// Everything happens on one Asio loop in the calling thread and waits for events; nothing is polled.
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
#include "muster/plan.h"
#include "muster/result.h"
#include "muster/site.h"
#include "muster/value.h"
#include "run/console/console.h"
#include "run/directory/device_terms.h"
#include "run/hosts/host_differences.h"
#include "run/loop/run_clock.h"
#include "transport/channel.h"
#include "transport/transport.h"
#include "wire/protocol/inspection_messages.h"

namespace muster {

// What is looked at on several hosts before the first process (docs/hosts.md).
struct Preflight {
  Inspect question;              // the same for all of them (run/hosts/host_question.h)
  std::vector<HostNeeds> needs;  // one per host of the plan, and per spare
  std::string muster;            // version of this program
};

struct RunRequest {
  Plan plan;
  std::string plan_id = {};  // PlanId of it, where that is known already

  // Stored in the run directory so that a RUN can stand for a recipe. Keys of `sources` are paths below
  // recipe/ (relative, '/'-separated, no "." or ".."), values the bytes; `inputs` is the list that
  // `plan --json` shows: it goes into plan.json and inputs.json.
  std::map<std::string, std::string> sources;
  Value inputs = Value(Value::List{});
  // How the sources were evaluated, for inputs.json (cli/options/stored_recipe.h); null for a plan of a file.
  Value evaluation = {};
  // Id of the run whose plan or recipe this one takes; empty: none.
  std::string parent = {};
  // What processes go on from until there is something newer, and whose checkpoint it is; both empty: nothing.
  std::string checkpoint = {};
  std::string resumed = {};  // id of a run
  // Of a trial of a sweep: what fills holes of that kind, and what its processes find (docs/environment.md).
  std::map<std::string, std::string> sweep = {};
  // Words, or NAME=VALUE (run/directory/run_tags.h).
  std::vector<std::string> tags = {};

  // The hosts named by the user, one per Plan::hosts; empty for a run on this machine alone, whose name
  // the agent tells and whose address is 127.0.0.1.
  std::vector<SiteHost> hosts;
  // Hosts besides, each with a number of devices, that take the places of lost ones. Only with `hosts`.
  std::vector<SiteHost> spares;

  DeviceTerms devices = {};

  // What processes inherit ("NAME=value"), where secrets of kind from_env are looked up, and the folder
  // muster was called from (absolute).
  std::vector<std::string> environment;
  std::string cwd;
  // Folders searched for a command's bare name after PATH: the one of the muster program.
  std::vector<std::string> search_dirs;

  // The plan is a rehearsal's (run/start/rehearsal_plan.h): the run is marked as one, is kept below another name, and
  // what preflight finds is told and hinders nothing.
  bool rehearsal = false;

  // Without it hosts are taken as they are. For a run on this machine alone it has no effect.
  std::optional<Preflight> preflight = {};
  // --ship-code: what every host is to have in its cache before anything starts; none: nothing is shipped.
  std::shared_ptr<const CodeTree> code = {};
  // The folder whose state git is asked for beside the start, absolute; empty: it is not.
  std::string code_folder = {};
  // Told once, at the end: hosts that failed by themselves, as the user named them, and why.
  std::function<void(const std::vector<std::pair<std::string, std::string>>&)> on_bad_hosts = {};

  // What says nothing that the rest does not is left out: plan.txt, and the files of the report of a run that ended
  // well
  // (`muster report` does not need them). The head is not looked at for what it holds open, the control socket is there
  // once the run has lasted a second, and nothing waits for the disk: a power cut may cost the end of the journal.
  bool terse = false;
  // A folder, absolute, that holds what `sources` holds: on the same file system its files are linked, not copied.
  std::string linked_sources = {};

  // Where the run directory goes: `run_dir` itself if not empty (--run-dir), else
  // `runs_folder`/<name>/<time>-<id> (see RunsFolder in run/directory/run_directory.h).
  std::string run_dir;
  std::string runs_folder;
  bool for_group = false;  // the group of that folder may read the run directory

  // --pass-exit-code: RunOutcome::exit_code is the first failing process's own code (128+n for signal n).
  bool pass_exit_code = false;

  ConsoleOptions console;

  // --pty: this process has a pseudo-terminal, joined to the user's terminal at descriptor `terminal`. What it writes
  // goes to console.out, which is to be the same terminal.
  std::optional<ProcessId> pty = {};
  int terminal = 0;

  // What the evaluator of the recipe had locked itself down by; empty if there was none. For the journal.
  std::vector<std::string> lockdown;

  // How long evaluating and planning took, and the evaluator's part of that; only for the report's timings.
  std::uint64_t plan_ns = 0;
  std::uint64_t evaluate_ns = 0;

  // Whether SIGINT, SIGTERM and SIGHUP are caught while the run lasts (one that is ignored at the start
  // stays ignored, as nohup wants it), and SIGPIPE ignored.
  bool catch_signals = true;

  // Called from the loop once the processes of the plan have been ordered to start. Not called if it does not come to
  // that.
  std::function<void(const std::string& run_id, const std::string& run_dir)> on_begun;
  // Called from the loop with who holds devices that are waited for, and with an empty text when they are waited for no
  // more.
  std::function<void(const std::string& run_id, const std::string& run_dir, const std::string& holders)> on_wait = {};
  // --detach: the descriptor console.err becomes `head.log` of the run directory as soon as there is one.
  bool keep_words = false;

  // For tests; left empty: the machine's clock and a random run id (12 hex digits).
  std::function<std::unique_ptr<RunClock>(boost::asio::io_context&)> make_clock;
  std::string run_id;
};

struct RunOutcome {
  std::string run_id;
  std::string run_dir;  // absolute
  std::string outcome;  // "ok", "failed", "stopped", "lost": as in report.json
  // What muster has to exit with: 0 ok, 1 a process failed, 3 the machine, 128+n ended by signal n.
  int exit_code = 0;
  std::string why;  // one sentence; empty if it ended well
};

// Runs the plan to its end. Fails, with nothing started, if the plan or the request cannot be run at all:
// Blame::kBusy if the run directory is in use, Blame::kMachine if it cannot be made, Blame::kRecipe for a
// plan that ValidatePlan refuses or a secret whose source is missing. Everything later is an outcome, is
// in the run directory, and was shown on the console.
Result<RunOutcome> RunPlan(const RunRequest& request, Transport& transport);

}  // namespace muster
