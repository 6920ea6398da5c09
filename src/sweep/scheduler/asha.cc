#include "sweep/scheduler/asha.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include <boost/multi_index/identity.hpp>
#include <boost/multi_index/ranked_index.hpp>
#include <boost/multi_index_container.hpp>

#include "muster/result.h"

namespace muster {

struct Asha::Rung {
  using Result = std::pair<double, std::size_t>;  // loss, sequence number of the report at the rung
  boost::multi_index_container<
      Result, boost::multi_index::indexed_by<boost::multi_index::ranked_unique<boost::multi_index::identity<Result>>>>
      results;
  std::unordered_map<std::uint64_t, Result> by_trial;
  std::size_t reports = 0;
};

Asha::Asha(double min, double max, double eta, std::size_t min_results) : eta_(eta), min_results_(min_results) {
  // By powers, not repeated products, so that 0.1 · 10 is exactly a rung of 1.
  for (int k = 0;; ++k) {
    const double resource = min * std::pow(eta, k);
    if (resource > max * (1 + 1e-12)) break;
    rungs_.push_back(resource);
    results_.push_back(std::make_unique<Rung>());
  }
}
Asha::Asha(Asha&&) noexcept = default;
Asha::~Asha() = default;

StopDecision Asha::Report(std::size_t rung, std::uint64_t trial, double loss) {
  Rung& at = *results_[rung];
  auto& results = at.results;
  const Rung::Result result{loss, at.reports++};
  const auto [of_trial, is_first] = at.by_trial.emplace(trial, result);
  if (!is_first) {
    results.erase(of_trial->second);
    of_trial->second = result;
  }
  const auto place = results.insert(result).first;
  StopDecision decision;
  decision.rung = rung;
  decision.results = results.size();
  decision.rank = results.rank(place) + 1;
  const auto share = static_cast<std::size_t>(std::floor(static_cast<double>(decision.results) / eta_));
  decision.threshold = std::max<std::size_t>(1, share);
  if (rung + 1 == rungs_.size() || decision.results <= min_results_) decision.threshold = decision.results;
  decision.stop = decision.rank > decision.threshold;
  return decision;
}

}  // namespace muster
