#include "run/directory/newest_metrics.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "run/directory/last_lines.h"
#include "run/directory/private_files.h"

namespace muster {
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
  constexpr std::size_t kMostValues = 4;
  std::string text;
  std::size_t shown = 0;
  const auto add = [&](const std::string& name, const Value& value) {
    if (!value.IsNumber() || shown++ >= kMostValues) return;
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
       !error && it != end && seen < kMostMetricFiles; it.increment(error), ++seen) {
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

}  // namespace muster
