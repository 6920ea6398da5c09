#include "sweep/scheduler/trial_points.h"

#include <algorithm>
#include <iterator>
#include <variant>

namespace muster {
namespace {

void TellImpossible(Sampler& sampler, const std::vector<TrialRange>& trials) {
  for (const auto& [first, last] : trials) {
    for (TrialNumber trial = first; trial <= last; ++trial) sampler.TellImpossible(trial);
  }
}

}  // namespace

void Inform(Sampler& sampler, const SweepDescription& sweep, const SweepEntry& entry, bool paused) {
  if (sampler.is_sequence()) return;
  if (const auto* judged = std::get_if<PointsJudged>(&entry)) {
    if (!judged->points.empty()) {
      judged->chosen ? sampler.RecallChosen(judged->first, judged->points)
                     : sampler.Recall(judged->first, judged->points);
    }
    for (const PointsJudged::Reason& reason : judged->impossible) TellImpossible(sampler, reason.trials);
  } else if (const auto* skipped = std::get_if<ValueSkipped>(&entry)) {
    TellImpossible(sampler, skipped->trials);
  } else if (const auto* ended = std::get_if<AttemptEnded>(&entry); ended != nullptr && !ended->again) {
    TrialResult result = ResultFor(sweep, ended->loss, ended->metrics);
    const bool stopped = ended->trial_class == TrialClass::kStopped;
    result.paused = stopped && paused;
    stopped ? sampler.TellStopped(ended->trial, result) : sampler.Tell(ended->trial, result);
  } else if (const auto* reached = std::get_if<RungReached>(&entry)) {
    sampler.TellRung(reached->trial, reached->decision.rung, reached->loss);
  }
}

std::uint64_t TrialPoints::BesidesOf(const std::vector<Point>& points) const {
  return static_cast<std::uint64_t>(
      std::count_if(points.begin(), points.end(), [this](const Point& point) { return !sampler_->Has(point); }));
}

// A sampler that learns counts chosen points of its space among its own, so of a countable space it has no more trials
// than there are points, except for chosen ones that come after all of those.
std::uint64_t TrialPoints::SizeWith(const std::vector<Point>& more) const {
  if (is_sequence()) return sampler_->size() + chosen_.size() + waiting_.size() + more.size();
  const std::uint64_t most = sampler_->limit() + BesidesOf(more);
  return std::max(std::min(sampler_->size() + more.size(), most), known_to_ + waiting_.size() + more.size());
}

std::uint64_t TrialPoints::limit() const {
  if (is_sequence()) return sampler_->limit() + chosen_.size() + waiting_.size();
  return std::max(sampler_->limit(), size());
}

void TrialPoints::Extend(std::uint64_t size) {
  const std::uint64_t others = is_sequence() ? chosen_.size() + waiting_.size() : 0;
  sampler_->Extend(size - std::min(size, others));
}

std::uint64_t TrialPoints::Among(TrialNumber trial) const {
  return trial - static_cast<std::uint64_t>(std::distance(chosen_.begin(), chosen_.lower_bound(trial)));
}

std::vector<Point> TrialPoints::Ask(std::uint64_t first, std::uint64_t count) {
  if (is_sequence()) return sampler_->Ask(Among(first), count);
  auto points = sampler_->Ask(first, count);
  wanted_.reset();
  if (points.empty()) wanted_ = Wanted{first, count};
  known_to_ = std::max(known_to_, first + points.size());
  return points;
}

void TrialPoints::Offer(TrialNumber first, const std::vector<Point>& points) {
  wanted_.reset();
  awaits_ = false;
  if (points.empty()) return;
  sampler_->Recall(first, points);
  known_to_ = std::max(known_to_, first + points.size());
}

Point TrialPoints::At(std::uint64_t trial) const {
  const auto chosen = chosen_.find(trial);
  if (chosen != chosen_.end()) return chosen->second;
  return sampler_->At(is_sequence() ? Among(trial) : trial);
}

void TrialPoints::ExtendBy(const std::vector<Point>& chosen) {
  sampler_->Widen(BesidesOf(chosen));
  sampler_->Extend(sampler_->size() + chosen.size());
}

void TrialPoints::Take(const SweepEntry& entry) {
  if (const auto* steered = std::get_if<SweepSteered>(&entry)) {
    if (!is_sequence() && edits_ == 0) ExtendBy(steered->points);
    waiting_.insert(waiting_.end(), steered->points.begin(), steered->points.end());
  }
  if (std::holds_alternative<SweepEdited>(entry) && edits_ > 0) {
    if (--edits_ == 0 && !is_sequence()) ExtendBy({waiting_.begin(), waiting_.end()});
  }
  if (const auto* judged = std::get_if<PointsJudged>(&entry)) {
    if (judged->chosen) {
      for (std::size_t i = 0; i < judged->points.size(); ++i) {
        chosen_[judged->first + i] = judged->points[i];
        if (!waiting_.empty()) waiting_.pop_front();
      }
    }
    if (judged->chosen || !is_sequence()) known_to_ = std::max(known_to_, judged->first + judged->count);
  }
  bool paused = false;
  if (const auto* reached = std::get_if<RungReached>(&entry); reached != nullptr && reached->decision.paused) {
    pausing_.insert(reached->trial);
  } else if (const auto* ended = std::get_if<AttemptEnded>(&entry)) {
    paused = pausing_.erase(ended->trial) > 0;
  }
  Inform(*sampler_, *sweep_, entry, paused);
}

}  // namespace muster
