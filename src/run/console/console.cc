#include "run/console/console.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "metrics/metric_history.h"
#include "plan/text/plan_text.h"
#include "run/directory/process_output.h"
#include "run/logs/log_follower.h"
#include "run/loop/output.h"
#include "run/report/metrics_report.h"

namespace muster {
namespace {

std::string LastLineOf(const Plan& plan, ProcessId process, std::uint32_t attempt, int run_folder) {
  constexpr std::size_t kWindow = 4U << 10;
  std::vector<std::string> lines = LastLines(run_folder, LogPath(plan, process, attempt), 1, kWindow);
  return lines.empty() ? std::string() : std::move(lines.back());
}

// The last metrics reported by the first process of the role.
std::string NewestMetrics(const Plan& plan, const Supervisor& supervisor, std::uint32_t role, int run_folder) {
  const auto first = std::find_if(plan.processes.begin(), plan.processes.end(),
                                  [role](const Process& process) { return process.role == role; });
  if (first == plan.processes.end()) return {};
  const auto id = static_cast<ProcessId>(first - plan.processes.begin());
  const auto values = NewestReport(run_folder, MetricsPath(plan, id, supervisor.attempt(id)));
  return values ? MetricsText(*values) : std::string();
}

std::string RoleRow(const Progress::Role& role, const Progress& progress, std::size_t name_columns) {
  const RoleStatus& count = role.count;
  std::string row = fmt::format("{}  {} running", InColumns(count.name, name_columns), count.running);
  if (count.waiting > 0) row += fmt::format(", {} waiting", count.waiting);
  if (count.ended > 0) row += fmt::format(", {} ended", count.ended);
  if (count.restarts > 0) row += ", " + Counted(count.restarts, "restart");
  row += fmt::format("  {}", DurationText(progress.seconds));
  if (progress.phase != "running") row += " " + progress.phase;
  if (!role.metrics.empty()) row += "  " + role.metrics;
  if (!role.last_line.empty()) row += "  " + role.last_line;
  return row;
}

}  // namespace

Progress ProgressNow(const Plan& plan, const Supervisor& supervisor, const RunProcessTable& process_table,
                     int run_folder, MonotonicNs began_at, MonotonicNs now) {
  Progress progress;
  progress.phase = PhaseName(supervisor.phase());
  progress.seconds = InSeconds(now - began_at);
  for (RoleStatus& status : RoleStatuses(plan, supervisor)) {
    const auto role = static_cast<std::uint32_t>(progress.roles.size());
    Progress::Role& shown = progress.roles.emplace_back();
    shown.count = std::move(status);
    shown.metrics = NewestMetrics(plan, supervisor, role, run_folder);
    const auto strongest = process_table.StrongestOutlier(plan, supervisor, role);
    if (!strongest) continue;
    const std::string line = LastLineOf(plan, *strongest, supervisor.attempt(*strongest), run_folder);
    if (!line.empty()) shown.last_line = ProcessName(plan, plan.processes[*strongest]) + ": " + line;
  }
  return progress;
}

std::vector<std::string> ProgressRows(const Progress& progress, std::size_t columns, std::size_t most) {
  // A character in the last column would make some terminals wrap.
  const std::size_t room = columns > 1 ? columns - 1 : 1;
  std::size_t name_columns = 0;
  for (const Progress::Role& role : progress.roles) name_columns = std::max(name_columns, Columns(role.count.name));
  std::vector<std::string> rows;
  for (const Progress::Role& role : progress.roles) {
    std::string row = RoleRow(role, progress, std::min(name_columns, room / 3));
    const std::size_t left = progress.roles.size() - rows.size();
    if (rows.size() + 1 >= most && left > 1) row = fmt::format("… and {} more roles", left);
    row = InColumns(row, room);
    rows.push_back(row.substr(0, row.find_last_not_of(' ') + 1));
    if (rows.size() >= most) break;
  }
  return rows;
}

namespace {

// A sink with spdlog's formatting and levels that writes without blocking.
class OutputSink final : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  static constexpr std::size_t kMaxHeld = 64U << 10;

  OutputSink(Output& output, bool colour) : output_(output), colour_(colour) { set_pattern_("%^muster:%$ %v"); }

  // Messages wait; if there are very many, the first ones are kept, since they show what happened first.
  void Hold() { held_.emplace(); }
  void Release() {
    if (const std::optional<std::string> held = std::exchange(held_, std::nullopt)) output_.Write(*held);
    if (const std::size_t missed = std::exchange(missed_, 0); missed > 0) {
      log(spdlog::details::log_msg({}, spdlog::level::warn, fmt::format("… and {} lines more", missed)));
    }
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    std::string line(text.data(), text.size());
    if (colour_ && message.color_range_end > message.color_range_start) {
      line.insert(message.color_range_end, "\x1b[0m");
      line.insert(message.color_range_start, message.level >= spdlog::level::err    ? "\x1b[1;31m"
                                             : message.level >= spdlog::level::warn ? "\x1b[1;33m"
                                                                                    : "\x1b[1;36m");
    }
    line = FittedLines(line, output_.columns());
    if (!held_) {
      output_.Write(line);
    } else if (held_->size() + line.size() <= kMaxHeld) {
      *held_ += line;
    } else {
      ++missed_;
    }
  }
  void flush_() override {}

  Output& output_;
  bool colour_;
  std::optional<std::string> held_;
  std::size_t missed_ = 0;
};

bool Coloured(ConsoleOptions::Colour colour, const Output& output) {
  if (colour != ConsoleOptions::Colour::kAuto) return colour == ConsoleOptions::Colour::kAlways;
  return output.is_terminal() && std::getenv("NO_COLOR") == nullptr;
}

bool SameTerminal(int one, int other) {
  struct stat a {};
  struct stat b {};
  return ::isatty(one) == 1 && ::isatty(other) == 1 && ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 &&
         a.st_rdev == b.st_rdev;
}

// Whether both write to the same terminal, pipe or file.
bool GoTogether(int one, int other) {
  struct stat a {};
  struct stat b {};
  return SameTerminal(one, other) ||
         (::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

}  // namespace

class Console::Impl {
 public:
  Impl(boost::asio::io_context& loop, const ConsoleOptions& options, const Plan& run_plan)
      : io(loop),
        plan(run_plan),
        quiet(options.quiet),
        tee(options.tee),
        at_terminal(options.at_terminal),
        output(options.output),
        out_fd(loop, options.out),
        err(loop, options.err),
        out(options.progress && SameTerminal(options.out, options.err) ? err : out_fd),
        words(std::make_shared<OutputSink>(err, Coloured(options.colour, err))),
        logger("muster", words),
        colour(Coloured(options.colour, err)),
        verbose(options.verbose),
        together(GoTogether(options.out, options.err)),
        roles(plan.roles.size()),
        progress_rows(loop, err, options.progress && err.is_terminal()) {
    if (quiet) logger.set_level(spdlog::level::warn);
    for (const Process& process : plan.processes) ++roles[process.role].processes;
    if (ShowsAll() || !tee.empty()) follower = std::make_unique<LogFollower>(io, out);
    err.OnProgress([this] { CheckDrained(); });
  }

  bool ShowsAll() const { return !quiet && output && plan.processes.size() <= kMaxShownProcesses; }
  std::string Name(ProcessId process) const {
    return process < plan.processes.size() ? ProcessName(plan, plan.processes[process])
                                           : fmt::format("process {}", process);
  }

  void Started(const ProcessStarted& event);
  void Ended(ProcessId process, bool well);
  void StartsAgain(ProcessId process);
  void CheckDrained();

  struct RoleCount {
    std::uint32_t processes = 0;
    std::uint32_t started = 0;
    std::uint32_t ended = 0;
    std::uint32_t badly = 0;
    std::uint32_t stopped = 0;  // after the job had failed, or its stop was requested
  };

  boost::asio::io_context& io;
  const Plan& plan;
  bool quiet;
  std::set<ProcessId> tee;
  std::optional<ProcessId> at_terminal;
  bool output;
  Output out_fd;
  Output err;
  Output& out;  // for both if they are one terminal, so that the rows below are removed in time
  std::shared_ptr<OutputSink> words;
  spdlog::logger logger;
  bool colour;
  bool verbose;
  bool together;  // process output appears at the same place as the report
  std::unique_ptr<LogFollower> follower;
  std::vector<RoleCount> roles;
  ProgressDisplay progress_rows;
  std::string failure;  // how the current process failed
  bool ending = false;  // the job has failed, or its stop was requested
  bool lent = false;
  char last_lent = '\n';
  bool draining = false;
  std::function<void()> done;
};

void Console::Impl::Started(const ProcessStarted& event) {
  if (event.process >= plan.processes.size()) return;
  const std::uint32_t role = plan.processes[event.process].role;
  if (event.process != at_terminal && (ShowsAll() || tee.contains(event.process))) {
    const std::string path = LogPath(plan, event.process, event.attempt);
    follower->Add(path.substr(path.find('/') + 1), Name(event.process));
  }
  if (ShowsAll()) return;
  if (++roles[role].started == roles[role].processes) {
    logger.info("{}: {} started", plan.roles[role].name, roles[role].started);
  }
}

void Console::Impl::Ended(ProcessId process, bool well) {
  if (process >= plan.processes.size() || ShowsAll()) return;
  const std::uint32_t role = plan.processes[process].role;
  RoleCount& count = roles[role];
  if (!well) ++(ending ? count.stopped : count.badly);
  if (++count.ended != count.processes) return;
  std::string ends;
  for (const auto& [number, end] : {std::pair{count.ended - count.badly - count.stopped, "succeeded"},
                                    std::pair{count.badly, "failed"}, std::pair{count.stopped, "stopped"}}) {
    if (number > 0) ends += fmt::format("{}{} {}", ends.empty() ? "" : ", ", number, end);
  }
  logger.info("{}: {}", plan.roles[role].name, ends);
}

// Its role is announced again once all of its processes have started or ended.
void Console::Impl::StartsAgain(ProcessId process) {
  if (process >= plan.processes.size() || ShowsAll()) return;
  RoleCount& count = roles[plan.processes[process].role];
  if (count.started > 0) --count.started;
  if (count.ended > 0) --count.ended;
}

void Console::Impl::CheckDrained() {
  if (draining && out.empty() && err.empty() && done) boost::asio::post(io, std::exchange(done, nullptr));
}

Console::Console(boost::asio::io_context& io, const ConsoleOptions& options, const Plan& plan)
    : impl_(std::make_unique<Impl>(io, options, plan)) {}

Console::~Console() = default;

void Console::Began(std::string_view run_id, std::string_view plan_id, const std::string& run_dir) {
  impl_->logger.info("{}: run {}, plan {}, {}", Printable(impl_->plan.name), run_id, ShortPlanId(plan_id),
                     Counted(impl_->plan.processes.size(), "process", "processes"));
  impl_->logger.info("in {}", Printable(run_dir));
}

void Console::Follow(int logs, const std::string& path, bool elsewhere) {
  if (!impl_->follower) return;
  if (const Result<void> watched = impl_->follower->Watch(logs, path); !watched) {
    Warn(watched.error().front().message);
  } else if (elsewhere) {
    impl_->follower->LookToo();
  }
}

void Console::ShowProgress(std::function<Progress()> progress) {
  impl_->progress_rows.Begin([progress = std::move(progress)](std::size_t columns, std::size_t most) {
    return ProgressRows(progress(), columns, most);
  });
}

void Console::Saw(const Event& event) {
  Impl& impl = *impl_;
  impl.progress_rows.Changed();
  std::visit(Overloaded{
                 [&](const ProcessStarted& e) { impl.Started(e); },
                 [&](const SpawnFailed& e) {
                   impl.failure = EndingText(e);
                   impl.Ended(e.process, false);
                 },
                 [&](const ProcessExited& e) {
                   impl.failure = EndingText(impl.plan, e);
                   impl.Ended(e.process, !e.signalled && e.code == 0);
                 },
                 [](const auto&) {},  // what else is worth a line has a function of its own, as Warn
             },
             event);
}

void Console::Passed(const LimitPassed& limit) { impl_->failure = EndingText(limit); }

void Console::Restarting(const RestartPlanned& restart) {
  Impl& impl = *impl_;
  impl.logger.warn(
      "{}: starting {} again{} (restart {} of at most {})", Printable(restart.why),
      restart.processes.size() == 1 ? std::string("it")
      : restart.scope == "process"  // several processes of a lost host
          ? fmt::format("{} processes", restart.processes.size())
          : fmt::format("all {} processes of its {}", restart.processes.size(), restart.scope),
      restart.delay_ms == 0 ? "" : fmt::format(" in {}", DurationText(static_cast<double>(restart.delay_ms) / 1000)),
      restart.count, restart.max);
  for (const ProcessId process : restart.processes) impl.StartsAgain(process);
}

namespace {
constexpr std::string_view kNotStarted = "could not be started";
}

// The report, which follows as soon as the other processes have ended, says why.
void Console::Failed(const FirstFailure& failure) {
  impl_->ending = true;
  const std::string& why = impl_->failure;
  impl_->logger.error("{} {}", impl_->Name(failure.process), why.starts_with(kNotStarted) ? kNotStarted : why);
}

void Console::Dumping(const DumpOrdered& order) {
  impl_->logger.warn("{}taking a dump of all processes (dump {}) …",
                     order.why == "silent"       ? "a role is silent; "
                     : order.why == "silent_job" ? "the job is silent; "
                                                 : "",
                     order.dump);
}

void Console::Stopping(std::uint32_t times, bool here) {
  impl_->ending = true;
  if (times <= 1) {
    impl_->logger.warn("stopping … ({})", here ? "Ctrl-C again to kill at once" : "requested by muster stop");
  } else {
    impl_->logger.warn("killing at once");
  }
}

void Console::LendTerminal(ProcessId process) {
  Impl& impl = *impl_;
  impl.logger.info("{} has the terminal now and gets Ctrl-C; Ctrl-] three times, or muster stop, ends the run",
                   impl.Name(process));
  impl.lent = true;
  impl.last_lent = '\n';
  impl.progress_rows.Hold();
  if (impl.follower) impl.follower->Hold();
  if (impl.err.is_terminal()) impl.words->Hold();
}

void Console::TakeTerminalBack() {
  Impl& impl = *impl_;
  if (!std::exchange(impl.lent, false)) return;
  if (impl.last_lent != '\n') impl.out.Write("\r\n");
  impl.words->Release();
  if (impl.follower) impl.follower->Release();
  impl.progress_rows.Release();
}

void Console::ShowLent(std::string_view bytes) {
  if (bytes.empty()) return;
  impl_->last_lent = bytes.back();
  impl_->out.Write(bytes);
}

void Console::StoppingByKeys(std::uint32_t times) {
  ShowLent(times <= 1 ? "\r\nmuster: stopping … (Ctrl-] three times again to kill at once)\r\n"
                      : "\r\nmuster: killing at once\r\n");
}

bool Console::CanWrite() const { return impl_->out.room(); }

void Console::OnShown(std::function<void()> shown) { impl_->out.OnProgress(std::move(shown)); }

void Console::Print(std::string_view text) { impl_->logger.info("{}", Printable(text)); }

void Console::Lost(std::string_view host, std::string_view why) {
  impl_->progress_rows.Changed();
  impl_->logger.error("the agent of {} was lost: {}", Printable(host), Printable(why));
}

void Console::Warn(std::string_view text) { impl_->logger.warn("{}", Printable(text)); }

ReportView Console::ViewOfReport(bool ended_well) const {
  return {.details = !ended_well || impl_->verbose,
          .times = impl_->verbose,
          .output_shown = impl_->ShowsAll() && impl_->together,
          .colour = impl_->colour};
}

void Console::Finish(std::string report, bool ended_well, std::function<void()> done) {
  Impl& impl = *impl_;
  impl.done = std::move(done);
  TakeTerminalBack();
  impl.progress_rows.End();
  const auto show_report = [&impl, report = std::move(report), ended_well] {
    if (!impl.quiet || !ended_well) impl.err.Write(FittedLines(report, impl.err.columns()));
    impl.out.OnProgress([&impl] { impl.CheckDrained(); });
    impl.draining = true;
    impl.CheckDrained();
  };
  if (impl.follower) {
    impl.follower->Finish(show_report);
  } else {
    show_report();
  }
}

void Console::Abandon() {
  impl_->out.Abandon();
  impl_->err.Abandon();
  if (impl_->follower) impl_->follower->Stop();
  impl_->CheckDrained();
}

}  // namespace muster
