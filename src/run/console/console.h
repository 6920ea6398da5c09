// Shows a run on the terminal: muster's own messages on stderr, process output on stdout, and progress as a row for
// each role. The only file below src/run that uses spdlog. Formats and writes text; decides nothing. Never blocks the
// loop and never ends the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/control/control_protocol.h"
#include "run/journal/head_facts.h"
#include "run/report/report.h"
#include "run/supervise/run_process_table.h"
#include "run/supervise/supervisor.h"

namespace muster {

// The progress of a run as a row for each role: shown by `muster run` on a terminal during the run.
//
// Computes the rows from counts and last lines; they are displayed elsewhere (run/loop/output.h).

struct Progress {
  struct Role {
    RoleStatus count;
    std::string last_line;     // of the most informative process, named in it; safe for a terminal, may be empty
    std::string metrics = {};  // the newest, "step 100, loss 0.25"; safe for a terminal, may be empty
  };
  std::string phase;
  double seconds = 0;  // run time so far
  std::vector<Role> roles;
};

// The current progress; logs are read below the run directory, whose descriptor is `run_folder`.
Progress ProgressNow(const Plan& plan, const Supervisor& supervisor, const RunProcessTable& process_table,
                     int run_folder, MonotonicNs began_at, MonotonicNs now);

// A line for each role, at most `most` (at least one), each narrower than `columns`; the last one mentions omitted
// roles.
std::vector<std::string> ProgressRows(const Progress& progress, std::size_t columns, std::size_t most);

// Shows a run on the terminal: muster's own messages on stderr, process output on stdout. The only file below src/run
// that uses spdlog.
//
// Formats and writes text; decides nothing. Never blocks the loop and never ends the run: output that the reader does
// not accept yet stays in the log files, which contain everything, and a missing reader is no error.

struct ConsoleOptions {
  enum class Colour : std::uint8_t { kAuto, kNever, kAlways };  // kAuto: only on a terminal, and without NO_COLOR

  // --quiet: only failures and, if the run failed, the report.
  bool quiet = false;
  // --verbose: the whole report even if the run succeeded.
  bool verbose = false;
  Colour colour = Colour::kAuto;
  // --tee: the output of these processes is always shown, even with `quiet` and among many others.
  std::set<ProcessId> tee = {};
  // The process that has the terminal (--pty): its output is shown there, and not again as lines.
  std::optional<ProcessId> at_terminal = {};
  // Whether to show the output of processes if there are few of them.
  bool output = true;
  // On a terminal: shows a row for each role below all other output during the run.
  bool progress = false;
  // Descriptors to write to; not closed. Output of processes goes to `out`, messages of muster to `err`.
  int out = 1;
  int err = 2;

  // Shows nothing and uses no descriptor: for a run whose progress is reported by other means.
  static ConsoleOptions Silent() {
    ConsoleOptions options;
    options.quiet = true;
    options.output = false;
    options.out = options.err = -1;
    return options;
  }
};

// The output of up to this many processes is shown, with prefixes; for more, one line per role reports the progress.
inline constexpr std::size_t kMaxShownProcesses = 8;

class Console {
 public:
  // The plan must outlive the console.
  Console(boost::asio::io_context& io, const ConsoleOptions& options, const Plan& plan);
  ~Console();

  void Began(std::string_view run_id, std::string_view plan_id, const std::string& run_dir);
  // Shows process output from now on, from files in this folder (descriptor and path). With `elsewhere` other hosts may
  // write them.
  void Follow(int logs, const std::string& path, bool elsewhere = false);
  // If the options request it and `err` is a terminal: shows this progress after events (at most ten times a second)
  // and once a second for the time. Shows nothing for a run that ends before it could be read.
  void ShowProgress(std::function<Progress()> progress);
  // Must be called for every event, when it happens.
  void Saw(const Event& event);
  void Passed(const LimitPassed& limit);
  void Restarting(const RestartPlanned& restart);
  void Failed(const FirstFailure& failure);
  void Dumping(const DumpOrdered& order);
  // The user requested the end for the n-th time, at this terminal, or by another command.
  void Stopping(std::uint32_t times, bool here);
  void Warn(std::string_view text);
  void Print(std::string_view text);
  // `host`: name of the lost agent's host.
  void Lost(std::string_view host, std::string_view why);

  // Lends the terminal to a process: messages, and output of other processes, wait until it is taken back. (If stderr
  // is not a terminal, messages do not wait.)
  void LendTerminal(ProcessId process);
  void TakeTerminalBack();
  // Output of the process that has the terminal, unchanged.
  void ShowLent(std::string_view bytes);
  // The only message of muster that does not wait: the user requested the end.
  void StoppingByKeys(std::uint32_t times);
  // Whether more output can be written without waiting; `shown` is called from the loop when that may have become true.
  bool CanWrite() const;
  void OnShown(std::function<void()> shown);

  // The parts of the report to be shown here.
  ReportView ViewOfReport(bool ended_well) const;
  // Shows the rest of the output, then the report, waits until the readers have accepted them and calls `done` from the
  // loop.
  void Finish(std::string report, bool ended_well, std::function<void()> done);
  // The user does not wait for the readers: drops what they have not accepted. `done` is still called.
  void Abandon();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster
