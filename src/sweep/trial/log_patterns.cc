#include "sweep/trial/log_patterns.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/values/shell_quote.h"
#include "base/values/utf8.h"

namespace muster {
namespace {

constexpr std::size_t kLongestText = 200;

using Pattern = std::unique_ptr<const RE2>;

Result<Pattern> Compile(const std::string& pattern, const std::string& what, const Place& place) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(2 << 20);
  auto compiled = std::make_unique<const RE2>(pattern, options);
  if (compiled->ok()) return compiled;
  return Fail(Error("pattern", place,
                    fmt::format("the pattern of {}, {}, is not a valid regular expression: {}", what, Quoted(pattern),
                                compiled->error()),
                    "escape characters to match literally with a backslash; in Lua, write it between [[ and ]]"));
}

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

struct LogPatterns::Compiled {
  std::map<std::string, Pattern> patterns;
};

LogPatterns::LogPatterns(std::unique_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
LogPatterns::LogPatterns(LogPatterns&&) noexcept = default;
LogPatterns& LogPatterns::operator=(LogPatterns&&) noexcept = default;
LogPatterns::~LogPatterns() = default;

Result<LogPatterns> LogPatterns::Of(const std::map<std::string, std::string>& patterns, const Place& place) {
  auto compiled = std::make_unique<Compiled>();
  Diagnostics problems;
  for (const auto& [metric, text] : patterns) {
    auto pattern = Compile(text, "the metric " + metric, place);
    if (!pattern) {
      problems.insert(problems.end(), pattern.error().begin(), pattern.error().end());
      continue;
    }
    const int groups = (*pattern)->NumberOfCapturingGroups();
    if (groups != 1) {
      problems.push_back(
          Error("pattern", place,
                fmt::format("the pattern of the metric {}, {}, has {} groups; its one group is the value", metric,
                            Quoted(text), groups),
                groups == 0 ? "put brackets round the number: loss: (\\S+)"
                            : "write (?:…) for those that are not the value"));
      continue;
    }
    compiled->patterns.emplace(metric, *std::move(pattern));
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return LogPatterns(std::move(compiled));
}

bool LogPatterns::empty() const { return compiled_->patterns.empty(); }

bool LogPatterns::only(const std::string& metric) const {
  return compiled_->patterns.size() == 1 && compiled_->patterns.contains(metric);
}

std::map<std::string, Value> LogPatterns::Find(std::string_view line) const {
  std::map<std::string, Value> found;
  for (const auto& [metric, pattern] : compiled_->patterns) {
    re2::StringPiece group;
    if (!RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *pattern, &group)) continue;
    found.emplace(metric, ValueWritten(std::string_view(group.data(), group.size())));
  }
  return found;
}

struct ClassPatterns::Compiled {
  std::map<TrialClass, Pattern> patterns;
};

ClassPatterns::ClassPatterns() : compiled_(std::make_unique<Compiled>()) {}
ClassPatterns::ClassPatterns(std::unique_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
ClassPatterns::ClassPatterns(ClassPatterns&&) noexcept = default;
ClassPatterns& ClassPatterns::operator=(ClassPatterns&&) noexcept = default;
ClassPatterns::~ClassPatterns() = default;

Result<ClassPatterns> ClassPatterns::Of(const std::map<TrialClass, std::string>& patterns, const Place& place) {
  auto compiled = std::make_unique<Compiled>();
  Diagnostics problems;
  for (const auto& [trial_class, text] : patterns) {
    const std::string name(TrialClassName(trial_class));
    if (!IsFailure(trial_class)) {
      problems.push_back(Error("pattern", place, name + " is not a failure, so it has no patterns"));
      continue;
    }
    auto pattern = Compile(text, "the class " + name, place);
    if (pattern) {
      compiled->patterns.emplace(trial_class, *std::move(pattern));
    } else {
      problems.insert(problems.end(), pattern.error().begin(), pattern.error().end());
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  return ClassPatterns(std::move(compiled));
}

std::optional<ClassPatterns::Match> ClassPatterns::Find(const std::vector<std::string>& lines) const {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
    for (const auto& [trial_class, pattern] : compiled_->patterns) {
      if (RE2::PartialMatch(*line, *pattern)) return Match{trial_class, *line};
    }
  }
  return std::nullopt;
}

}  // namespace muster
