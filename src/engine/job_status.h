// The states of an engine's jobs, from what its commands print.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/engine_page.h"
#include "muster/result.h"

namespace muster {

struct JobStatus {
  JobState state = JobState::kUnknown;
  std::string word;              // the engine's own: "NODE_FAIL"
  std::string reason;            // the engine's own words; may be empty
  std::optional<int> exit_code;  // of an ended job; the number of a signal counts as 128 and it
  std::string hosts;             // the engine's list; may be empty

  bool operator==(const JobStatus&) const = default;
};

// Whether the job is over; kVanished is.
bool IsOver(JobState state);

// What a command of an EngineQuery printed.
struct JobAnswer {
  std::string out;
  std::string err;
  int exit_code = 0;
};

// The status of each of `jobs`, about which the query was asked; kVanished for those that the engine does not know.
// Kind "engine": the engine did not answer, so that nothing is known about the jobs: ask again later. Never fails
// because of a word that the page does not know: such a state is kUnknown.
Result<std::map<std::string, JobStatus>> JobStates(const EnginePage& page, const EngineQuery& query,
                                                   std::span<const std::string> jobs, const JobAnswer& answer);

// How the engine says in the output of a job that it ended it: the last such words. Nothing: it does not.
std::optional<JobState> EndInOutput(const EnginePage& page, std::string_view output);

// What two queries come to: the second, asked later of another source, counts where it knows more.
JobStatus CombinedStatus(const JobStatus& first, const JobStatus& second);

}  // namespace muster
