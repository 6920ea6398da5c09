#include "metrics/metric_history.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/system/known_secrets.h"
#include "base/values/quoting.h"
#include "metrics/growing_file.h"
#include "wire/files/run_layout.h"

namespace muster {

std::vector<MetricsFileName> MetricsFiles(const std::string& run_dir) {
  std::vector<MetricsFileName> files;
  const std::string path = run_dir + "/" + kMetricsEntry.name;
  std::error_code error;
  if (std::filesystem::is_symlink(path, error)) return files;
  std::size_t seen = 0;
  for (std::filesystem::directory_iterator it(path, error), end; !error && it != end && seen < kMaxMetricFiles;
       it.increment(error), ++seen) {
    if (auto file = ParseMetricsFileName(it->path().filename().string())) files.push_back(*std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const MetricsFileName& a, const MetricsFileName& b) {
    return std::tie(a.role, a.index, a.attempt) < std::tie(b.role, b.index, b.attempt);
  });
  return files;
}

std::optional<MetricValues> NewestReport(int run_folder, const std::string& path) {
  constexpr std::size_t kWindow = 4U << 10;
  std::string last;
  GrowingFile(GrowingFile::Kind::kMetrics, path, run_folder)
      .ReadToEnd([&](std::string_view line, bool whole) { last = whole ? line : std::string_view(); }, kWindow);
  return last.empty() ? std::nullopt : MetricsLine(last);
}

RoleReports NewestReports(const std::string& run_dir) {
  // The process with the lowest number represents its role, with the output of its latest attempt.
  std::map<std::string, MetricsFileName> speakers;
  for (MetricsFileName& file : MetricsFiles(run_dir)) {
    const auto [known, is_new] = speakers.try_emplace(file.role, file);
    if (!is_new && known->second.index == file.index) known->second = std::move(file);
  }
  RoleReports reports;
  for (const auto& [role, file] : speakers) {
    if (auto report = NewestReport(AT_FDCWD, run_dir + "/" + file.Path())) reports.emplace(role, *std::move(report));
  }
  return reports;
}

std::string MetricsText(const RoleReports& reports) {
  if (reports.size() == 1) return MetricsText(reports.begin()->second);
  std::string text;
  for (const auto& [role, values] : reports) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", Printable(role), MetricsText(values));
  }
  return text;
}

namespace {

constexpr double kNotFinite = std::numeric_limits<double>::quiet_NaN();

// Number of reports before the first one whose progress is at least that of the first report of `next`; all if either
// counts none.
std::uint32_t ReportsBefore(const MetricHistory& history, const MetricHistory& next, const std::string& resource) {
  const std::string steps = StepMetric(next.columns, resource);
  const auto of_next = next.columns.find(steps);
  const auto of_history = history.columns.find(steps);
  if (of_next == next.columns.end() || of_history == history.columns.end()) return history.reports;
  const auto begin = std::find_if(of_next->second.values.begin(), of_next->second.values.end(),
                                  [](double value) { return std::isfinite(value); });
  if (begin == of_next->second.values.end()) return history.reports;
  const MetricColumn& own = of_history->second;
  for (std::size_t i = 0; i < own.values.size(); ++i) {
    if (own.values[i] >= *begin) return own.reports[i];
  }
  return history.reports;
}

std::vector<ProcessHistory> ReadHistories(const std::string& run_dir, bool first_of_role, std::size_t most) {
  std::vector<ProcessHistory> histories;
  for (const MetricsFileName& file : MetricsFiles(run_dir)) {
    const bool same_role = !histories.empty() && histories.back().role == file.role;
    const bool same = same_role && histories.back().index == file.index;
    if (!same && ((first_of_role && same_role) || histories.size() >= most)) continue;
    MetricHistory read;
    GrowingFile(GrowingFile::Kind::kMetrics, run_dir + "/" + file.Path())
        .ReadToEnd([&](std::string_view line, bool whole) { read.Take(line, whole); }, kMaxHistoryBytes);
    if (read.empty() && read.bad_lines == 0) continue;
    if (!same) histories.push_back({file.role, file.index, {}, {}});
    histories.back().attempt_starts.push_back(histories.back().history.reports);
    histories.back().history.Join(read);
  }
  return histories;
}

}  // namespace

void MetricHistory::Append(std::string_view name, double number) {
  auto found = columns.find(name);
  if (found == columns.end()) {
    if (columns.size() >= kMaxMetricNames) return;
    found = columns.try_emplace(WithoutSecrets(name)).first;
  }
  found->second.reports.push_back(reports);
  found->second.values.push_back(number);
}

void MetricHistory::Take(std::string_view line, bool whole) {
  MetricNumbers numbers;
  if (!whole || reports == std::numeric_limits<std::uint32_t>::max()) {
    ++bad_lines;
  } else if (ReadPlainNumbers(line, numbers)) {
    for (const auto& [name, number] : numbers) Append(name, number);
    ++reports;
  } else if (const auto report = MetricsLine(line)) {
    Add(*report);
  } else {
    ++bad_lines;
  }
}

void MetricHistory::Add(const MetricValues& report) {
  for (const auto& [name, value] : report) {
    if (value.IsNumber() || value.IsNull()) Append(name, value.IsNull() ? kNotFinite : value.Number());
  }
  ++reports;
}

void MetricHistory::Join(const MetricHistory& more) {
  for (const auto& [name, column] : more.columns) {
    if (!columns.contains(name) && columns.size() >= kMaxMetricNames) continue;
    MetricColumn& into = columns[name];
    for (const std::uint32_t report : column.reports) into.reports.push_back(reports + report);
    into.values.insert(into.values.end(), column.values.begin(), column.values.end());
  }
  reports += more.reports;
  bad_lines += more.bad_lines;
}

void MetricHistory::KeepFirst(std::uint32_t count) {
  if (count >= reports) return;
  for (auto& [name, column] : columns) {
    const auto end = std::lower_bound(column.reports.begin(), column.reports.end(), count);
    column.values.resize(static_cast<std::size_t>(end - column.reports.begin()));
    column.reports.erase(end, column.reports.end());
  }
  std::erase_if(columns, [](const auto& column) { return column.second.reports.empty(); });
  reports = count;
}

HeldValue::HeldValue(const MetricHistory& history, std::string_view metric, double before) : value_(before) {
  if (const auto found = history.columns.find(metric); found != history.columns.end()) column_ = &found->second;
}

double HeldValue::At(std::uint32_t report) {
  for (; column_ != nullptr && next_ < column_->reports.size() && column_->reports[next_] <= report; ++next_) {
    if (std::isfinite(column_->values[next_])) value_ = column_->values[next_];
  }
  return value_;
}

MetricSeries SeriesOf(const MetricHistory& history, std::string_view y, std::string_view x) {
  MetricSeries series;
  const auto found = history.columns.find(y);
  if (found == history.columns.end()) return series;
  const MetricColumn& values = found->second;
  series.y.reserve(values.values.size());
  series.x.reserve(values.values.size());
  HeldValue steps(history, x);
  for (std::size_t i = 0; i < values.reports.size(); ++i) {
    const double at = x.empty() ? values.reports[i] + 1.0 : steps.At(values.reports[i]);
    if (std::isnan(at)) continue;
    series.x.push_back(at);
    series.y.push_back(values.values[i]);
  }
  return series;
}

std::optional<std::uint64_t> ReadMetricParts(const std::string& run_dir, const MetricsFileName& file,
                                             std::uint64_t most,
                                             const std::function<bool(const MetricHistory&)>& take) {
  GrowingFile reports(GrowingFile::Kind::kMetrics, run_dir + "/" + file.Path());
  if (!reports.Open()) return std::nullopt;
  std::uint64_t read = 0;
  for (bool more = true; more && read < most;) {
    MetricHistory part;
    more = reports.Read([&](std::string_view line, bool whole) { part.Take(line, whole); },
                        std::min<std::uint64_t>(GrowingFile::kMaxAtOnce, most - read));
    more = more && reports.offset() > read;  // else the file was written anew
    read = reports.offset();
    if ((!part.empty() || part.bad_lines > 0) && !take(part)) break;
  }
  return read;
}

std::vector<ProcessHistory> ReadMetricHistories(const std::string& run_dir, std::size_t most) {
  return ReadHistories(run_dir, false, most);
}

std::vector<ProcessHistory> ReadRoleHistories(const std::string& run_dir) {
  return ReadHistories(run_dir, true, kMaxMetricFiles);
}

void ContinueHistory(std::vector<ProcessHistory>& all, ProcessHistory later, const std::string& resource) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.role == later.role; });
  if (same == all.end()) return all.push_back(std::move(later));
  same->history.KeepFirst(ReportsBefore(same->history, later.history, resource));
  std::erase_if(same->attempt_starts, [&](std::uint32_t start) { return start >= same->history.reports; });
  for (const std::uint32_t start : later.attempt_starts) same->attempt_starts.push_back(same->history.reports + start);
  same->history.Join(later.history);
}

}  // namespace muster
