// Lists runs and finds the folder for a RUN argument: RunsBelow and ResolveRun of run_directory.h.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "base/values/suggest.h"
#include "run/directory/run_directory.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

bool IsOne(const fs::path& folder, const DirectoryKind& kind, struct stat& marker) {
  return ::stat((folder / kind.marker).c_str(), &marker) == 0 && S_ISREG(marker.st_mode);
}

bool HasBegun(const fs::path& folder) {
  struct stat status {};
  for (const char* const file : {kJournalEntry.name, kJobEntry.name}) {
    if (::stat((folder / file).c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) return true;
  }
  return false;
}

// Folders below `folder`, links not followed; empty if it cannot be read.
std::vector<fs::path> Folders(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (!it->is_symlink(ignored) && it->is_directory(ignored)) found.push_back(it->path());
  }
  return found;
}

// "gpt~2" -> ("gpt", 2).
std::optional<std::pair<std::string, std::size_t>> NameAndAge(std::string_view run) {
  const std::size_t tilde = run.rfind('~');
  if (tilde == std::string_view::npos) return std::pair{std::string(run), std::size_t{0}};
  const auto age = ParseNumber<std::size_t>(run.substr(tilde + 1));
  if (!age) return std::nullopt;
  return std::pair{std::string(run.substr(0, tilde)), *age};
}

Result<std::string> Missing(const DirectoryKind& kind, std::string message, std::string hint) {
  return Fail(Error(kind.noun, {}, std::move(message), std::move(hint)));
}

Result<std::string> NotOwn(const DirectoryKind& kind, std::string message, const FoundRun& foreign) {
  return Missing(
      kind, std::move(message),
      fmt::format("{} belongs to {}: give its path to use it", ShellQuoted(foreign.path), UserName(foreign.owner)));
}

// The runs that a name may refer to.
std::vector<FoundRun> Meant(std::vector<FoundRun> runs, DirectoryUse use) {
  std::erase_if(runs, [use](const FoundRun& one) { return !one.begun || !MayBeMeant(one.owner, use); });
  return runs;
}

}  // namespace

void DiscardDirectory(const std::string& run_dir, const DirectoryKind& kind) {
  std::error_code error;
  const fs::path folder(run_dir);
  fs::remove_all(folder, error);
  const fs::path latest = folder.parent_path() / "latest";
  if (fs::read_symlink(latest, error) != folder.filename() || error) return;
  std::optional<std::pair<std::int64_t, fs::path>> newest;
  for (const fs::path& other : Folders(folder.parent_path())) {
    struct stat marker {};
    if (!IsOne(other, kind, marker) || !HasBegun(other)) continue;
    const std::int64_t made = std::int64_t{marker.st_mtim.tv_sec} * 1'000'000'000 + marker.st_mtim.tv_nsec;
    if (!newest || made > newest->first) newest = {made, other.filename()};
  }
  if (!newest) {
    fs::remove(latest, error);
    return;
  }
  const fs::path draft = folder.parent_path() / (".latest-" + folder.filename().string());
  fs::create_symlink(newest->second, draft, error);
  if (!error) fs::rename(draft, latest, error);
}

std::vector<FoundRun> RunsBelow(const std::string& runs_folder, const DirectoryKind& kind) {
  std::vector<FoundRun> runs;
  for (const fs::path& of_name : Folders(runs_folder)) {
    for (const fs::path& folder : Folders(of_name)) {
      const std::string leaf = folder.filename().string();
      const std::size_t dash = leaf.rfind('-');
      struct stat marker {};
      const auto owner = OwnerOf(folder.string());
      if (dash == std::string::npos || !owner || !IsOne(folder, kind, marker)) continue;
      runs.push_back({of_name.filename().string(), leaf.substr(0, dash), leaf.substr(dash + 1), folder.string(),
                      std::int64_t{marker.st_mtim.tv_sec} * 1'000'000'000 + marker.st_mtim.tv_nsec, *owner,
                      HasBegun(folder)});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const FoundRun& a, const FoundRun& b) { return a.Age() < b.Age(); });
  return runs;
}

Result<std::string> ResolveRun(std::string_view run, const std::string& runs_folder, const DirectoryKind& kind,
                               DirectoryUse use) {
  struct stat marker {};
  const std::string as_path(run);
  const bool is_path = run.find('/') != std::string_view::npos;
  const auto owner = run.empty() ? std::nullopt : OwnerOf(as_path);
  if (owner && IsOne(as_path, kind, marker) && (is_path || MayBeMeant(*owner, use))) {
    if (auto allowed = CheckUse(as_path, *owner, use, kind.noun); !allowed) return Fail(allowed.error());
    return as_path;
  }
  if (is_path) {
    return Missing(kind, fmt::format("{} is not a {} directory", Quoted(run), kind.noun),
                   fmt::format("a {} directory holds {}", kind.noun, kind.marker));
  }

  std::vector<FoundRun> all = RunsBelow(runs_folder, kind);
  std::erase_if(all, [](const FoundRun& one) { return !one.begun; });
  const std::vector<FoundRun> runs = Meant(all, use);
  if (runs.empty() && !all.empty()) {
    return NotOwn(kind, fmt::format("none of the {}s in {} is yours", kind.noun, Quoted(runs_folder)), all.back());
  }
  if (runs.empty()) {
    return Missing(kind, fmt::format("there are no {}s in {}", kind.noun, Quoted(runs_folder)), kind.started);
  }
  if (const auto wanted = NameAndAge(run)) {
    const auto& [name, age] = *wanted;
    std::vector<const FoundRun*> of_name;
    for (const FoundRun& found : runs) {
      if (name.empty() || found.name == name) of_name.push_back(&found);
    }
    if (age < of_name.size()) return of_name[of_name.size() - 1 - age]->path;
    if (!of_name.empty()) {
      return Missing(kind, fmt::format("{} goes back too far", Quoted(run)),
                     fmt::format("there are {}", of_name.size()));
    }
  }
  constexpr std::size_t kShortestPrefix = 4;
  std::vector<const FoundRun*> matches;
  for (const FoundRun& found : runs) {
    if (run.size() >= kShortestPrefix && found.id.starts_with(run)) matches.push_back(&found);
  }
  if (matches.size() == 1) return matches.front()->path;
  const auto foreign = std::find_if(all.rbegin(), all.rend(), [&](const FoundRun& found) {
    return found.name == run || (run.size() >= kShortestPrefix && found.id.starts_with(run));
  });
  if (matches.empty() && foreign != all.rend()) {
    return NotOwn(kind, fmt::format("no {} {} in {} is yours", kind.noun, Quoted(run), Quoted(runs_folder)), *foreign);
  }
  std::vector<std::string> known;
  for (const FoundRun* match : matches) known.push_back(match->id);
  if (!known.empty()) {
    return Missing(kind, fmt::format("{} begins {} ids", Quoted(run), known.size()),
                   fmt::format("{}, …", known.front()));
  }
  for (const FoundRun& found : runs) {
    if (std::find(known.begin(), known.end(), found.name) == known.end()) known.push_back(found.name);
  }
  std::sort(known.begin(), known.end());
  return Missing(kind, fmt::format("there is no {} {} in {}", kind.noun, Quoted(run), Quoted(runs_folder)),
                 DidYouMean(run, known));
}

}  // namespace muster
