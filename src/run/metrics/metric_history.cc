#include "run/metrics/metric_history.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <system_error>
#include <tuple>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/known_secrets.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "run/directory/private_files.h"
#include "run/directory/process_output.h"

namespace muster {
namespace {

constexpr std::size_t kMaxText = 200;

bool IsReported(const std::string& name, const Value& value) {
  if (name.empty() || name.size() > kMaxText || !IsUtf8(name)) return false;
  const std::string* text = value.AsString();
  return value.IsNull() || value.IsNumber() || value.AsBool() != nullptr ||
         (text != nullptr && text->size() <= kMaxText);
}

// Replaces NaN, Infinity and -Infinity outside strings by null.
std::string WithoutNotFinite(std::string_view text) {
  std::string plain;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      plain += c;
      if (c == '\\' && i + 1 < text.size()) plain += text[++i];
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    std::size_t length = 0;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (text.substr(i).starts_with(word)) length = word.size();
    }
    if (length > 0) {
      plain += "null";
      i += length - 1;
    } else {
      plain += c;
    }
  }
  return plain;
}

}  // namespace

std::optional<MetricValues> MetricsLine(std::string_view line) {
  auto value = ValueFromJsonText(line);
  if (!value && (line.find("NaN") != line.npos || line.find("Infinity") != line.npos)) {
    value = ValueFromJsonText(WithoutNotFinite(line));
  }
  if (!value || value->AsMap() == nullptr) return std::nullopt;
  MetricValues reported;
  for (const auto& [name, one] : *value->AsMap()) {
    if (!IsReported(name, one) || reported.size() == kMaxMetricNames) continue;
    const std::string* const text = one.AsString();
    reported.emplace(WithoutSecrets(name), text != nullptr ? Value(WithoutSecrets(*text)) : one);
  }
  return reported;
}

namespace {

// Removes ".17" from the end of the text.
std::optional<std::uint32_t> TakeNumber(std::string_view& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto number = ParseNumber<std::uint32_t>(text.substr(dot + 1));
  if (number) text = text.substr(0, dot);
  return number;
}

}  // namespace

std::string MetricsText(const MetricValues& values) {
  constexpr std::size_t kMaxValues = 4;
  std::string text;
  std::size_t shown = 0;
  const auto add = [&](const std::string& name, const Value& value) {
    if (!value.IsNumber() || shown++ >= kMaxValues) return;
    text += fmt::format("{}{} {:.5g}", text.empty() ? "" : ", ", name, value.Number());
  };
  const auto counts = [](const std::string& name) { return name == "step" || name == "epoch" || name == "iteration"; };
  for (const auto& [name, value] : values) {
    if (counts(name)) add(name, value);
  }
  for (const auto& [name, value] : values) {
    if (!counts(name)) add(name, value);
  }
  return Printable(text);
}

std::optional<MetricValues> NewestReport(int run_folder, const std::string& path) {
  constexpr std::size_t kWindow = 4U << 10;
  const std::vector<std::string> lines = LastLines(run_folder, path, 1, kWindow);
  return lines.empty() ? std::nullopt : MetricsLine(lines.back());
}

std::optional<MetricsFileName> ParseMetricsFileName(std::string_view name) {
  constexpr std::string_view kEnding = ".jsonl";
  if (!name.ends_with(kEnding)) return std::nullopt;
  name.remove_suffix(kEnding.size());
  const auto attempt = TakeNumber(name);
  const auto index = attempt ? TakeNumber(name) : std::nullopt;
  if (!index || name.empty()) return std::nullopt;
  return MetricsFileName{std::string(name), *index, *attempt};
}

RoleReports NewestReports(const std::string& run_dir) {
  const UniqueFd folder(::open((run_dir + "/metrics").c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return {};
  // The process with the lowest number represents its role, with the output of its latest attempt.
  std::map<std::string, std::pair<MetricsFileName, std::string>> speakers;
  std::error_code error;
  std::size_t seen = 0;
  for (std::filesystem::directory_iterator it(run_dir + "/metrics", error), end;
       !error && it != end && seen < kMaxMetricFiles; it.increment(error), ++seen) {
    std::string name = it->path().filename().string();
    auto found = ParseMetricsFileName(name);
    if (!found) continue;
    const auto [speaker, is_new] = speakers.try_emplace(found->role, *found, name);
    const MetricsFileName& known = speaker->second.first;
    const bool better = found->index < known.index || (found->index == known.index && found->attempt > known.attempt);
    if (!is_new && better) speaker->second = {*std::move(found), std::move(name)};
  }
  RoleReports reports;
  for (const auto& [role, speaker] : speakers) {
    if (auto report = NewestReport(folder.get(), speaker.second)) reports.emplace(role, *std::move(report));
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

// The members of one report that are numbers.
using Numbers = std::vector<std::pair<std::string_view, double>>;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A reader for the lines that almost every program writes, ten times faster than the general one: an object of names
// without escapes and plain values. Everything else, and everything invalid, is left to MetricsLine().
class PlainLine {
 public:
  explicit PlainLine(std::string_view line) : rest_(line) {}

  // False: not such a line.
  bool Read(Numbers& numbers) {
    constexpr std::size_t kMaxMembers = 32;
    numbers.clear();
    names_.clear();
    if (!Skip('{') || Next() == '}') return false;
    while (names_.size() < kMaxMembers) {
      std::string_view name;
      if (!Text(name) || name.empty() || !Skip(':')) return false;
      if (std::find(names_.begin(), names_.end(), name) != names_.end()) return false;
      names_.push_back(name);
      if (!Member(name, numbers)) return false;
      if (Skip('}')) return Next() == '\0';
      if (!Skip(',')) return false;
    }
    return false;
  }

 private:
  char Next() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r')) {
      rest_.remove_prefix(1);
    }
    return rest_.empty() ? '\0' : rest_.front();
  }

  bool Skip(char c) {
    if (Next() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool Text(std::string_view& text) {
    constexpr std::size_t kMax = 200;
    if (!Skip('"')) return false;
    const std::size_t end = rest_.find('"');
    if (end == rest_.npos || end > kMax) return false;
    text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
  }

  bool Member(std::string_view name, Numbers& numbers) {
    const char c = Next();
    if (c == '"') {
      std::string_view text;
      return Text(text);
    }
    if (IsDigit(c) || c == '-') return Number(name, numbers);
    for (const std::string_view word : {"null", "true", "false"}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      if (word == "null") numbers.emplace_back(name, kNotFinite);
      return true;
    }
    return false;
  }

  bool Number(std::string_view name, Numbers& numbers) {
    const std::string_view digits = rest_.substr(rest_.front() == '-' ? 1 : 0);
    if (digits.empty() || !IsDigit(digits[0]) || (digits[0] == '0' && digits.size() > 1 && IsDigit(digits[1]))) {
      return false;
    }
    double number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const std::size_t length = static_cast<std::size_t>(end - rest_.data());
    if (error != std::errc{} || rest_[length - 1] == '.' || rest_.substr(0, length).find(".e") != rest_.npos ||
        rest_.substr(0, length).find(".E") != rest_.npos) {
      return false;
    }
    rest_.remove_prefix(length);
    numbers.emplace_back(name, number);
    return true;
  }

  std::string_view rest_;
  std::vector<std::string_view> names_;
};

void Append(MetricHistory& history, std::string_view name, double number) {
  auto found = history.columns.find(name);
  if (found == history.columns.end()) {
    if (history.columns.size() >= kMaxMetricNames) return;
    found = history.columns.try_emplace(WithoutSecrets(name)).first;
  }
  found->second.reports.push_back(history.reports);
  found->second.values.push_back(number);
}

std::string FileName(const MetricsFileName& file) {
  return fmt::format("{}.{}.{}.jsonl", file.role, file.index, file.attempt);
}

std::vector<ProcessHistory> ReadHistories(const std::string& run_dir, bool first_of_role, std::size_t most) {
  std::vector<ProcessHistory> histories;
  for (const MetricsFileName& file : MetricsFiles(run_dir)) {
    const bool same_role = !histories.empty() && histories.back().role == file.role;
    const bool same = same_role && histories.back().index == file.index;
    if (!same && ((first_of_role && same_role) || histories.size() >= most)) continue;
    const auto read = ReadMetricHistory(run_dir, file);
    if (!read || (read->empty() && read->bad_lines == 0)) continue;
    if (!same) histories.push_back({file.role, file.index, {}, {}});
    histories.back().attempt_starts.push_back(histories.back().history.reports);
    histories.back().history.Join(*read);
  }
  return histories;
}

}  // namespace

std::size_t MetricHistory::Take(std::string_view text) {
  const std::size_t given = text.size();
  Numbers numbers;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    if (line.size() > kMaxMetricsLine || reports == std::numeric_limits<std::uint32_t>::max()) {
      ++bad_lines;
      continue;
    }
    if (PlainLine(line).Read(numbers)) {
      for (const auto& [name, number] : numbers) Append(*this, name, number);
      ++reports;
    } else if (const auto report = MetricsLine(line)) {
      Add(*report);
    } else {
      ++bad_lines;
    }
  }
  return given - text.size();
}

void MetricHistory::Add(const MetricValues& report) {
  for (const auto& [name, value] : report) {
    if (value.IsNumber() || value.IsNull()) Append(*this, name, value.IsNull() ? kNotFinite : value.Number());
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
  skipped_bytes += more.skipped_bytes;
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

MetricSeries SeriesOf(const MetricHistory& history, std::string_view y, std::string_view x) {
  MetricSeries series;
  const auto of_y = history.columns.find(y);
  const auto of_x = history.columns.find(x);
  if (of_y == history.columns.end() || (!x.empty() && of_x == history.columns.end())) return series;
  const MetricColumn& values = of_y->second;
  series.y.reserve(values.values.size());
  series.x.reserve(values.values.size());
  std::size_t next = 0;  // in the column of x
  double at = kNotFinite;
  for (std::size_t i = 0; i < values.reports.size(); ++i) {
    if (x.empty()) {
      at = values.reports[i] + 1.0;
    } else {
      const MetricColumn& steps = of_x->second;
      for (; next < steps.reports.size() && steps.reports[next] <= values.reports[i]; ++next) {
        if (std::isfinite(steps.values[next])) at = steps.values[next];
      }
      if (std::isnan(at)) continue;
    }
    series.x.push_back(at);
    series.y.push_back(values.values[i]);
  }
  return series;
}

std::string StepMetric(const MetricHistory& history, std::string_view preferred) {
  if (!preferred.empty() && history.columns.contains(preferred)) return std::string(preferred);
  for (const char* name : {"step", "global_step", "iteration", "iter", "epoch"}) {
    if (history.columns.contains(name)) return name;
  }
  return {};
}

std::vector<MetricsFileName> MetricsFiles(const std::string& run_dir) {
  std::vector<MetricsFileName> files;
  const std::string path = run_dir + "/metrics";
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

std::optional<MetricHistory> ReadMetricHistory(const std::string& run_dir, const MetricsFileName& file) {
  const auto folder = OpenFolder(AT_FDCWD, run_dir + "/metrics");
  if (!folder) return std::nullopt;
  const auto tail = ReadTail(folder->get(), FileName(file), kMaxHistoryBytes, O_NOFOLLOW);
  if (!tail) return std::nullopt;
  MetricHistory history;
  std::string_view text(tail->bytes);
  history.skipped_bytes = tail->offset;
  if (tail->offset > 0) {  // skip a partial line
    const std::size_t partial = std::min(text.size(), text.find('\n') + 1);
    history.skipped_bytes += partial;
    text.remove_prefix(partial);
  }
  history.Take(text);
  return history;
}

std::optional<std::uint64_t> ReadMetricParts(const std::string& run_dir, const MetricsFileName& file,
                                             std::uint64_t most,
                                             const std::function<bool(const MetricHistory&)>& take) {
  static_assert(kMetricsPartBytes > kMaxMetricsLine);
  const auto folder = OpenFolder(AT_FDCWD, run_dir + "/metrics");
  if (!folder) return std::nullopt;
  struct stat status {};
  const auto opened = OpenRegular(folder->get(), FileName(file), status, O_NOFOLLOW);
  if (!opened) return std::nullopt;
  std::string text(kMetricsPartBytes, '\0');
  std::size_t kept = 0;  // the beginning of a line
  std::uint64_t bytes = 0;
  bool too_long = false;  // the line that is being read is left out
  while (bytes < most) {
    const std::size_t room = static_cast<std::size_t>(std::min<std::uint64_t>(text.size() - kept, most - bytes));
    const ssize_t got = ::read(opened->get(), text.data() + kept, room);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    bytes += static_cast<std::uint64_t>(got);
    std::string_view lines(text.data(), kept + static_cast<std::size_t>(got));
    if (too_long) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      too_long = end == lines.size();
      lines.remove_prefix(end + (too_long ? 0 : 1));
    }
    MetricHistory part;
    std::size_t taken = part.Take(lines);
    if (lines.size() - taken > kMaxMetricsLine) {
      ++part.bad_lines;
      too_long = true;
      taken = lines.size();
    }
    if ((!part.empty() || part.bad_lines > 0) && !take(part)) return bytes;
    kept = lines.size() - taken;
    std::copy(lines.end() - static_cast<std::ptrdiff_t>(kept), lines.end(), text.begin());
  }
  return bytes;
}

std::vector<ProcessHistory> ReadMetricHistories(const std::string& run_dir, std::size_t most) {
  return ReadHistories(run_dir, false, most);
}

std::vector<ProcessHistory> ReadRoleHistories(const std::string& run_dir) {
  return ReadHistories(run_dir, true, kMaxMetricFiles);
}

}  // namespace muster
