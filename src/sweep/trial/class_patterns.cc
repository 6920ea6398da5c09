#include "sweep/trial/class_patterns.h"

#include <utility>

namespace muster {

Result<ClassPatterns> ClassPatterns::Of(const std::map<TrialClass, std::string>& patterns, const Place& place) {
  ClassPatterns made;
  Diagnostics problems;
  for (const auto& [trial_class, text] : patterns) {
    const std::string name(TrialClassName(trial_class));
    if (!IsFailure(trial_class)) {
      problems.push_back(Error("pattern", place, name + " is not a failure, so it has no patterns"));
      continue;
    }
    auto pattern = LinePattern::Of(text, "the class " + name, place);
    if (pattern) {
      made.patterns_.emplace(trial_class, *std::move(pattern));
    } else {
      problems.insert(problems.end(), pattern.error().begin(), pattern.error().end());
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return made;
}

std::optional<ClassPatterns::Match> ClassPatterns::Find(const std::vector<std::string>& lines) const {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    for (const auto& [trial_class, pattern] : patterns_) {
      if (pattern.Matches(*line)) return Match{trial_class, *line};
    }
  }
  return std::nullopt;
}

}  // namespace muster
