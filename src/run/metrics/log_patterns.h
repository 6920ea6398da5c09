// Patterns that are applied to lines of logs: which metrics are read from a line. Besides cli/lookup/line_search.h the
// only user of RE2 (https://github.com/google/re2/wiki/Syntax): linear time for every pattern.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// Converts a value that a program wrote: a whole number, a number, null if it is not finite ("nan", "-inf"), else the
// text. Ignores commas, semicolons and closing brackets after a number: "2.31," is 2.31.
Value ValueWritten(std::string_view text);

class LinePattern {
 public:
  // Kind "pattern": an invalid regular expression. `what` it is of, for messages: "the metric loss".
  static Result<LinePattern> Of(const std::string& text, const std::string& what, const Place& place);
  LinePattern(LinePattern&&) noexcept;
  LinePattern& operator=(LinePattern&&) noexcept;
  ~LinePattern();

  int groups() const;
  bool Matches(std::string_view line) const;
  // The first group of the first match; the pattern must have a group.
  std::optional<std::string_view> Group(std::string_view line) const;

 private:
  struct Compiled;
  explicit LinePattern(std::unique_ptr<const Compiled> compiled);
  std::unique_ptr<const Compiled> compiled_;
};

// The patterns of LogMetrics.
class LogPatterns {
 public:
  // Kind "pattern": an invalid regular expression, or not exactly one group.
  static Result<LogPatterns> Of(const std::map<std::string, std::string>& patterns, const Place& place);

  bool empty() const { return patterns_.empty(); }
  // Whether this metric has the only pattern.
  bool only(const std::string& metric) const { return patterns_.size() == 1 && patterns_.contains(metric); }
  // By metric, the group of the first match in the line; metrics without a match are omitted.
  std::map<std::string, Value> Find(std::string_view line) const;

 private:
  std::map<std::string, LinePattern> patterns_;
};

}  // namespace muster
