#include "wire/files/run_layout.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/values/number_text.h"

namespace muster {

std::span<const RunEntry> RunEntries() {
  static constexpr std::array kEntries = {
      kPlanEntry,        kPlanTextEntry,      kRecipeEntry,     kInputsEntry,  kJournalEntry,  kBindingEntry,
      kContextEntry,     kPythonEntry,        kFilesEntry,      kLogsEntry,    kMetricsEntry,  kUsageEntry,
      kCheckpointsEntry, kNotificationsEntry, kNoteEntry,       kTagsEntry,    kErrorsEntry,   kDumpsEntry,
      kProbeEntry,       kReportEntry,        kReportTextEntry, kControlEntry, kHeadLogEntry,  kLockEntry,
      kJobEntry,         kJobScriptEntry,     kJobOutputEntry,  kJobIdEntry,   kAttemptsEntry, kJobEndEntry};
  return kEntries;
}

const RunEntry* RunEntryOf(std::string_view path) {
  const std::string_view first = path.substr(0, path.find('/'));
  const auto entries = RunEntries();
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const RunEntry& entry) { return first == entry.name; });
  return found == entries.end() ? nullptr : &*found;
}

bool IsNextLog(std::string_view path) {
  return RunEntryOf(path) != nullptr && RunEntryOf(path)->grows && path.ends_with(kNextLogEnding);
}

namespace {

constexpr std::array<std::string_view, 3> kOfAttempts = {"logs/", "errors/", "metrics/"};
constexpr std::string_view kOfProcesses = "context/";

// The number before the first dot; nothing if there is no dot.
std::optional<std::uint32_t> NumberBeforeDot(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  return ParseNumber<std::uint32_t>(text.substr(0, dot));
}

}  // namespace

void CollectedFiles::AddAttempt(std::string_view log) {
  ++given_;
  const std::string_view name = log.starts_with("logs/") ? log.substr(5) : std::string_view();
  const std::size_t end = name.rfind('.');
  const std::size_t dot = end == std::string_view::npos || end == 0 ? end : name.rfind('.', end - 1);
  const auto attempt = dot == std::string_view::npos ? std::nullopt : NumberBeforeDot(name.substr(dot + 1));
  if (!attempt || dot == 0) return AddFile(log);
  const auto [known, is_new] = attempts_.try_emplace(std::string(name.substr(0, dot)), Attempts{*attempt, *attempt});
  known->second.first = std::min(known->second.first, *attempt);
  known->second.last = std::max(known->second.last, *attempt);
}

void CollectedFiles::AddFile(std::string_view path) {
  ++given_;
  if (!path.empty()) files_.emplace(path);
}

bool CollectedFiles::Take(const std::string& path) {
  if (taken_.contains(path)) return true;
  if (taken_.size() >= given_ * kMaxOfOne || (!files_.contains(path) && !IsOfAttempt(path))) return false;
  taken_.insert(path);
  return true;
}

bool CollectedFiles::IsOfAttempt(std::string_view path) const {
  const bool of_process = path.starts_with(kOfProcesses);
  const auto* const folder = std::find_if(kOfAttempts.begin(), kOfAttempts.end(),
                                          [path](std::string_view each) { return path.starts_with(each); });
  if (!of_process && folder == kOfAttempts.end()) return false;
  const std::string_view name = path.substr(path.find('/') + 1);
  if (name.find('/') != std::string_view::npos) return false;
  // Role names may contain dots: "worker.1.0.log" can belong to worker.1 or to worker.1.0.
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.', dot + 1)) {
    const auto found = attempts_.find(name.substr(0, dot));
    if (found == attempts_.end()) continue;
    if (of_process) return true;
    const auto attempt = NumberBeforeDot(name.substr(dot + 1));
    if (attempt && *attempt >= found->second.first && *attempt <= found->second.last) return true;
  }
  return false;
}

}  // namespace muster
