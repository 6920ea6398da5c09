#include "run/simulate/run_advice.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/text_parts.h"
#include "run/simulate/job_simulation.h"

namespace muster {
namespace {

double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<CheckpointAdvice> AdviseInterval(std::span<const SavedCheckpoint> saved, double start_s,
                                               const HostFailures& remembered, double hosts) {
  constexpr std::size_t kMinSaved = 3;
  if (saved.size() < kMinSaved || remembered.failures < 1 || hosts < 1 || remembered.seconds <= 0) return std::nullopt;
  std::vector<double> saves;
  std::vector<double> works;
  for (std::size_t i = 0; i < saved.size(); ++i) {
    saves.push_back(saved[i].to - saved[i].from);
    if (i > 0) works.push_back(saved[i].from - saved[i - 1].to);
  }
  CheckpointAdvice advice;
  advice.interval_s = MedianOf(std::move(works));
  advice.save_s = MedianOf(std::move(saves));
  advice.between_failures_s = remembered.seconds / remembered.failures / hosts;
  if (advice.interval_s <= 0 || advice.save_s <= 0) return std::nullopt;
  advice.best_s = BestInterval(advice.save_s, advice.between_failures_s);
  const auto kept = [&](double interval) {
    return KeptShare(interval, advice.save_s, start_s, advice.between_failures_s);
  };
  const double now = kept(advice.interval_s);
  if (!(now > 0)) return std::nullopt;
  advice.gain = kept(advice.best_s) / now - 1;
  if (!(advice.gain > kWorthAdvising)) return std::nullopt;
  return advice;
}

std::string AdviceText(const CheckpointAdvice& advice) {
  return fmt::format(
      "a checkpoint every {} instead of every {} would keep {:.1f} % more: one takes {}, and these hosts fail every {}",
      DurationText(advice.best_s), DurationText(advice.interval_s), 100 * advice.gain, DurationText(advice.save_s),
      DurationText(advice.between_failures_s));
}

std::optional<SparesAdvice> AdviseSpares(double queued_s, const HostFailures& remembered, double hosts, unsigned had) {
  constexpr unsigned kMost = 8;
  if (queued_s <= 0 || hosts < 1 || remembered.lost <= 0 || remembered.seconds <= 0) return std::nullopt;
  SparesAdvice advice{.had = had, .queued_s = queued_s};
  advice.between_lost_s = remembered.seconds / remembered.lost / hosts;
  const auto useful = [&](unsigned spares) {
    const double runs = (spares + 1) * advice.between_lost_s;
    return runs / (runs + queued_s) * hosts / (hosts + spares);
  };
  for (unsigned spares = had + 1; spares <= had + kMost; ++spares) {
    const double gain = useful(spares) / useful(had) - 1;
    if (gain > advice.gain) advice.gain = gain, advice.spares = spares - had;
  }
  if (!(advice.gain > kWorthAdvising)) return std::nullopt;
  return advice;
}

std::string AdviceText(const SparesAdvice& advice) {
  return fmt::format(
      "{} would keep {:.1f} % more for each host: the job waited {} in the queue, and loses a host every {}",
      Counted(advice.spares, advice.had > 0 ? "more spare host" : "spare host"), 100 * advice.gain,
      DurationText(advice.queued_s), DurationText(advice.between_lost_s));
}

}  // namespace muster
