#include "cli/lookup/run_or_sweep.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <sys/stat.h>

#include "cli/lookup/run_argument.h"
#include "run/directory/run_directory.h"
#include "sweep/index/trial_choice.h"
#include "sweep/record/sweep_directory.h"

namespace muster {
namespace {

std::optional<RunOrSweepMatch> Found(const Result<std::string>& folder, const DirectoryKind& kind) {
  if (!folder) return std::nullopt;
  RunOrSweepMatch found;
  found.folder = *folder;
  found.live = IsRunLive(*folder);
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(*folder, error);
  const std::string leaf = path.filename().string();
  found.stamp = leaf.substr(0, std::min(leaf.rfind('-'), leaf.size()));
  struct stat marker {};
  if (::stat((*folder + "/" + kind.marker).c_str(), &marker) == 0) {
    found.made_ns = std::int64_t{marker.st_mtim.tv_sec} * 1'000'000'000 + marker.st_mtim.tv_nsec;
  }
  return found;
}

}  // namespace

Result<NamedRunOrSweep> FindRunOrSweep(const std::string& word, DirectoryUse use, Prefer prefer) {
  auto run = FindRun(word, use);
  std::error_code error;
  if (!std::filesystem::exists(word, error) && SweepAndTrial(word)) {
    if (!run) return Fail(std::move(run.error()));
    return NamedRunOrSweep{*std::move(run), false};
  }
  const auto sweep = FindSweep(word, use);
  auto chosen = ChooseRunOrSweep(Found(run, kRunDirectories), Found(sweep, kSweepDirectories), !word.empty(), prefer);
  if (chosen) return *std::move(chosen);
  return Fail(sweep.error().front().kind == "owner" ? sweep.error() : run.error());
}

std::string WordForSweep(const std::string& sweep_dir, const std::string& name, const std::string& id) {
  for (const std::string& word : {name, id}) {
    const auto found = word.empty() ? Result<std::string>(std::string()) : FindSweep(word);
    std::error_code error;
    if (found && std::filesystem::equivalent(*found, sweep_dir, error)) return word;
  }
  return sweep_dir;
}

namespace {
constexpr const char* kWhatRunMeans =
    "a run or sweep: path, name, name~1 (the one before) or id prefix; or a trial: SWEEP:12, "
    "SWEEP:12.2 (its second attempt), SWEEP:best; or an archive of muster pack; default: the newest";
}  // namespace

void AddRunOrSweepArgument(CLI::App& app, std::string& word) { app.add_option("RUN", word, kWhatRunMeans); }

void AddRunsOrSweepsArgument(CLI::App& app, std::vector<std::string>& words) {
  app.add_option("RUN", words, kWhatRunMeans);
}

}  // namespace muster
