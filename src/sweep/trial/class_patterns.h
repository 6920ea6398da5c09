// The patterns of RetryChoice: which words in the last lines of a failure say of which class it is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"
#include "run/metrics/log_patterns.h"
#include "space/sweep_description.h"

namespace muster {

class ClassPatterns {
 public:
  // Kind "pattern": an invalid regular expression, or a class that is no failure.
  static Result<ClassPatterns> Of(const std::map<TrialClass, std::string>& patterns, const Place& place);

  struct Match {
    TrialClass trial_class = TrialClass::kCrash;
    std::string line;
  };
  // For the last line that matches a pattern; if several match in one line, the first class.
  std::optional<Match> Find(const std::vector<std::string>& lines) const;

 private:
  std::map<TrialClass, LinePattern> patterns_;
};

}  // namespace muster
