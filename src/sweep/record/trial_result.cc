#include "sweep/record/trial_result.h"

namespace muster {
namespace {

int RankOf(TrialClass trial_class) {
  if (trial_class == TrialClass::kOk) return 2;
  return trial_class == TrialClass::kStopped ? 1 : 0;
}

int RankOf(const AttemptOutcome& attempt) {
  return attempt.ended && !attempt.interrupted ? RankOf(attempt.trial_class) : 0;
}

}  // namespace

AttemptOutcome OutcomeOf(const AttemptEnded& end) { return {true, end.interrupted, end.trial_class, end.loss}; }

std::optional<double> ResultOf(const AttemptOutcome& attempt) {
  return RankOf(attempt) > 0 ? attempt.loss : std::nullopt;
}

bool IsKeptInstead(const AttemptOutcome& later, const AttemptOutcome& earlier) {
  const int rank = RankOf(later);
  if (rank != RankOf(earlier)) return rank > RankOf(earlier);
  return rank < 2 || !earlier.loss || (later.loss && *later.loss < *earlier.loss);
}

std::string TrialStanding::State(bool live) const {
  if (over) return std::string(TrialClassName(kept_class));
  if (!latest_ended) return live ? "running" : "lost";
  return latest_interrupted ? "interrupted" : "again";
}

TrialClass KeptClass(TrialClass later, TrialClass earlier) {
  return RankOf(later) >= RankOf(earlier) ? later : earlier;
}

}  // namespace muster
