#include "sweep/scheduler/suggestion_replay.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <variant>

#include "sweep/scheduler/trial_points.h"

namespace muster {
namespace {

// The sampler may have been asked before the last of these entries were recorded, while points were judged.
constexpr std::size_t kMaxEntriesBefore = 64;

tl::unexpected<Diagnostics> RefuseTrial(TrialNumber trial, const std::string& why, std::string hint = {}) {
  return Fail(Error("trial", {}, "trial " + std::to_string(trial) + ": " + why, std::move(hint)));
}

bool Informs(const SweepEntry& entry) {
  const auto* ended = std::get_if<AttemptEnded>(&entry);
  return (ended != nullptr && !ended->again) || std::holds_alternative<PointsJudged>(entry) ||
         std::holds_alternative<RungReached>(entry) || std::holds_alternative<ValueSkipped>(entry);
}

// As the scheduler of the sweep did.
void Follow(TrialPoints& points, const SweepEntry& entry) {
  if (const auto* steered = std::get_if<SweepSteered>(&entry); steered != nullptr && steered->trials) {
    points.Extend(*steered->trials);
  }
  points.Take(entry);
}

// The points of trials that the sampler gave and the entries behind the first `known` have, up to `trial`.
std::map<TrialNumber, Point> PointsAfter(const std::vector<SweepEntry>& entries, std::size_t known, TrialNumber trial) {
  std::map<TrialNumber, Point> points;
  for (std::size_t i = known; i < entries.size(); ++i) {
    const auto* judged = std::get_if<PointsJudged>(&entries[i]);
    if (judged == nullptr || judged->chosen) continue;
    for (std::size_t k = 0; k < judged->points.size() && judged->first + k < trial; ++k) {
      points.emplace(judged->first + k, judged->points[k]);
    }
  }
  return points;
}

// The sampler after these entries, asked for the trial.
Result<SuggestedPoint> AskAfter(const CompiledSpace& space, const SweepDescription& sweep,
                                const std::vector<SweepEntry>& entries, std::size_t known, TrialNumber trial,
                                std::uint64_t edits) {
  auto sampler = Sampler::Of(space, sweep.sampler);
  if (!sampler) return Fail(sampler.error());
  TrialPoints points(**sampler, sweep, edits);
  for (std::size_t i = 0; i < known; ++i) Follow(points, entries[i]);
  // Asked for at the same time, before it.
  for (const auto& [number, point] : PointsAfter(entries, known, trial)) (*sampler)->Recall(number, {point});
  return (*sampler)->Explain(trial);
}

}  // namespace

Result<TrialSuggestion> SuggestionOf(const CompiledSpace& space, const SweepDescription& sweep,
                                     const std::vector<SweepEntry>& entries, TrialNumber trial) {
  const SamplerChoice& choice = sweep.sampler;
  auto sampler = Sampler::Of(space, choice);
  if (!sampler) return Fail(sampler.error());
  const auto is_edit = [](const SweepEntry& entry) { return std::holds_alternative<SweepEdited>(entry); };
  const auto edits = static_cast<std::uint64_t>(std::count_if(entries.begin(), entries.end(), is_edit));
  TrialPoints points(**sampler, sweep, edits);
  const PointsJudged* judged = nullptr;  // that has the trial first
  std::size_t at = 0;
  for (; at < entries.size(); ++at) {
    Follow(points, entries[at]);
    const auto* one = std::get_if<PointsJudged>(&entries[at]);
    if (one == nullptr || trial < one->first || trial - one->first >= one->count) continue;
    judged = one;
    break;
  }
  if (judged == nullptr) {
    return trial < points.size()
               ? RefuseTrial(trial, "it has no point yet", "the sampler is asked once it can start")
               : RefuseTrial(trial, "the sweep has " + std::to_string(points.size()) + " trials, from 0 on");
  }
  TrialSuggestion found;
  found.point = points.At(trial);
  if (judged->chosen) {
    found.source = TrialSuggestion::Source::kChosen;
    return found;
  }
  const auto& chosen = points.chosen();
  const std::uint64_t number =
      trial - static_cast<std::uint64_t>(std::distance(chosen.begin(), chosen.lower_bound(trial)));
  if (((*sampler)->is_sequence() ? number : trial) < choice.kept.size()) {
    found.source = TrialSuggestion::Source::kBefore;
    return found;
  }
  if (KindOf(choice).pipes) {
    found.source = TrialSuggestion::Source::kProgram;
    return found;
  }
  if ((*sampler)->is_sequence()) {
    found.number = number;
    found.why = (*sampler)->Explain(number);
    return found;
  }
  std::optional<SuggestedPoint> last;
  for (std::size_t tries = 0, known = at + 1; known-- > 0 && tries < kMaxEntriesBefore;) {
    if (known < at && !Informs(entries[known])) continue;  // nothing else was passed on then
    ++tries;
    auto asked = AskAfter(space, sweep, entries, known, trial, edits);
    if (!asked) return Fail(asked.error());
    if (asked->point == found.point) {
      found.why = *std::move(asked);
      return found;
    }
    if (!last) last = *std::move(asked);
  }
  found.instead = last->point;
  return found;
}

}  // namespace muster
