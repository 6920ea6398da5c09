// muster logs: prints the output of a run's processes, or of a sweep's trials, safe for a terminal unless --raw is
// given.
//
// Handles options and the order of output; src/run/logs finds, merges and follows the
// logs.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/private_files.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/jobs/follow_job.h"
#include "cli/jobs/job_of_run.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_facts.h"
#include "cli/lookup/run_list.h"
#include "run/directory/process_output.h"
#include "run/directory/run_directory.h"
#include "run/logs/log_choice.h"
#include "run/logs/log_follower.h"
#include "run/report/report.h"
#include "sweep/watch/sweep_snapshot.h"
#include "sweep/watch/watch_sweep.h"
#include "wire/files/log_bytes.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

struct LogsOptions {
  std::string run;
  LogFilter filter;
  std::string ranks;
  std::string grep;
  std::string since;
  std::optional<std::uint64_t> tail;
  bool follow = false;
  bool merge = false;
  bool raw = false;
};

using Keeps = std::function<bool(std::string_view line)>;

// The resolved options and run.
struct View {
  std::string run_dir;
  LogChoice choice;
  UniqueFd folder;  // logs/
  std::vector<LogFile> logs;
  Keeps keeps;  // empty: everything
  bool prefixed = false;
  std::string prefix;  // before the prefix of each process
  bool live = false;
};

// `prefix`: before the prefix of each process.
Result<View> MakeView(LogsOptions& options, const std::string& run_dir, const std::string& prefix = {}) {
  View view;
  view.prefix = prefix;
  if (!options.ranks.empty()) {
    options.filter.ranks = RankSet::Parse(options.ranks);
    if (!options.filter.ranks) {
      return Fail(Error("usage", {}, fmt::format("--rank {}: these are no ranks", Quoted(options.ranks)),
                        "for example --rank 0-3,7"));
    }
  }
  if (!options.grep.empty()) {
    auto search = LineSearch(options.grep);
    if (!search) return Fail(std::move(search.error()));
    view.keeps = *std::move(search);
  }
  view.run_dir = run_dir;
  const auto report = MakeReport(view.run_dir);
  if (!report) return Fail(report.error());
  view.live = report->outcome == "running";
  auto choice = LogChoice::Of(*report, options.filter);
  if (!choice) return Fail(std::move(choice.error()));
  view.choice = *std::move(choice);
  auto folder = OpenFolder(AT_FDCWD, kLogsEntry.In(view.run_dir));
  if (!folder) return Fail(std::move(folder.error()));
  view.folder = *std::move(folder);
  view.logs = view.choice.In(kLogsEntry.In(view.run_dir));
  if (view.logs.empty() && options.filter.attempt && !(options.follow && view.live)) {
    return Fail(Error("logs", {}, fmt::format("no chosen process has a log of attempt {}", *options.filter.attempt),
                      "attempts count from 0; muster report shows restarts"));
  }
  view.prefixed = !options.raw && (!prefix.empty() || view.logs.size() > 1 || view.choice.processes() > 1);
  return view;
}

// --- start positions ---------------------------------------------------------------------------

// The time of --since. For a run that is over, relative to the last time in the chosen logs, else to now.
Result<std::uint64_t> Since(const std::string& since, const View& view) {
  if (const auto utc = ParseUtc(since)) return *utc;
  const auto seconds = ParseDuration(since);
  if (!seconds) {
    return Fail(Error("usage", {}, fmt::format("--since {}: this is neither a duration nor a time", Quoted(since)),
                      DurationHint(since, "5m before the end, or 2026-11-21T20:15:00Z")));
  }
  std::uint64_t end = 0;
  for (const LogFile& log : view.logs) {
    if (auto times = LogTimeReader::Open(view.folder.get(), log.name)) end = std::max(end, times->End());
  }
  if (view.live) end = WallNowNs();
  const double before = *seconds * 1e9;
  return before >= static_cast<double>(end) ? 0 : end - static_cast<std::uint64_t>(before);
}

// "the first 12345678 bytes of worker.2 were dropped by its limit of 4194304 bytes"; empty if nothing is missing.
std::string DroppedText(const View& view, const std::vector<LogSpan>& spans,
                        const std::vector<std::uint64_t>& dropped) {
  std::uint64_t bytes = 0;
  std::size_t logs = 0;
  std::size_t last = 0;
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    if (dropped[i] == 0) continue;
    bytes += dropped[i];
    ++logs;
    last = i;
  }
  if (logs == 0) return {};
  if (logs > 1) return fmt::format("the first bytes of {} logs were dropped by their limits, {} in all", logs, bytes);
  const auto head = ReadLogHead(view.folder.get(), spans[last].name);
  return fmt::format("the first {} bytes of {} were dropped by its limit of {} bytes", bytes, spans[last].name,
                     head ? head->limit : 0);
}

// The parts of the logs selected by --since and --tail.
Result<std::vector<LogSpan>> Spans(const LogsOptions& options, const View& view) {
  std::optional<std::uint64_t> since;
  if (!options.since.empty()) {
    const auto moment = Since(options.since, view);
    if (!moment) return Fail(moment.error());
    since = *moment;
  }
  std::vector<LogSpan> spans;
  std::vector<std::uint64_t> dropped;  // for each log, the bytes dropped before the shown part
  std::size_t without_times = 0;
  for (const LogFile& log : view.logs) {
    LogSpan span{log.name, 0, 0};
    if (auto file = LogBytes::Open(view.folder.get(), log.name)) {
      const LogExtent extent = file->Look();
      span.begin = extent.begin;
      span.end = extent.end;
      dropped.resize(spans.size() + 1);
      dropped.back() = extent.begin;
      if (since || options.merge) {
        auto times = LogTimeReader::Open(view.folder.get(), log.name);
        if (since && times) span.begin = LineBegin(*file, times->OffsetAt(*since));
        if (!times && span.end > 0) ++without_times;
      }
      if (options.tail) span.begin = std::max(span.begin, TailBegin(*file, *options.tail));
      // The missing part was not selected anyway.
      if (span.begin > extent.begin) dropped.back() = 0;
    }
    dropped.resize(spans.size() + 1);
    spans.push_back(std::move(span));
  }
  if (const std::string reported = DroppedText(view, spans, dropped); !reported.empty()) {
    PrintDiagnostics({Warning("log_dropped", {}, reported)});
  }
  if (without_times > 0) {
    PrintDiagnostics({Warning("log_times", {},
                              fmt::format("times of {} logs are unknown: they are shown {}", without_times,
                                          options.merge ? "first" : "from their beginning"))});
  }
  return spans;
}

// --- output ------------------------------------------------------------------------------------

// False once the reader of our output is gone.
bool Print(const View& view, const LogFile& log, std::string_view piece, bool continues) {
  if (view.keeps && !view.keeps(piece)) return true;
  const std::string line = PrefixedLine(view.prefixed ? view.prefix + log.prefix : std::string(), piece, continues);
  return std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
}

// The part was dropped while being shown, or is a hole in the file.
void WarnOfDropped(const std::string& log, std::uint64_t bytes) {
  std::fflush(stdout);
  PrintDiagnostics(
      {Warning("log_dropped", {},
               fmt::format("{} bytes of {} are missing: dropped by its size limit, or never written", bytes, log))});
}

bool ShowOne(const View& view, const LogFile& log, const LogSpan& span, bool raw) {
  auto file = LogBytes::Open(view.folder.get(), span.name);
  LineCutter cutter;
  bool taken = true;
  const auto print = [&](std::string_view piece, bool continues) {
    taken = taken && Print(view, log, piece, continues);
  };
  std::vector<char> block(64U << 10);
  for (std::uint64_t at = span.begin; file && at < span.end && taken;) {
    const std::uint64_t asked = at;
    const std::size_t got = file->Read(at, block.data(), std::min<std::uint64_t>(block.size(), span.end - at));
    if (at > asked) {
      if (!raw) cutter.Flush(print);
      WarnOfDropped(log.name, at - asked);
    }
    if (got == 0) break;
    at += got;
    const std::string_view bytes(block.data(), got);
    if (raw) {
      taken = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
    } else {
      cutter.Feed(bytes, print);
    }
  }
  if (!raw) cutter.Flush(print);
  return taken;
}

// Prints the existing output in order of time; with `rest`, unfinished lines are kept for following.
void ShowMerged(const View& view, const std::vector<LogSpan>& spans, std::vector<LineCutter>* rest) {
  MergeLogs(
      view.folder.get(), spans,
      [&](std::size_t span, std::string_view piece, bool continues) {
        return Print(view, view.logs[span], piece, continues);
      },
      [&](std::size_t span, std::uint64_t bytes) { WarnOfDropped(spans[span].name, bytes); }, rest);
}

// The request to follow the view's run from the spans on; with --merge, the spans are printed first.
Result<FollowRequest> RequestOf(const LogsOptions& options, View view, const std::vector<LogSpan>& spans) {
  FollowRequest request;
  std::vector<LineCutter> cutters(spans.size());
  if (options.merge) {
    cutters.clear();
    ShowMerged(view, spans, &cutters);
    if (std::fflush(stdout) != 0) return Fail(SystemError("logs", "the output cannot be written", errno));
  }
  for (std::size_t i = 0; i < spans.size(); ++i) {
    request.from[spans[i].name] = {options.merge ? spans[i].end : spans[i].begin, std::move(cutters[i])};
  }
  request.run_dir = std::move(view.run_dir);
  request.choice = std::move(view.choice);
  request.prefixed = view.prefixed;
  request.prefix = std::move(view.prefix);
  return request;
}

FollowOptions OptionsOf(const LogsOptions& options, Keeps keeps) {
  return {false, options.raw, std::move(keeps), WarnOfDropped};
}

// The chosen logs that exist and cannot be read: as errors.
Diagnostics UnreadableLogs(const View& view) {
  Diagnostics problems;
  for (const LogFile& log : view.logs) {
    const int error = LogError(view.folder.get(), log.name);
    if (error == 0) continue;
    problems.push_back(SystemError("logs", Quoted(view.run_dir + "/logs/" + log.name) + " cannot be read", error));
  }
  return problems;
}

// Prints the logs; returns whether to continue.
bool ShowLogs(const LogsOptions& options, const View& view, const std::vector<LogSpan>& spans) {
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (!ShowOne(view, view.logs[i], spans[i], options.raw)) return false;
  }
  return true;
}

Result<int> ShowLogsOfRun(LogsOptions& options, const std::string& run_dir) {
  auto view = MakeView(options, run_dir);
  if (!view) return Fail(std::move(view.error()));
  const Diagnostics unreadable = UnreadableLogs(*view);
  if (!unreadable.empty()) PrintDiagnostics(unreadable);
  const auto spans = Spans(options, *view);
  if (!spans) return Fail(spans.error());
  if (options.follow) {
    Keeps keeps = std::move(view->keeps);
    view->keeps = keeps;  // merged output is filtered from here on
    auto request = RequestOf(options, *std::move(view), *spans);
    if (!request) return Fail(request.error());
    const auto followed = FollowRun(*std::move(request), STDOUT_FILENO, OptionsOf(options, std::move(keeps)));
    return followed && *followed == kExitOk && !unreadable.empty() ? kExitUnreadable : followed;
  }
  if (options.merge) {
    ShowMerged(*view, *spans, nullptr);
  } else {
    ShowLogs(options, *view, *spans);
  }
  return unreadable.empty() ? kExitOk : kExitUnreadable;
}

// --- sweeps ----------------------------------------------------------------------------------------

struct TrialLogs {
  std::string name;  // "job:12"
  std::string run_dir;
};

// Logs of the running trials; for a sweep that is over, those of the attempts that trials keep.
Result<std::vector<TrialLogs>> LogsOf(const std::string& folder, const std::string& word) {
  const auto sweep = OpenSweepAt(folder);
  if (!sweep) return Fail(sweep.error());
  std::vector<TrialLogs> logs;
  auto read = sweep->view.ForEachTrial(SweepView::Order::kNumber, [&](const AttemptRow& row) {
    if (sweep->live && row.trial_standing.latest_ended) return true;
    RunningTrial trial;
    trial.trial = row.trial;
    trial.attempt = sweep->live ? row.latest : row.attempt;
    logs.push_back({word + ":" + trial.Word(), folder + "/" + TrialFolder(row.id, trial.attempt)});
    return true;
  });
  if (!read) return Fail(std::move(read.error()));
  return logs;
}

// A trial that cannot be read is skipped.
void AddTrial(LogsOptions& options, const TrialLogs& trial, RunFollower& follower) {
  auto view = MakeView(options, trial.run_dir, trial.name + " ");
  const auto spans = view ? Spans(options, *view) : Result<std::vector<LogSpan>>(Fail(view.error()));
  auto request = spans ? RequestOf(options, *std::move(view), *spans) : Result<FollowRequest>(Fail(spans.error()));
  const auto added = request ? follower.Add(*std::move(request)) : Result<void>(Fail(request.error()));
  if (!added) PrintDiagnostics(added.error());
}

Result<int> FollowSweep(LogsOptions& options, const std::string& folder, const std::string& word) {
  Keeps keeps;
  if (!options.grep.empty()) {
    auto search = LineSearch(options.grep);
    if (!search) return Fail(std::move(search.error()));
    keeps = *std::move(search);
  }
  RunFollower follower(STDOUT_FILENO, OptionsOf(options, std::move(keeps)));
  SweepFeed feed(follower.io());
  SweepProgress progress;
  bool began = false;  // the existing entries have been read
  const auto follow = [&](TrialNumber number) {
    const auto open = progress.open().find(number);
    if (open == progress.open().end() || open->second.attempts == 0) return;
    RunningTrial trial;
    trial.trial = number;
    trial.attempt = open->second.attempts - 1;
    OpenTrialSocket(folder, number);
    AddTrial(options, {word + ":" + trial.Word(), folder + "/" + TrialFolder(open->second.id, trial.attempt)},
             follower);
  };
  const auto take = [&](const SweepRecord& record) {
    progress.Take(record.entry);
    const auto* attempt = std::get_if<AttemptBegan>(&record.entry);
    if (attempt != nullptr && began) follow(attempt->trial);
  };
  follower.ExpectMore(true);
  const auto live = feed.Start(folder, {take, {}, [&] { follower.ExpectMore(false); }});
  if (!live) return Fail(live.error());
  if (!*live) return Fail(Error("logs", {}, "the sweep is not running: there is nothing to follow"));
  began = true;
  for (const auto& [number, open] : progress.open()) {
    if (open.running) follow(number);
  }
  return follower.Run();
}

Result<int> ShowLogsOfSweep(LogsOptions& options, const std::string& folder) {
  if (options.merge) {
    return Fail(Error("usage", {}, "--merge: the logs of a sweep are shown trial by trial", "name a trial: SWEEP:12"));
  }
  const auto file = ReadSweepFile(folder);
  if (!file) return Fail(file.error());
  const std::string word = WordForSweep(folder, file->name, file->sweep_id);
  if (options.follow && IsRunLive(folder)) return FollowSweep(options, folder, word);
  const auto trials = LogsOf(folder, word);
  if (!trials) return Fail(trials.error());
  bool readable = true;
  for (const TrialLogs& trial : *trials) {
    const auto view = MakeView(options, trial.run_dir, trial.name + " ");
    if (!view) {
      PrintDiagnostics(view.error());
      if (view.error().front().kind == "usage") return ExitCodeFor(view.error());
      continue;  // it has just begun, or its directory is gone
    }
    if (const Diagnostics unreadable = UnreadableLogs(*view); !unreadable.empty()) {
      PrintDiagnostics(unreadable);
      readable = false;
    }
    const auto spans = Spans(options, *view);
    if (!spans) return Fail(spans.error());
    if (!ShowLogs(options, *view, *spans)) break;
  }
  return readable ? kExitOk : kExitUnreadable;
}

// The directory with logs of that run: of a submitted run, with `follow`, once a head has begun there.
Result<std::string> AwaitBegun(const std::string& run_dir, bool follow) {
  if (HasBegun(run_dir)) return run_dir;
  const auto job = FindJobOfRun(run_dir);
  if (!job) return Fail(job.error());
  if (!*job) return run_dir;
  const std::string text = (*job)->Text();
  const auto none = [&](const std::string& state) {
    return Fail(MachineError("logs", "the run has no logs yet: " + text + " is " + state,
                             follow ? "" : "muster logs --follow waits for them"));
  };
  if (!follow) {
    const auto queued = NotBegun(run_dir);
    return none(queued ? QueueText(*queued) : "starting");
  }
  JobWait wait;
  wait.on_state = [&](const std::string& state) {
    std::fprintf(stderr, "muster: %s: %s\n", PrintableLines(text).c_str(), PrintableLines(state).c_str());
  };
  const WaitOutcome waited = AwaitAttempt(**job, 0, wait);
  if (waited.end == WaitEnd::kOver) return none(StatusText(waited.status));
  return ReadAttempts((*job)->first_dir).front().run_dir;
}

Result<int> ShowLogs(LogsOptions& options) {
  const auto work = FindRunOrSweep(options.run, DirectoryUse::kRead, Prefer::kNewest);
  if (!work) return Fail(work.error());
  if (work->is_sweep) return ShowLogsOfSweep(options, work->folder);
  const auto begun = AwaitBegun(work->folder, options.follow);
  if (!begun) return Fail(begun.error());
  return ShowLogsOfRun(options, *begun);
}

int RunLogs(LogsOptions& options) {
  const auto shown = ShowLogs(options);
  if (shown) return *shown;
  return Refuse(shown.error());
}

}  // namespace

std::function<int()> SetupLogs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<LogsOptions>();
  AddRunOrSweepArgument(app, options->run);
  app.add_option("--role", options->filter.role, "only processes of this role");
  auto* index = app.add_option("--index", options->filter.index, "only the process with this number in its role");
  app.add_option("--rank", options->ranks, "only processes with these ranks")->type_name("0-3,7")->excludes(index);
  app.add_option("--attempt", options->filter.attempt, "only this start of each process, from 0")->type_name("N");
  auto* grep = app.add_option("--grep", options->grep, "only lines that match (RE2 syntax)")->type_name("REGEX");
  app.add_option("--since", options->since, "only what was written since then: 5m before the end, or a time in UTC")
      ->type_name("T");
  app.add_option("--tail", options->tail, "only the last N lines of each")->type_name("N");
  app.add_flag("--follow,-f", options->follow, "follow new output, also of new attempts, until the run ends");
  auto* merge = app.add_flag("--merge", options->merge, "one stream, ordered by time of writing");
  app.add_flag("--raw", options->raw, "raw bytes, without prefix")->excludes(grep)->excludes(merge);
  return [options] { return RunLogs(*options); };
}

}  // namespace muster
