#include "sweep/head/trial_resumption.h"

#include <filesystem>
#include <system_error>

#include "run/directory/checkpoints.h"
#include "sweep/record/sweep_directory.h"

namespace muster {

std::optional<TrialResumption> ResumptionOfTrial(const std::string& sweep_dir, const SweepProgress& account,
                                                 TrialNumber trial, const CheckpointPlace& place) {
  const auto found = account.open().find(trial);
  if (found == account.open().end() || place.dir.marked.empty()) return std::nullopt;
  const OpenTrial& open = found->second;
  if (open.attempts <= open.first) return std::nullopt;
  const std::uint32_t last = open.attempts - 1;
  const std::string run_dir = sweep_dir + "/" + TrialFolder(open.id, last);
  const auto own = PlaceInRun(place, run_dir);
  if (!own || !own->dir.marked.starts_with(run_dir + "/")) return std::nullopt;
  if (const auto complete = CompleteCheckpoints(*own)) {
    return TrialResumption{open.run_id, {last, complete->back().path}};
  }
  std::error_code error;
  if (open.resumed.checkpoint.empty() || !std::filesystem::exists(open.resumed.checkpoint, error)) return std::nullopt;
  return TrialResumption{open.run_id, open.resumed};
}

}  // namespace muster
