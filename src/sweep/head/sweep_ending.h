// What a sweep's head leaves with: its exit code and why, from what the course and the head know at the end.
#pragma once

#include <string>

#include "sweep/course/sweep_course.h"
#include "sweep/head/sweep_head.h"
#include "sweep/record/impossible_reasons.h"

namespace muster {

// `why` and `exit_code`: of what stopped the sweep; empty and 0 if nothing did. `reasons`: why points are impossible
// that were judged before any trial began.
SweepOutcome OutcomeOf(const SweepCourse& course, const ImpossibleReasons& reasons, const std::string& why,
                       int exit_code);

}  // namespace muster
