#include "sweep/head/interrupted_attempt.h"

#include <cmath>
#include <utility>

#include "run/journal/run_summary.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/scheduler/trial_progress.h"

namespace muster {

TrialScheduler::AttemptEnd RecoverAttemptEnd(TrialSetting& setting, const std::string& id, std::uint32_t attempt) {
  const SweepDescription& sweep = setting.request.description;
  const std::string run_dir = setting.request.folder + "/" + TrialFolder(id, attempt);
  const auto run = SummarizeRun(run_dir, false);
  TrialScheduler::AttemptEnd lost;
  lost.interrupted = true;
  if (!run) return lost;
  lost.ms = static_cast<std::uint64_t>(run->seconds * 1000);
  if (run->outcome != "ok") return lost;
  // Metrics from a log or a result file need the plan, which only an evaluation gives: retry the attempt instead.
  if (!sweep.metrics.patterns.empty() || !sweep.metrics.result_file.empty()) return lost;
  TrialScheduler::AttemptEnd end;
  end.ms = static_cast<std::uint64_t>(run->seconds * 1000);
  MetricsWatch::Trial watched;
  watched.run_dir = run_dir;
  watched.report = [&](const MetricReport& report) {
    for (const auto& [metric, value] : report) end.metrics[metric] = value;
  };
  setting.watch.Watch(std::move(watched))->Finish();
  if (!sweep.objective) return end;
  const MetricNumber number = NumberOf(end.metrics, sweep.objective->metric);
  if (!number.number) return lost;  // it diverged or has no result; a retry decides
  if (sweep.early_stop && !end.metrics.contains(sweep.early_stop->resource)) return lost;
  end.loss = sweep.objective->maximize ? -*number.number : *number.number;
  return end;
}

void ReplayEarlierReports(TrialSetting& setting, const SweepProgress& account, const AttemptBegan& began,
                          const Plan& plan, const std::function<void(const MetricReport&)>& report) {
  const auto open = account.open().find(began.trial);
  if (began.resumed.checkpoint.empty() || open == account.open().end()) return;
  for (std::uint32_t earlier = open->second.first; earlier < began.attempt; ++earlier) {
    MetricsWatch::Trial watched =
        WatchedTrial(setting, plan, setting.request.folder + "/" + TrialFolder(began.id, earlier));
    watched.report = report;
    setting.watch.Watch(std::move(watched))->Finish();
  }
}

}  // namespace muster
