// muster watch: follows a run or a sweep until its end.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/jobs/follow_job.h"
#include "cli/lookup/run_argument.h"
#include "run/console/watch.h"
#include "sweep/watch/watch_sweep.h"

namespace muster {
namespace {

struct WatchOptions {
  std::string run;
  bool json = false;
  bool verbose = false;
};

bool HasRows() {
  const char* terminal = std::getenv("TERM");
  return terminal != nullptr && std::string_view(terminal) != "dumb";
}

// Follows a submitted run through the queue and all of its attempts from this one on; nothing for other runs.
std::optional<int> WatchSubmitted(const NamedRunOrSweep& work, const ConsoleOptions& console, bool json) {
  if (work.is_sweep) return std::nullopt;
  const auto job = FindJobOfRun(work.folder);
  if (!job || !*job) return std::nullopt;
  const auto attempts = ReadAttempts((*job)->first_dir);
  const auto own = std::find_if(attempts.begin(), attempts.end(),
                                [&](const JobAttempt& each) { return each.run_dir == work.folder; });
  return FollowJob(**job, static_cast<std::size_t>(own == attempts.end() ? 0 : own - attempts.begin()),
                   {.console = console, .json = json, .interrupt_stops = false});
}

int RunWatch(const WatchOptions& options) {
  const auto work = FindRunOrSweep(options.run, DirectoryUse::kRead, Prefer::kNewest);
  if (!work) return Refuse(work.error());
  ConsoleOptions console;
  console.output = false;
  console.progress = HasRows();
  console.verbose = options.verbose;
  if (const auto code = WatchSubmitted(*work, console, options.json)) return *code;
  const Result<int> code = work->is_sweep ? WatchSweep(work->folder, {.json = options.json, .progress = HasRows()})
                                          : WatchRun(work->folder, console, options.json);
  if (code) return *code;
  return Refuse(code.error(), false);  // lines of the journal may have been printed
}

}  // namespace

std::function<int()> SetupWatch(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<WatchOptions>();
  AddRunOrSweepArgument(app, options->run);
  app.add_flag("--json", options->json, "print the lines of the journal, as they are written, for programs");
  app.add_flag("--verbose,-v", options->verbose, "print the whole report at the end: receipt, times, start-up");
  return [options] { return RunWatch(*options); };
}

}  // namespace muster
