#include "cli/run_argument.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "cli/site_of_call.h"
#include "run/run_directory.h"

namespace muster {

void AddRunArgument(CLI::App& app, std::string& run) {
  app.add_option("RUN", run, "a path, a name, name~1 (the one before), a prefix of an id; left out: the newest");
}

Result<std::string> DefaultRunsFolder() {
  std::error_code error;
  const std::string cwd = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "the current folder cannot be told", error.value()));
  const char* home = std::getenv("MUSTER_HOME");
  if (home != nullptr && *home != '\0') return RunsFolder(cwd, home);
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  return RunsFolder(cwd, site->facts.run_root);
}

Result<std::string> FindRun(const std::string& run) {
  const Result<std::string> runs_folder = DefaultRunsFolder();
  if (!runs_folder) return runs_folder;
  return ResolveRun(run, *runs_folder);
}

}  // namespace muster
