// The patterns of a sweep: what is read out of a line of a log, and by which words a failure is told. With
// cli/options/line_search.h all that knows RE2 (https://github.com/google/re2/wiki/Syntax): linear time, whatever the
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

// What a program wrote for a value: a whole number, a number, null for one that is not finite ("nan", "-inf"), else the
// text. Commas, semicolons and closing brackets after a number do not count: "2.31," is 2.31.
Value ValueWritten(std::string_view text);

// The patterns of MetricsChoice.
class LogPatterns {
 public:
  // Kind "pattern": no regular expression, or not with exactly one group.
  static Result<LogPatterns> Of(const std::map<std::string, std::string>& patterns, const Place& place);
  LogPatterns(LogPatterns&&) noexcept;
  LogPatterns& operator=(LogPatterns&&) noexcept;
  ~LogPatterns();

  bool empty() const;
  // Whether there is a pattern for this metric and no other.
  bool only(const std::string& metric) const;
  // By metric, what the first match in the line has in its group; those without a match are left out.
  std::map<std::string, Value> Find(std::string_view line) const;

 private:
  struct Compiled;
  explicit LogPatterns(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

// The patterns of RetryChoice.
class ClassPatterns {
 public:
  // Kind "pattern": no regular expression, or a class that is no failure.
  static Result<ClassPatterns> Of(const std::map<TrialClass, std::string>& patterns, const Place& place);
  ClassPatterns();  // none
  ClassPatterns(ClassPatterns&&) noexcept;
  ClassPatterns& operator=(ClassPatterns&&) noexcept;
  ~ClassPatterns();

  struct Match {
    TrialClass trial_class = TrialClass::kCrash;
    std::string line;
  };
  // Of the last line in which a pattern is found; of several in one line the first class.
  std::optional<Match> Find(const std::vector<std::string>& lines) const;

 private:
  struct Compiled;
  explicit ClassPatterns(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

}  // namespace muster
