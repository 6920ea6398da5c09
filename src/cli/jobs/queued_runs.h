// Submitted runs that wait in the queue of their engine: they have a run directory, and no head.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace muster {

struct QueuedRun {
  std::string name;
  std::string run;  // id of the attempt that will begin or, for a later one, of the last
  std::string run_dir;
  std::string submitted_at;  // UTC
  std::string engine;
  std::string job;  // may be empty
  std::size_t attempt = 1;
  std::string state;   // "queued", "cancelled", …; "unknown" if the engine does not answer
  std::string reason;  // the engine's words, or why it does not answer
};

struct JobsOfRuns {
  std::vector<QueuedRun> queued;
  std::set<std::string> suspended;  // directories of runs whose head is there, and whose job the engine has suspended
};
// Those of these run directories; every engine is asked once about all of its jobs. Jobs that ended in the queue are
// not among them.
JobsOfRuns AskAboutJobs(const std::vector<std::string>& run_dirs);
// The run directories below these folders, each a folder of runs or a run directory, that may be those of queued runs.
std::vector<std::string> MayBeQueued(const std::vector<std::string>& folders);
// The run of this directory, if no head has begun there, also if its job has ended; nothing for other directories.
std::optional<QueuedRun> NotBegun(const std::string& run_dir);

// "queued: Resources"
std::string QueueText(const QueuedRun& run);
// "slurm job 12 is queued: Resources", "slurm job 12 ended: failed: JobLaunchFailure", "slurm job 12 was cancelled"
std::string QueueSentence(const QueuedRun& run);
nlohmann::json QueuedJson(const QueuedRun& run);

}  // namespace muster
