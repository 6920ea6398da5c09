// The files of a run directory: the one list of their names, from which muster pack, muster serve and the search for
// evidence follow, and those that are copied from a host to the head. Pure: opens nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace muster {

// The files of a run directory: the one list of their names, from which muster pack, muster serve, the search for
// evidence and the agents of other hosts follow. docs/run_directory.md describes them; a test compares both.
//
// Pure data.

enum class WrittenBy { kHead, kProcesses, kAgents, kUser, kEngine };

enum class Packing {
  kPacked,
  kNever,    // meaningful only on the host of the run, and while it lasts: locks and sockets
  kWithAll,  // the job's own files, which may be large
};

// A file, or a folder with everything below it.
struct RunEntry {
  const char* name;  // the first part of a path; of a folder without "/"
  WrittenBy by = WrittenBy::kHead;
  bool folder = false;
  // Bytes that a reader takes at most; 0: read by lines or in pieces, whose length is limited.
  std::size_t most = 0;
  Packing packing = Packing::kPacked;
  bool quotes_output = false;  // has, or quotes, what programs print: secrets are hidden in archives
  bool watched = false;        // muster serve reads the run again when it changes
  bool from_hosts = false;     // a folder whose files are sent from hosts that do not share the directory
  bool grows = false;          // its files are sent while they grow
  bool of_owner = false;       // may hold secrets: a group that may read the directory cannot read it

  std::string In(const std::string& directory) const { return directory + "/" + name; }
};

inline constexpr RunEntry kPlanEntry = {.name = "plan.json", .most = std::size_t{256} << 20};
inline constexpr RunEntry kPlanTextEntry = {.name = "plan.txt"};
inline constexpr RunEntry kRecipeEntry = {.name = "recipe", .folder = true};
inline constexpr RunEntry kInputsEntry = {.name = "inputs.json", .most = std::size_t{64} << 20};
inline constexpr RunEntry kJournalEntry = {.name = "journal.jsonl", .watched = true};
inline constexpr RunEntry kBindingEntry = {.name = "binding.json", .most = std::size_t{16} << 20};
inline constexpr RunEntry kContextEntry = {.name = "context", .folder = true, .from_hosts = true, .of_owner = true};
inline constexpr RunEntry kPythonEntry = {.name = "python", .folder = true};
inline constexpr RunEntry kFilesEntry = {.name = "files", .folder = true, .of_owner = true};
inline constexpr RunEntry kLogsEntry = {.name = "logs",
                                        .by = WrittenBy::kProcesses,
                                        .folder = true,
                                        .quotes_output = true,
                                        .from_hosts = true,
                                        .grows = true};
inline constexpr RunEntry kMetricsEntry = {.name = "metrics",
                                           .by = WrittenBy::kProcesses,
                                           .folder = true,
                                           .quotes_output = true,
                                           .from_hosts = true,
                                           .grows = true};
inline constexpr RunEntry kErrorsEntry = {
    .name = "errors", .by = WrittenBy::kProcesses, .folder = true, .quotes_output = true, .from_hosts = true};
inline constexpr RunEntry kDumpsEntry = {
    .name = "dumps", .by = WrittenBy::kAgents, .folder = true, .quotes_output = true, .from_hosts = true};
inline constexpr RunEntry kUsageEntry = {.name = "usage.jsonl", .most = std::size_t{64} << 20, .watched = true};
inline constexpr RunEntry kCheckpointsEntry = {
    .name = "checkpoints", .by = WrittenBy::kProcesses, .folder = true, .packing = Packing::kWithAll};
inline constexpr RunEntry kNotificationsEntry = {.name = "notifications.jsonl", .quotes_output = true};
inline constexpr RunEntry kNoteEntry = {
    .name = "note.txt", .by = WrittenBy::kUser, .most = (std::size_t{16} << 10) + 1, .watched = true};
inline constexpr RunEntry kTagsEntry = {
    .name = "tags.json", .by = WrittenBy::kUser, .most = std::size_t{64} << 10, .watched = true};
inline constexpr RunEntry kProbeEntry = {.name = "probe"};
inline constexpr RunEntry kReportEntry = {
    .name = "report.json", .most = std::size_t{16} << 20, .quotes_output = true, .watched = true};
inline constexpr RunEntry kReportTextEntry = {.name = "report.txt", .quotes_output = true};
inline constexpr RunEntry kControlEntry = {.name = "control", .packing = Packing::kNever};
inline constexpr RunEntry kHeadLogEntry = {.name = "head.log", .quotes_output = true};
inline constexpr RunEntry kLockEntry = {.name = "lock", .packing = Packing::kNever};
inline constexpr RunEntry kJobEntry = {.name = "job.json", .most = std::size_t{1} << 20};
inline constexpr RunEntry kJobIdEntry = {.name = "job_id", .most = 257};
inline constexpr RunEntry kJobScriptEntry = {.name = "job.sh"};
inline constexpr RunEntry kJobOutputEntry = {.name = "job.out", .by = WrittenBy::kEngine, .quotes_output = true};
inline constexpr RunEntry kAttemptsEntry = {.name = "attempts.json", .most = std::size_t{1} << 20};
inline constexpr RunEntry kJobEndEntry = {.name = "job_end.json", .by = WrittenBy::kUser, .most = std::size_t{1} << 20};

// Whether the path names the replacement for a log with a limit, which exists for a moment: "logs/worker.0.0.log.next".
inline constexpr std::string_view kNextLogEnding = ".next";
bool IsNextLog(std::string_view path);

// All of them, in the order in which docs/run_directory.md describes them.
std::span<const RunEntry> RunEntries();

// That of a path relative to the run directory, by the path's first part; null if it is not one of muster's.
const RunEntry* RunEntryOf(std::string_view path);

// The files of a run directory that are copied from a host to the head: those of the host's attempts, of dumps, and its
// activation log. The agent sends no other files, and the head accepts no others from it.
//
// Pure: works on paths and opens nothing.

// All paths are relative to the run directory.
class CollectedFiles {
 public:
  // Maximum number of files per added item: an attempt, a dump of a process, or an activation.
  static constexpr std::size_t kMaxOfOne = 8;

  // Adds an attempt by its log, "logs/worker.3.0.log". Its files are those of the same name in logs/, errors/ and
  // metrics/, and those named after its process in context/.
  void AddAttempt(std::string_view log);
  // Adds a single file.
  void AddFile(std::string_view path);

  // Whether the file may be copied. Counts the accepted files: beyond the maximum all others are rejected.
  bool Take(const std::string& path);

 private:
  struct Attempts {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  bool IsOfAttempt(std::string_view path) const;

  std::map<std::string, Attempts, std::less<>> attempts_;  // by process, such as "worker.3"
  std::set<std::string, std::less<>> files_;
  std::set<std::string> taken_;
  std::size_t given_ = 0;
};

}  // namespace muster
