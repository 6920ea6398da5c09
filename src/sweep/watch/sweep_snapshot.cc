#include "sweep/watch/sweep_snapshot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "run/directory/private_files.h"
#include "run/directory/run_directory.h"
#include "space/space.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_status.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kMaxAtOnce = std::size_t{1} << 20;
constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();

double MeanOfFinite(double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : a / 2 + b / 2; }

// Passes the complete lines of the file from `offset` on, and moves it behind them.
template <class Take>
void ReadAppended(int file, std::uint64_t& offset, std::uint64_t size, Take take) {
  if (size - offset > kMaxHistoryBytes) offset = size - kMaxHistoryBytes;
  std::string bytes(kMaxAtOnce, '\0');
  while (offset < size) {
    const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got <= 0) return;
    const std::string_view read(bytes.data(), static_cast<std::size_t>(got));
    const std::size_t lines = read.rfind('\n') + 1;  // 0 without one
    if (lines > 0) {
      take(read.substr(0, lines));
    } else if (read.size() < bytes.size()) {
      return;  // a line that is being written
    }
    offset += lines > 0 ? lines : read.size();  // the rest of a line without an end is an invalid line
  }
}

}  // namespace

TrialCurves::TrialCurves(std::string objective, std::string resource, MetricsChoice in_logs)
    : objective_(std::move(objective)), resource_(std::move(resource)), in_logs_(std::move(in_logs)) {
  auto patterns = LogPatterns::Of(in_logs_.patterns, in_logs_.place);
  if (patterns && !patterns->empty()) patterns_ = *std::move(patterns);
}

void TrialCurves::Process::Add(double value) {
  if (values == 0) {
    if (curve.points.size() == TrialCurve::kMaxPoints) {
      for (std::size_t i = 0; 2 * i < curve.points.size(); ++i) {
        curve.points[i] = MeanOfFinite(curve.points[2 * i], curve.points[2 * i + 1]);
      }
      curve.points.resize(curve.points.size() / 2);
      stride *= 2;
    }
    curve.points.push_back(kNotFinite);
    sum = 0;
    finite = 0;
  }
  if (std::isfinite(value)) {
    sum += value;
    ++finite;
    curve.points.back() = sum / static_cast<double>(finite);
  }
  values = (values + 1) % stride;
}

void TrialCurves::Process::Take(const MetricHistory& history, const std::string& objective,
                                const std::string& resource) {
  const auto steps = history.columns.find(StepMetric(history, resource));
  if (steps != history.columns.end() && std::isfinite(steps->second.values.back())) {
    curve.step = steps->second.values.back();
  }
  const auto found = history.columns.find(objective);
  if (found == history.columns.end()) return;
  for (const double value : found->second.values) Add(value);
  curve.value = found->second.values.back();
}

void TrialCurves::ReadFiles(Run& run, const std::string& run_dir) {
  const auto folder = OpenFolder(AT_FDCWD, kMetricsEntry.In(run_dir));
  if (!folder) return;
  std::string role;
  std::uint32_t index = 0;
  for (const MetricsFileName& name : MetricsFiles(run_dir)) {  // by role, index and attempt
    if (name.role != role) {
      role = name.role;
      index = name.index;
    }
    if (name.index != index) continue;
    const UniqueFd file(::openat(folder->get(),
                                 fmt::format("{}.{}.{}.jsonl", name.role, name.index, name.attempt).c_str(),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat facts {};
    if (!file || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    Process& process = run.roles[role];
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    std::uint64_t& offset = process.offsets[name.attempt];
    if (size < offset) offset = 0;  // written anew: its reports count again
    ReadAppended(file.get(), offset, size, [&](std::string_view lines) {
      MetricHistory history;
      history.Take(lines);
      process.Take(history, objective_, resource_);
    });
  }
}

const TrialCurve& TrialCurves::Read(const std::string& run_dir) {
  Run& run = runs_[run_dir];
  ReadFiles(run, run_dir);
  if (patterns_) {
    if (!run.log) run.log.emplace(*patterns_, in_logs_, resource_, run_dir);
    MetricHistory history;
    run.log->Read(false, [&](std::uint32_t, const MetricValues& report) { history.Add(report); });
    run.of_log.Take(history, objective_, resource_);
  }
  const auto reports = std::find_if(run.roles.begin(), run.roles.end(),
                                    [](const auto& each) { return each.second.curve.value.has_value(); });
  if (reports != run.roles.end()) return reports->second.curve;
  if (run.of_log.curve.value || run.roles.empty()) return run.of_log.curve;
  return run.roles.begin()->second.curve;
}

void TrialCurves::Keep(const std::vector<std::string>& run_dirs) {
  std::erase_if(runs_, [&](const auto& each) {
    return std::find(run_dirs.begin(), run_dirs.end(), each.first) == run_dirs.end();
  });
}

std::string RunningTrial::Word() const {
  return attempt == 0 ? std::to_string(trial) : fmt::format("{}.{}", trial, attempt + 1);
}

std::string RunningTrial::About() const {
  std::string text = MetricsText(metrics);
  if (!point.empty()) text += fmt::format("{}({})", text.empty() ? "" : " ", Printable(PointText(point)));
  return text;
}

std::string RunningTrial::PointWords() const { return Printable(PointText(point)); }

std::string SweepSnapshot::BestPointWords() const { return best ? Printable(PointText(best->point)) : ""; }

std::string SweepSnapshot::BestText() const {
  if (!best) return {};
  const std::string metric = file.objective && !file.objective->metric.empty() ? file.objective->metric : "loss";
  return fmt::format("{} {:.6g} (trial {})", Printable(metric), ObjectiveValue(file.objective, best->loss),
                     best->trial);
}

std::vector<RunningTrial> TrialsThatRun(const SweepProgress& progress, const std::string& dir) {
  std::vector<RunningTrial> running;
  for (const auto& [number, open] : progress.open()) {
    if (!open.running || open.attempts == 0) continue;
    RunningTrial& trial = running.emplace_back();
    trial.trial = number;
    trial.attempt = open.attempts - 1;
    trial.point = open.point;
    trial.hosts = open.hosts;
    const std::string run_dir = dir + "/" + TrialFolder(open.id, trial.attempt);
    if (auto run = SummarizeRun(run_dir, true)) {
      trial.run = *std::move(run);
    } else {  // its first entry is not written yet
      trial.run.run = open.run_id;
      trial.run.plan = open.plan;
      trial.run.name = progress.name();
      trial.run.run_dir = run_dir;
      trial.run.outcome = "running";
      trial.run.phase = "preparing";
    }
    trial.metrics = NewestReports(run_dir);
  }
  return running;
}

namespace {

std::optional<double> SecondsLeft(const SweepProgress& progress, const SweepFile& file,
                                  const SweepView::LastHead& head) {
  SweepDescription description;
  description.budget.trials = file.most_trials;
  description.budget.time_ms = file.most_ms;
  SweepStatus status;
  status.progress = &progress;
  status.sweep = &description;
  status.over_at_begin = head.over;
  const auto began = ParseUtc(head.began);
  const std::uint64_t now = WallNowNs();
  if (began) status.seconds = SecondsBetween(*began, now);
  return Forecast(status);
}

}  // namespace

Result<SweepSnapshot> ReadSweepSnapshot(const std::string& dir) {
  auto file = ReadSweepFile(dir);
  if (!file) return Fail(std::move(file.error()));
  SweepSnapshot look;
  look.dir = dir;
  look.file = *std::move(file);
  look.live = IsRunLive(dir);  // checked first: a head that exits in between counts as live
  const auto view = SweepView::Open(dir);
  if (!view) return Fail(view.error());
  const SweepProgress& progress = view->progress();
  look.state = SweepState(progress, look.live);
  if (progress.steered().slots) look.file.slots = *progress.steered().slots;
  if (progress.ended()) look.why = progress.ended()->why;
  const auto began = view->Began();
  const auto last = view->Last();
  if (!began || !last) return Fail(began ? last.error() : began.error());
  look.started_at = *began;
  const auto from = ParseUtc(*began);
  const auto to = look.live ? std::optional(WallNowNs()) : ParseUtc(*last);
  if (from && to) look.seconds = SecondsBetween(*from, *to);
  const TrialCounts counts = CountsOf(progress, look.live);
  look.over = counts.over;
  look.failed = counts.failed;
  look.possible = counts.possible;
  look.waiting = counts.waiting;
  look.best = progress.best();
  if (look.live) look.running = TrialsThatRun(progress, dir);
  for (const RunningTrial& trial : look.running) {
    if (!trial.run.waits.empty()) look.waits = trial.run.waits;
  }
  if (look.live) {
    const auto head = view->NewestHead();
    if (!head) return Fail(head.error());
    look.seconds_left = SecondsLeft(progress, look.file, *head);
  }
  return look;
}

}  // namespace muster
