#include "cli/lookup/run_argument.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/values/quoting.h"
#include "cli/command/command_output.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/run_facts.h"
#include "code/tar_archive.h"
#include "spawn/start/account_names.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/watch/watch_sweep.h"

namespace muster {

void AddRunArgument(CLI::App& app, std::string& run) {
  app.add_option("RUN", run,
                 "path, name, name~1 (the one before), id prefix, SWEEP:12 or SWEEP:best; default: the newest");
}

void AddSweepArgument(CLI::App& app, std::string& sweep) {
  app.add_option("SWEEP", sweep, "path, name, name~1 (the one before) or id prefix; default: the newest");
}

namespace {

// `folder_of`: RunsFolder or SweepsFolder.
template <class F>
Result<std::string> DefaultFolder(const F& folder_of) {
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  const char* home = std::getenv("MUSTER_HOME");
  if (home != nullptr && *home != '\0') return folder_of(cwd, home);
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  return folder_of(cwd, site->facts.run_root);
}

}  // namespace

Result<std::string> DefaultRunsFolder() { return DefaultFolder(RunsFolder); }
Result<std::string> DefaultSweepsFolder() { return DefaultFolder(SweepsFolder); }

Result<std::string> FindSweep(const std::string& sweep, DirectoryUse use) {
  const Result<std::string> sweeps_folder = DefaultSweepsFolder();
  if (!sweeps_folder) return sweeps_folder;
  return ResolveSweep(sweep, *sweeps_folder, use);
}

namespace {

void MakeTrialListen(const SweepProgress& progress, const std::string& sweep_dir, const std::string& run_dir,
                     TrialNumber trial) {
  const auto open = progress.open().find(trial);
  std::error_code error;
  if (open == progress.open().end() || !open->second.running || !IsRunLive(sweep_dir)) return;
  if (std::filesystem::exists(run_dir + "/control", error)) return;
  OpenTrialSocket(sweep_dir, trial);
}

Result<std::string> FindAttempt(const std::string& sweep, const std::string& trial, DirectoryUse use) {
  const auto sweep_dir = FindSweep(sweep, use);
  if (!sweep_dir) return sweep_dir;
  const auto view = SweepView::Open(*sweep_dir);
  if (!view) return Fail(view.error());
  WarnOfDamage(*view, *sweep_dir);
  const auto chosen = ChooseTrial(*view, trial);
  if (!chosen) return Fail(chosen.error());
  auto run_dir = RunDirectoryOf(*view, *sweep_dir, *chosen);
  if (run_dir) MakeTrialListen(view->progress(), *sweep_dir, *run_dir, chosen->trial);
  const auto owner = run_dir ? OwnerOf(*run_dir) : std::nullopt;
  if (!owner) return run_dir;
  if (auto allowed = CheckUse(*run_dir, *owner, use, "run"); !allowed) return Fail(allowed.error());
  return run_dir;
}

// Once for each owner: several parts of a command resolve the same run.
void WarnOfOwner(const std::string& run_dir) {
  static std::set<std::string> reported;
  const auto owner = OwnerOf(run_dir);
  if (!owner || IsOwn(*owner) || !reported.insert(run_dir).second) return;
  const std::string user = UserName(*owner);
  PrintDiagnostics(
      {Warning("owner", {},
               fmt::format("the run {} belongs to {}: what is executed was written by {}", Quoted(run_dir), user, user),
               "muster report and its folder recipe/ show what it does")});
}

}  // namespace

namespace {

// By the word of the command line; unpacked once, and removed at the end of this process.
std::map<std::string, UnpackedArchive>& PackedRuns() {
  static std::map<std::string, UnpackedArchive> runs;
  return runs;
}

bool IsArchive(const std::string& word) {
  std::error_code error;
  return IsTarName(word) && std::filesystem::is_regular_file(word, error);
}

Result<std::string> FindPackedRun(const std::string& word, DirectoryUse use) {
  if (use != DirectoryUse::kRead) {
    return Fail(Error("archive", {}, fmt::format("{} is an archive, which is only read", Quoted(word)),
                      "unpack it, and name the folder: tar -xf " + ShellQuoted(word)));
  }
  if (const auto known = PackedRuns().find(word); known != PackedRuns().end()) return known->second.folder();
  const char* path = std::getenv("PATH");
  auto unpacked = UnpackedArchive::Of(word, {std::string("PATH=") + (path == nullptr ? "/usr/bin:/bin" : path)});
  if (!unpacked) return Fail(std::move(unpacked.error()));
  const std::string folder = unpacked->folder();
  std::error_code error;
  if (!std::filesystem::is_regular_file(folder + "/" + kRunDirectories.marker, error)) {
    return Fail(
        Error("archive", {},
              fmt::format("the archive {} holds no run: there is no {} in it", Quoted(word), kRunDirectories.marker),
              "muster pack RUN makes archives of runs"));
  }
  PackedRuns().emplace(word, *std::move(unpacked));
  return folder;
}

}  // namespace

std::string WithArchiveNames(std::string text) {
  for (const auto& [word, archive] : PackedRuns()) {
    const std::string folder = archive.folder();
    for (std::size_t at = text.find(folder); at != text.npos; at = text.find(folder, at + word.size())) {
      text.replace(at, folder.size(), word);
    }
  }
  return text;
}

Result<std::string> FindRun(const std::string& run, DirectoryUse use) {
  if (IsArchive(run)) return FindPackedRun(run, use);
  std::error_code error;
  const auto trial = std::filesystem::exists(run, error) ? std::nullopt : SweepAndTrial(run);
  Result<std::string> found = std::string();
  if (trial) {
    found = FindAttempt(trial->first, trial->second, use);
  } else {
    const Result<std::string> runs_folder = DefaultRunsFolder();
    if (!runs_folder) return runs_folder;
    found = ResolveRun(run, *runs_folder, kRunDirectories, use);
  }
  if (found && use == DirectoryUse::kExecute) WarnOfOwner(*found);
  return found;
}

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
