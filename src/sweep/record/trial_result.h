// The result of a trial. Each of its attempts may end with a value, but a trial has one: that of the attempt which it
// keeps. Rankings, tables, pages, exports and counts are about this attempt.
#pragma once

#include <optional>
#include <string>

#include "space/sweep_description.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// What decides which attempt is kept.
struct AttemptOutcome {
  bool ended = false;
  bool interrupted = false;  // AttemptEnded
  TrialClass trial_class = TrialClass::kOk;
  std::optional<double> loss = {};
};

AttemptOutcome OutcomeOf(const AttemptEnded& end);

// The loss that the attempt gives its trial: one that succeeded, or that early stopping ended. What a failed or an
// interrupted one reported last is not a result.
std::optional<double> ResultOf(const AttemptOutcome& attempt);

// Whether the trial keeps `later` instead of `earlier`, both of the same trial. The best of the attempts that succeeded
// is kept, of equal ones the first; without one, the last that early stopping ended; without that, the last.
bool IsKeptInstead(const AttemptOutcome& later, const AttemptOutcome& earlier);

// How a trial stands.
struct TrialStanding {
  bool over = false;                        // no further attempt follows
  bool latest_ended = false;                // its latest attempt has ended,
  bool latest_interrupted = false;          // and how
  TrialClass kept_class = TrialClass::kOk;  // of the attempt that it keeps, if that has ended

  // The class of the attempt that it keeps; if it is not over, "running", "again" (it failed and is retried) or
  // "interrupted"; or "lost": it was running when the head was killed. `live`: a head is running.
  std::string State(bool live) const;
};

// As IsKeptInstead for trials whose losses do not matter: the class of the kept one of two.
TrialClass KeptClass(TrialClass later, TrialClass earlier);

}  // namespace muster
