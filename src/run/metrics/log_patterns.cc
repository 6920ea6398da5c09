#include "run/metrics/log_patterns.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/values/pattern_hint.h"
#include "base/values/shell_quote.h"
#include "base/values/utf8.h"

namespace muster {
namespace {

constexpr std::size_t kLongestText = 200;

// The text as a number, or nothing. "1e5", "+3", ".5"; also "nan" and "inf".
std::optional<Value> NumberWritten(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.starts_with("+")) return std::nullopt;
  const char* const end = text.data() + text.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc() && read.ptr == end) {
    return Value(whole);
  }
  double number = 0;
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ptr != end || (read.ec != std::errc() && read.ec != std::errc::result_out_of_range)) return std::nullopt;
  if (read.ec == std::errc() && !std::isfinite(number)) return Value();
  // Too large for a double counts as infinite, too small as zero.
  if (read.ec != std::errc())
    return text.find("e-") != text.npos || text.find("E-") != text.npos ? Value(0.0) : Value();
  return Value(number);
}

}  // namespace

Value ValueWritten(std::string_view text) {
  if (auto number = NumberWritten(text)) return *std::move(number);
  std::string_view bare = text;
  while (!bare.empty() && std::string_view(",;:)]}").find(bare.back()) != std::string_view::npos) bare.remove_suffix(1);
  if (auto number = NumberWritten(bare)) return *std::move(number);
  std::string kept(text.substr(0, kLongestText));
  while (!kept.empty() && !IsUtf8(kept)) kept.pop_back();
  return Value(std::move(kept));
}

struct LinePattern::Compiled {
  Compiled(const std::string& text, const RE2::Options& options) : pattern(text, options) {}
  RE2 pattern;
};

LinePattern::LinePattern(std::unique_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
LinePattern::LinePattern(LinePattern&&) noexcept = default;
LinePattern& LinePattern::operator=(LinePattern&&) noexcept = default;
LinePattern::~LinePattern() = default;

Result<LinePattern> LinePattern::Of(const std::string& text, const std::string& what, const Place& place) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(2 << 20);
  auto compiled = std::make_unique<const Compiled>(text, options);
  if (compiled->pattern.ok()) return LinePattern(std::move(compiled));
  return Fail(
      Error("pattern", place,
            fmt::format("the pattern of {}, {}, is not a valid regular expression: {}", what, Quoted(text),
                        compiled->pattern.error()),
            PatternHint(compiled->pattern.error()) + (place.line > 0 ? "; in Lua, write it between [[ and ]]" : "")));
}

int LinePattern::groups() const { return compiled_->pattern.NumberOfCapturingGroups(); }

bool LinePattern::Matches(std::string_view line) const {
  return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), compiled_->pattern);
}

std::optional<std::string_view> LinePattern::Group(std::string_view line) const {
  re2::StringPiece group;
  if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), compiled_->pattern, &group)) return std::nullopt;
  return std::string_view(group.data(), group.size());
}

Result<LogPatterns> LogPatterns::Of(const std::map<std::string, std::string>& patterns, const Place& place) {
  LogPatterns made;
  Diagnostics problems;
  for (const auto& [metric, text] : patterns) {
    auto pattern = LinePattern::Of(text, "the metric " + metric, place);
    if (!pattern) {
      problems.insert(problems.end(), pattern.error().begin(), pattern.error().end());
      continue;
    }
    const int groups = pattern->groups();
    if (groups != 1) {
      problems.push_back(
          Error("pattern", place,
                fmt::format("the pattern of the metric {}, {}, has {} groups; its one group is the value", metric,
                            Quoted(text), groups),
                groups == 0 ? "put brackets round the number: loss: (\\S+)"
                            : "write (?:…) for those that are not the value"));
      continue;
    }
    made.patterns_.emplace(metric, *std::move(pattern));
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return made;
}

std::map<std::string, Value> LogPatterns::Find(std::string_view line) const {
  std::map<std::string, Value> found;
  for (const auto& [metric, pattern] : patterns_) {
    if (const auto group = pattern.Group(line)) found.emplace(metric, ValueWritten(*group));
  }
  return found;
}

}  // namespace muster
