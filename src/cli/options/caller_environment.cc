#include "cli/options/caller_environment.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/system/without.h"
#include "plan/environment/inherited_environment.h"

namespace muster {

Diagnostics RefusedByRun(const Diagnostics& warnings) {
  Diagnostics refused;
  for (const Diagnostic& warning : warnings) {
    if (warning.kind != "secret_literal") continue;
    refused.push_back(warning);
    refused.back().severity = Severity::kError;
  }
  return refused;
}

Diagnostics WarnOfRemoved(const Evaluation& evaluation) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
  const std::vector<std::string> removed = RemovedByContract(
      evaluation.plan, evaluation.provenance, InheritedAtSite(evaluation.plan.site_environment, environment));
  if (removed.empty()) return {};
  constexpr std::size_t kShown = 8;
  std::string names =
      fmt::format("{}", fmt::join(removed.begin(), removed.begin() + std::min(kShown, removed.size()), ", "));
  if (removed.size() > kShown) names += fmt::format(" and {} more", removed.size() - kShown);
  return {Warning("removed_variable", {},
                  fmt::format("set here, and not inherited by the processes: {}; framework {} sets or removes {}",
                              names, evaluation.plan.framework, removed.size() == 1 ? "it" : "them"),
                  "env = { NAME = \"…\", override = true } in the recipe sets one nevertheless")};
}

Result<void> SetCallerEnvironment(RunRequest& request) {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    // For this muster only; not for one that a process of the run starts.
    if (!std::string_view(*variable).starts_with(std::string(kWithoutVariable) + '=')) {
      request.environment.emplace_back(*variable);
    }
  }
  std::error_code error;
  request.cwd = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) request.search_dirs.push_back(program.parent_path());
  return {};
}

}  // namespace muster
