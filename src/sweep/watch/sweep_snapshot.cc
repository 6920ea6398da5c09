#include "sweep/watch/sweep_snapshot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_metrics.h"
#include "space/space.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_status.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();

// Each point with those left out before it, as their mean, and the marks between them.
std::vector<double> MeansOf(const Curve& curve) {
  std::vector<double> means;
  std::size_t mark = 0;
  const auto add_marks = [&](double before) {
    for (; mark < curve.not_finite.size() && curve.not_finite[mark] < before; ++mark) means.push_back(kNotFinite);
  };
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    add_marks(curve.x[i]);
    means.push_back(curve.mean[i] + (curve.y[i] - curve.mean[i]) / (curve.left_out[i] + 1.0));
  }
  add_marks(std::numeric_limits<double>::infinity());
  return means;
}

}  // namespace

TrialCurves::TrialCurves(std::string objective, std::string resource, MetricsChoice in_logs)
    : objective_(std::move(objective)), resource_(std::move(resource)), in_logs_(std::move(in_logs)) {
  auto patterns = LogPatterns::Of(in_logs_.patterns, in_logs_.place);
  if (patterns && !patterns->empty()) patterns_ = *std::move(patterns);
}

void TrialCurves::Process::Take(const MetricHistory& history, const std::string& objective,
                                const std::string& resource) {
  const auto steps = history.columns.find(StepMetric(history.columns, resource));
  if (steps != history.columns.end() && std::isfinite(steps->second.values.back())) {
    curve.step = steps->second.values.back();
  }
  const auto found = history.columns.find(objective);
  if (found == history.columns.end()) return;
  for (const double value : found->second.values) {
    values.Add(static_cast<double>(values.points + values.not_finite_points), value, TrialCurve::kMaxPoints,
               Spacing::kLinear);
  }
  curve.value = found->second.values.back();
  curve.points = MeansOf(values);
}

void TrialCurves::ReadFiles(Run& run, const std::string& run_dir) {
  std::string role;
  std::uint32_t index = 0;
  for (const MetricsFileName& name : MetricsFiles(run_dir)) {  // by role, index and attempt
    if (name.role != role) {
      role = name.role;
      index = name.index;
    }
    if (name.index != index) continue;
    Process& process = run.roles[role];
    GrowingFile& file =
        process.files.try_emplace(name.attempt, GrowingFile::Kind::kMetrics, run_dir + "/" + name.Path()).first->second;
    MetricHistory history;
    const auto take = [&](std::string_view line, bool whole) {
      constexpr std::uint32_t kMaxReports = 10'000;  // in memory
      history.Take(line, whole);
      if (history.reports == kMaxReports) process.Take(std::exchange(history, {}), objective_, resource_);
    };
    file.ReadToEnd(take, kMaxHistoryBytes);
    process.Take(history, objective_, resource_);
  }
}

const TrialCurve& TrialCurves::Read(const std::string& run_dir) {
  Run& run = runs_[run_dir];
  ReadFiles(run, run_dir);
  const std::string logging = patterns_ && !run.log ? LoggingProcessOf(run_dir, in_logs_) : std::string();
  if (!logging.empty()) run.log.emplace(*patterns_, resource_, run_dir, logging);
  if (run.log) {
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
  description.budget = file.budget;
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
