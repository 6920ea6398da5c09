// What a run looks like on the terminal: muster's own words on stderr, process output on stdout. The only
// file below src/run that uses spdlog.
//
// Knows how things look, decides nothing. Never blocks the loop and never ends the run: what the reader does
// not take yet waits in the log files, which hold everything, and a reader that is gone is not missed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "muster/event.h"
#include "muster/plan.h"
#include "run/console/progress.h"
#include "run/journal/head_facts.h"
#include "run/report/report.h"

namespace muster {

struct ConsoleOptions {
  enum class Colour : std::uint8_t { kAuto, kNever, kAlways };  // kAuto: only on a terminal, and without NO_COLOR

  // --quiet: nothing but failures and, if the run did not end well, the report.
  bool quiet = false;
  // --verbose: the whole report of a run that succeeded, too.
  bool verbose = false;
  Colour colour = Colour::kAuto;
  // --tee: the output of these is shown, quiet or not, however many others there are.
  std::set<ProcessId> tee = {};
  // Who is lent the terminal (--pty): what it writes is shown there, and not once more in lines.
  std::optional<ProcessId> at_terminal = {};
  // Whether to show what processes write, if they are few.
  bool output = true;
  // On a terminal: a row for each role, below everything else, while the run lasts.
  bool progress = false;
  // Where to write; not closed. Output of processes goes to `out`, muster's words to `err`.
  int out = 1;
  int err = 2;

  // Nothing is shown, and no descriptor is touched: for a run among others that somebody else tells of.
  static ConsoleOptions Silent() {
    ConsoleOptions options;
    options.quiet = true;
    options.output = false;
    options.out = options.err = -1;
    return options;
  }
};

// Up to this many processes their output is shown, prefixed; with more, one line per role says how it goes.
inline constexpr std::size_t kMaxShownProcesses = 8;

class Console {
 public:
  // The plan must outlive the console.
  Console(boost::asio::io_context& io, const ConsoleOptions& options, const Plan& plan);
  ~Console();

  void Began(std::string_view run_id, std::string_view plan_id, const std::string& run_dir);
  // Process output is shown from now on, from files in this folder (descriptor and path).
  void Follow(int logs, const std::string& path);
  // If the options ask for it and `err` is a terminal: shows what this gives, when something has happened (at most ten
  // times a second) and once a second for the time. Nothing is shown of a run that is over sooner than it can be read.
  void ShowProgress(std::function<Progress()> progress);
  // Everything that happens, as it happens.
  void Saw(const Event& event);
  void Passed(const LimitPassed& limit);
  void Restarting(const RestartPlanned& restart);
  void Failed(const FirstFailure& failure);
  void Dumping(const DumpOrdered& order);
  // The user asked for an end, for the n-th time; at this terminal, or by another command.
  void Stopping(std::uint32_t times, bool here);
  void Warn(std::string_view text);
  void Print(std::string_view text);
  // The agent of the host of that name.
  void Lost(std::string_view host, std::string_view why);

  // The terminal is another's from now on: what has to be said, and the others' output, waits until it is taken back.
  // (Words for a stderr that is no terminal do not.)
  void LendTerminal(ProcessId process);
  void TakeTerminalBack();
  // Bytes of the process that it is lent to, as they are.
  void ShowLent(std::string_view bytes);
  // The one word of muster's that does not wait: how its user asked for the end.
  void StoppingByKeys(std::uint32_t times);
  // Whether a writer that can wait need not; `shown` is called from the loop when that may have become so.
  bool CanWrite() const;
  void OnShown(std::function<void()> shown);

  // How much of the report is to be shown here.
  ReportView ViewOfReport(bool ended_well) const;
  // Shows what is left of the output, then the report, waits until the readers have taken it and calls `done`
  // from the loop.
  void Finish(std::string report, bool ended_well, std::function<void()> done);
  // The user will not wait for the readers: drop what they have not taken. `done` is still called.
  void Abandon();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster
