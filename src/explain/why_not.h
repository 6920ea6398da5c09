// Finds the smallest changes of parameters that make an impossible point possible: of one parameter, else of two, by
// judging points as sweeps do. Independent of the command line; the caller judges.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "explain/subject.h"
#include "muster/result.h"
#include "space/space.h"

namespace muster {

// New values of some names; the others stay as they are.
struct PointChange {
  Point values;
  double distance = 0;  // the smaller the nearer: of numbers in doublings, 1 for each other value

  bool operator==(const PointChange&) const = default;
};

// Which of these changed points are possible, in the same order; and by `read`, if any of them was planned, which names
// their results depended on.
struct JudgedChanges {
  std::vector<bool> possible;
  std::vector<std::string> read;
};
using JudgeChanges = std::function<Result<JudgedChanges>(const std::vector<Point>& changes)>;

// The values that are tried instead of one: of whole numbers small ones, neighbours, divisors, multiples and powers of
// two; of texts and lists those that the parameter declares. Nearest first; `related`: numbers of the job.
std::vector<PointChange> OtherValuesOf(const Settable& settable, const std::vector<std::int64_t>& related);

// A space of all these values, by which points are judged (evaluator/evaluator.h).
Space SpaceOfChanges(const std::vector<Settable>& settables, const std::vector<std::int64_t>& related);

struct FoundChanges {
  std::vector<PointChange> changes;  // all of the same number of names, the nearest first; may be empty
  std::size_t tried = 0;             // points
  bool all = true;                   // all pairs of values were tried, if no change of a single one suffices
};

// `refused`: names whose values are no values of them, so that they must change; at most two.
Result<FoundChanges> FindChanges(const std::vector<Settable>& settables, const std::vector<std::int64_t>& related,
                                 const std::vector<std::string>& refused, const JudgeChanges& judge);

}  // namespace muster
