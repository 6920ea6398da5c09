#include "metrics/log_patterns.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <re2/re2.h>
#include <sys/stat.h>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

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
  std::string kept(text.substr(0, kMaxMetricText));
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

MetricValues LogPatterns::Find(std::string_view line) const {
  MetricValues found;
  for (const auto& [metric, pattern] : patterns_) {
    if (const auto group = pattern.Group(line)) found.emplace(metric, ValueWritten(*group));
  }
  return found;
}

Result<ProcessId> LoggingProcess(const Plan& plan, const LogMetrics& choice, const Place& place) {
  std::optional<ProcessId> of_rank_0;
  std::vector<std::string> roles;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    const std::string& role = plan.roles[process.role].name;
    if (process.index != 0) {
      if (process.rank == 0U && !of_rank_0) of_rank_0 = id;
      continue;
    }
    if (role == choice.role) return id;
    if (process.rank == 0U && !of_rank_0) of_rank_0 = id;
    roles.push_back(role);
  }
  if (!choice.role.empty() || roles.empty()) {
    return Fail(Error("metrics", place,
                      fmt::format("metrics are to be read in the log of role {}, and the plan has no process of it",
                                  Quoted(choice.role)),
                      DidYouMean(choice.role, roles)));
  }
  return of_rank_0.value_or(0);
}

std::optional<MetricValues> LogReports::Take(std::string_view line) {
  MetricValues found = patterns_.Find(line);
  if (found.empty()) return std::nullopt;
  if (const auto named = found.find(resource_); named != found.end()) {
    latest_ = named->second;
    if (found.size() == 1 && !patterns_.only(resource_)) return std::nullopt;
  } else if (!latest_.IsNull()) {
    found.emplace(resource_, latest_);
  }
  return found;
}

std::vector<std::string> LogsOf(const std::string& run_dir, const std::string& process) {
  constexpr std::uint32_t kMaxAttempts = 10'000;
  std::vector<std::string> logs;
  for (std::uint32_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    std::string name = fmt::format("{}.{}{}", process, attempt, kLogEnding);
    struct stat facts {};
    if (::lstat(fmt::format("{}/{}/{}", run_dir, kLogsEntry.name, name).c_str(), &facts) != 0) break;
    logs.push_back(std::move(name));
  }
  return logs;
}

void RunLog::Read(bool over, const Report& report) {
  std::uint32_t attempt = 0;
  for (const std::string& name : LogsOf(run_dir_, process_)) {
    const std::string path = fmt::format("{}/{}/{}", run_dir_, kLogsEntry.name, name);
    GrowingFile& log = logs_.try_emplace(attempt, GrowingFile::Kind::kLog, path).first->second;
    const auto take = [&](std::string_view line, bool) {
      if (const auto values = reports_.Take(line)) report(attempt, *values);
    };
    log.ReadToEnd(take, kMaxHistoryBytes);
    if (over) log.Flush(take);
    ++attempt;
  }
}

std::optional<ProcessHistory> ReadLogHistory(const LogMetrics& choice, const std::string& resource,
                                             const std::string& run_dir, const std::string& process, bool over) {
  const auto patterns = LogPatterns::Of(choice.patterns, {});
  if (!patterns || patterns->empty()) return std::nullopt;
  ProcessHistory history;
  std::optional<std::uint32_t> last;
  RunLog(*patterns, resource, run_dir, process).Read(over, [&](std::uint32_t attempt, const MetricValues& report) {
    if (last != attempt) history.attempt_starts.push_back(history.history.reports);
    last = attempt;
    history.history.Add(report);
  });
  return history;
}

}  // namespace muster
