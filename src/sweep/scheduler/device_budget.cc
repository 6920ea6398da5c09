#include "sweep/scheduler/device_budget.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "space/group_statistics.h"
#include "sweep/record/sweep_progress.h"

namespace muster {
namespace {

constexpr std::size_t kMaxSamples = 1000;

void Keep(std::deque<double>& samples, double sample) {
  samples.push_back(sample);
  if (samples.size() > kMaxSamples) samples.pop_front();
}

std::optional<double> MedianOfAll(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  return MedianOf(std::move(samples));
}

}  // namespace

void DeviceBudget::Take(const SweepEntry& entry) {
  if (const auto* began = std::get_if<AttemptBegan>(&entry)) {
    started_[began->trial] = {began->devices, !began->resumed.checkpoint.empty()};
    return;
  }
  const auto* ended = std::get_if<AttemptEnded>(&entry);
  if (ended == nullptr) return;
  const auto started = started_.extract(ended->trial);
  if (started.empty()) return;
  const auto device_ms = static_cast<double>(DeviceMs(ended->ms, started.mapped().devices));
  double& spent = spent_[ended->trial];
  spent += device_ms;
  if (sweep_->early_stop && !started.mapped().resumed) {
    const auto reached = ended->metrics.find(sweep_->early_stop->resource);
    if (reached != ended->metrics.end() && reached->second.IsNumber() && reached->second.Number() > 0) {
      Keep(step_times_, device_ms / reached->second.Number());
    }
  }
  if (ended->again || ended->interrupted) return;
  Keep(IsFailure(ended->trial_class) ? without_ : with_result_, spent);
  spent_.erase(ended->trial);
}

std::optional<double> DeviceBudget::StepTime(const std::vector<Running>& running) const {
  std::vector<double> times(step_times_.begin(), step_times_.end());
  for (const Running& one : running) {
    if (one.resource && *one.resource > 0) times.push_back(one.device_ms / *one.resource);
  }
  return MedianOfAll(std::move(times));
}

std::optional<double> DeviceBudget::OfTrial(const std::vector<Running>& running) const {
  const auto& ended = with_result_.empty() ? without_ : with_result_;
  if (!ended.empty()) return MedianOfAll({ended.begin(), ended.end()});
  const auto step = StepTime(running);
  if (!step || !sweep_->early_stop || !sweep_->early_stop->has_rungs()) return std::nullopt;
  return *step * sweep_->early_stop->max;
}

std::optional<double> DeviceBudget::ToFirstRung(const std::vector<Running>& running) const {
  if (!sweep_->early_stop || !sweep_->early_stop->has_rungs()) return OfTrial(running);
  const auto step = StepTime(running);
  if (!step) return OfTrial(running);
  return *step * sweep_->early_stop->min;
}

std::string DeviceBudget::Refusal(double hours, double spent, const std::vector<Running>& running) const {
  const auto expected = OfTrial(running);
  double held = spent;
  for (const Running& one : running) held += std::max(one.device_ms, expected.value_or(0));
  const double left = hours * kMsPerHour - held;
  const auto next = ToFirstRung(running);
  if (left > 0 && next.value_or(0) <= left) return {};
  std::string text = fmt::format("the budget of {:.3g} device hours: {:.3g} are spent", hours, spent / kMsPerHour);
  if (!next) return text;
  const bool rungs = sweep_->early_stop && sweep_->early_stop->has_rungs();
  return text +
         fmt::format(", and a trial takes about {:.2g} to its {}", *next / kMsPerHour, rungs ? "first rung" : "end");
}

}  // namespace muster
