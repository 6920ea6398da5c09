// Names of the columns of trials, in one list for all views: tables, conditions, exports, pages and the Python package.
//
// No parameter, tag or metric has one of these names there: a metric called "value" is metric.value in every view.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace muster {

// The objective with the sign by which smaller is better. "loss" is not taken: it is a metric of the user.
inline constexpr std::string_view kSignedObjective = "objective.loss";

inline constexpr std::array<std::string_view, 26> kTrialColumns = {
    "trial", "id", "state", "attempt", "value", kSignedObjective, "started", "ended", "took", "hosts", "blamed", "why",
    "run", "plan", "dir", "tags", "note", "tag",
    // of pages, of the Python package, and of curves
    "source", "kind", "seconds", "run_dir", "role", "index", "report", "restart"};

inline bool IsTrialColumn(std::string_view name) {
  return std::find(kTrialColumns.begin(), kTrialColumns.end(), name) != kTrialColumns.end();
}

// `role`: "param", "tag" or "metric".
inline std::string TrialColumnOf(std::string_view role, const std::string& name) {
  return IsTrialColumn(name) ? std::string(role) + "." + name : name;
}

}  // namespace muster
