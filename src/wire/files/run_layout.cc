#include "wire/files/run_layout.h"

#include <algorithm>
#include <array>

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

}  // namespace muster
