// The command lines of torchrun, msrun and mpirun, read: what they start, how often and where.
//
// Pure: nothing is looked up, no script is opened. Options are those of torch.distributed.run of PyTorch 2, msrun of
// MindSpore 2.3 and mpirun of Open MPI 4; what muster does anyway is told with the reason why nothing follows from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "muster/result.h"

namespace muster {

enum class JobLauncher : std::uint8_t { kTorchrun, kMsrun, kMpirun };

// By their programs' names.
std::optional<JobLauncher> LauncherByName(std::string_view name);
std::string_view LauncherName(JobLauncher launcher);

struct LauncherCall {
  JobLauncher launcher = JobLauncher::kTorchrun;
  int hosts = 1;
  std::optional<int> per_host;  // processes of a host; nothing: one for each device
  std::optional<int> total;     // … or of all hosts, where that is what was said
  int restarts = 0;
  std::vector<std::string> command;                      // with the Python that the launcher would have called
  std::vector<std::pair<std::string, std::string>> env;  // what the launcher was told to set
  std::string cwd;
  std::vector<std::string> launcher_args;                           // what only MPI's launcher understands
  std::vector<std::pair<std::string, std::string>> without_effect;  // option as it was written, and why
};

// The words with the launcher's own name at the front, or without it. Kind "usage": an option that is not known, a
// value that is missing or no number, no program.
Result<LauncherCall> ReadLauncherCall(JobLauncher launcher, const std::vector<std::string>& words);

}  // namespace muster
