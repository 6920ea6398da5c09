#include "cli/lookup/project_paths.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "base/system/open_below.h"
#include "base/system/unique_fd.h"
#include "base/values/shell_quote.h"

namespace muster {

namespace fs = std::filesystem;

tl::expected<std::string, std::string> ResolvedBelow(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder, error);
  if (error) return tl::unexpected("cannot be resolved: " + error.message());
  const fs::path resolved = fs::weakly_canonical(path, error);
  if (error) return tl::unexpected("cannot be resolved: " + error.message());
  const fs::path below = resolved.lexically_relative(root);
  if (below.empty() || *below.begin() == "..") {
    return tl::unexpected("is " + Quoted(resolved.string()) + ", which is not below " + Quoted(root.string()));
  }
  // The folder may be the root directory, which contains everything.
  const UniqueFd at(::open(resolved.c_str(), O_PATH | O_CLOEXEC));
  if (at && IsInProcfs(at.get())) return tl::unexpected("is in procfs: " + Quoted(resolved.string()));
  return resolved.string();
}

Result<void> KeepInProject(const SiteFile& file, SiteFacts& facts) {
  Diagnostics problems;
  const auto keep = [&](const std::string& field, std::string& path) {
    if (path.empty()) return;
    auto resolved = ResolvedBelow(file.folder, path);
    if (resolved) {
      path = *std::move(resolved);
      return;
    }
    problems.push_back(Error("site", facts.places.at(field), field + " " + resolved.error(),
                             "a project's site file names what is in the project; yours, the system's and one that "
                             "--site names may name anything"));
  };
  keep("hostfile", facts.hostfile);
  keep("rules", facts.rules);
  for (auto& [name, folder] : facts.libraries) keep("libraries." + name, folder);
  if (problems.empty()) return {};
  return Fail(std::move(problems));
}

}  // namespace muster
