#include "cli/run_argument.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

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
  return RunsFolder(cwd, home == nullptr ? "" : home);
}

Result<std::string> FindRun(const std::string& run) {
  const Result<std::string> runs_folder = DefaultRunsFolder();
  if (!runs_folder) return runs_folder;
  return ResolveRun(run, *runs_folder);
}

}  // namespace muster
