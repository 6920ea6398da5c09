#include "sweep/scheduler/median_rule.h"

#include <algorithm>

namespace muster {

void MedianRule::Finished(std::uint64_t trial, const std::map<double, double>& losses) {
  std::vector<std::pair<double, double>> means;
  double sum = 0;
  for (const auto& [step, loss] : losses) {
    sum += loss;
    means.emplace_back(step, sum / static_cast<double>(means.size() + 1));
  }
  means_[trial] = std::move(means);
}

MedianRule::Decision MedianRule::At(double step, double best_loss) const {
  Decision decision;
  std::vector<double> there;
  for (const auto& [trial, means] : means_) {
    const auto after = std::upper_bound(means.begin(), means.end(), step,
                                        [](double wanted, const auto& entry) { return wanted < entry.first; });
    if (after != means.begin()) there.push_back(std::prev(after)->second);
  }
  decision.finished = there.size();
  if (there.size() < min_finished_ || there.empty()) return decision;
  const auto middle = there.begin() + static_cast<std::ptrdiff_t>(there.size() / 2);
  std::nth_element(there.begin(), middle, there.end());
  double median = *middle;
  if (there.size() % 2 == 0) median = (median + *std::max_element(there.begin(), middle)) / 2;
  decision.median = median;
  decision.stop = step >= warmup_ && best_loss > median;
  return decision;
}

}  // namespace muster
