#include "tensorboard/run_events.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "run/directory/metric_history.h"

namespace muster {
namespace {

constexpr double kMostStep = 9e15;  // exact in a double

bool IsStep(double number) { return number == std::floor(number) && std::abs(number) <= kMostStep; }

// The tags of one process.
class ProcessEvents {
 public:
  ProcessEvents(const ProcessHistory& process, const RunForTensorboard& run, std::string prefix)
      : process_(process), run_(run), prefix_(std::move(prefix)) {
    step_ = StepMetric(process.history);
    const auto column = process.history.columns.find(step_);
    if (column == process.history.columns.end()) return;
    const auto& steps = column->second.values;
    if (!std::all_of(steps.begin(), steps.end(), [](double step) { return std::isnan(step) || IsStep(step); })) {
      step_.clear();
    }
  }

  bool Write(const std::function<bool(std::string_view)>& put, std::uint64_t& scalars) const {
    for (const auto& [name, column] : process_.history.columns) {
      if (name == step_) continue;
      const std::vector<double> numbers = SeriesOf(process_.history, name, {}).x;  // of reports, from 1
      const MetricSeries series = SeriesOf(process_.history, name, step_);
      const std::size_t omitted = numbers.size() - series.x.size();  // reports before the first step
      for (std::size_t i = 0; i < series.x.size(); ++i) {
        const double number = numbers[i + omitted];
        if (IsReplaced(number, series.x[i])) continue;
        const double wall = run_.began + (run_.ended - run_.began) * number / process_.history.reports;
        if (!put(ScalarRecord(wall, static_cast<std::int64_t>(series.x[i]), prefix_ + name,
                              static_cast<float>(series.y[i])))) {
          return false;
        }
        ++scalars;
      }
    }
    return true;
  }

  // Finds for each attempt the step at which it continued.
  void FindContinuations() {
    const auto found = process_.history.columns.find(step_);
    if (found == process_.history.columns.end()) return;
    const MetricColumn& column = found->second;
    for (const std::uint32_t start : process_.attempt_starts) {
      const auto at = std::lower_bound(column.reports.begin(), column.reports.end(), start) - column.reports.begin();
      if (at == static_cast<std::ptrdiff_t>(column.reports.size())) continue;
      continued_.push_back({start + 1.0, column.values[static_cast<std::size_t>(at)]});
    }
  }

 private:
  struct Continuation {
    double number = 0;  // of its first report, from 1
    double step = 0;
  };

  // Whether a later attempt repeated the step.
  bool IsReplaced(double number, double step) const {
    return std::any_of(continued_.begin(), continued_.end(), [&](const Continuation& continuation) {
      return number < continuation.number && step >= continuation.step;
    });
  }

  const ProcessHistory& process_;
  const RunForTensorboard& run_;
  std::string prefix_;
  std::string step_;
  std::vector<Continuation> continued_;
};

// The values at the end of a run.
bool WriteResults(const RunForTensorboard& run, const std::function<bool(std::string_view)>& put,
                  std::uint64_t& scalars) {
  const auto given = run.results.find("step");
  const bool counted = given != run.results.end() && given->second.IsNumber() && IsStep(given->second.Number());
  for (const auto& [name, value] : run.results) {
    if (!value.IsNumber() || (counted && name == given->first)) continue;
    const auto step = counted ? static_cast<std::int64_t>(given->second.Number()) : 0;
    if (!put(ScalarRecord(run.ended, step, name, static_cast<float>(value.Number())))) return false;
    ++scalars;
  }
  return true;
}

}  // namespace

WrittenEvents WriteRunEvents(const RunForTensorboard& run, const std::function<bool(std::string_view)>& put) {
  WrittenEvents written;
  if (!put(FileVersionRecord(run.began)) || !put(SessionBeganRecord(run.began, run.parameters))) return written;
  const std::vector<ProcessHistory> processes = ReadRoleHistories(run.run_dir);
  for (const ProcessHistory& process : processes) {
    ProcessEvents events(process, run, processes.size() > 1 ? process.role + "/" : "");
    events.FindContinuations();
    written.skipped_bytes += process.history.skipped_bytes;
    if (!events.Write(put, written.scalars)) return written;
  }
  if (written.scalars == 0 && !WriteResults(run, put, written.scalars)) return written;
  if (run.status != SessionStatus::kRunning) put(SessionEndedRecord(run.ended, run.status));
  return written;
}

}  // namespace muster
