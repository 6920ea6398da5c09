#include "sweep/watch/sweep_snapshot.h"

#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "run/directory/run_directory.h"
#include "space/space.h"
#include "sweep/index/sweep_view.h"
#include "sweep/record/sweep_status.h"

namespace muster {

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

std::vector<RunningTrial> RunningTrials(const SweepProgress& account, const std::string& dir) {
  std::vector<RunningTrial> running;
  for (const auto& [number, open] : account.open()) {
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
      trial.run.name = account.name();
      trial.run.run_dir = run_dir;
      trial.run.outcome = "running";
      trial.run.phase = "preparing";
    }
    trial.metrics = NewestReports(run_dir);
  }
  return running;
}

namespace {

std::optional<double> SecondsLeft(const SweepProgress& account, const SweepFile& file,
                                  const SweepView::LastHead& head) {
  SweepDescription description;
  description.budget.trials = file.most_trials;
  description.budget.time_ms = file.most_ms;
  SweepStatus status;
  status.account = &account;
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
  const SweepProgress& account = view->account();
  look.state = SweepState(account, look.live);
  if (account.steered().slots) look.file.slots = *account.steered().slots;
  if (account.ended()) look.why = account.ended()->why;
  const auto began = view->Began();
  const auto last = view->Last();
  if (!began || !last) return Fail(began ? last.error() : began.error());
  look.started_at = *began;
  const auto from = ParseUtc(*began);
  const auto to = look.live ? std::optional(WallNowNs()) : ParseUtc(*last);
  if (from && to) look.seconds = SecondsBetween(*from, *to);
  const TrialCounts counts = CountsOf(account, look.live);
  look.over = counts.over;
  look.failed = counts.failed;
  look.possible = counts.possible;
  look.waiting = counts.waiting;
  look.best = account.best();
  if (look.live) look.running = RunningTrials(account, dir);
  for (const RunningTrial& trial : look.running) {
    if (!trial.run.waits.empty()) look.waits = trial.run.waits;
  }
  if (look.live) {
    const auto head = view->NewestHead();
    if (!head) return Fail(head.error());
    look.seconds_left = SecondsLeft(account, look.file, *head);
  }
  return look;
}

}  // namespace muster
