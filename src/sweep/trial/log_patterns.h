// The log patterns of a sweep: which metrics are read from a line of a log, and which words classify a failure. Besides
// cli/lookup/line_search.h the only user of RE2 (https://github.com/google/re2/wiki/Syntax): linear time for every
// pattern.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"
#include "space/sweep_description.h"

namespace muster {

// Converts a value that a program wrote: a whole number, a number, null if it is not finite ("nan", "-inf"), else the
// text. Ignores commas, semicolons and closing brackets after a number: "2.31," is 2.31.
Value ValueWritten(std::string_view text);

// The patterns of MetricsChoice.
class LogPatterns {
 public:
  // Kind "pattern": an invalid regular expression, or not exactly one group.
  static Result<LogPatterns> Of(const std::map<std::string, std::string>& patterns, const Place& place);
  LogPatterns(LogPatterns&&) noexcept;
  LogPatterns& operator=(LogPatterns&&) noexcept;
  ~LogPatterns();

  bool empty() const;
  // Whether this metric has the only pattern.
  bool only(const std::string& metric) const;
  // By metric, the group of the first match in the line; metrics without a match are omitted.
  std::map<std::string, Value> Find(std::string_view line) const;

 private:
  struct Compiled;
  explicit LogPatterns(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

// The patterns of RetryChoice.
class ClassPatterns {
 public:
  // Kind "pattern": an invalid regular expression, or a class that is no failure.
  static Result<ClassPatterns> Of(const std::map<TrialClass, std::string>& patterns, const Place& place);
  ClassPatterns();  // no patterns
  ClassPatterns(ClassPatterns&&) noexcept;
  ClassPatterns& operator=(ClassPatterns&&) noexcept;
  ~ClassPatterns();

  struct Match {
    TrialClass trial_class = TrialClass::kCrash;
    std::string line;
  };
  // For the last line that matches a pattern; if several match in one line, the first class.
  std::optional<Match> Find(const std::vector<std::string>& lines) const;

 private:
  struct Compiled;
  explicit ClassPatterns(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace muster
