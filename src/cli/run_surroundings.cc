#include "cli/run_surroundings.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include <unistd.h>

#include "base/mechanism.h"

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

Result<void> SurroundRun(RunRequest& request) {
  for (char** variable = environ; *variable != nullptr; ++variable) {
    // It is about this muster; a muster below a process is another's affair.
    if (!std::string_view(*variable).starts_with(std::string(kWithoutVariable) + '=')) {
      request.environment.emplace_back(*variable);
    }
  }
  std::error_code error;
  request.cwd = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "the current folder cannot be told", error.value()));
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) request.search_dirs.push_back(program.parent_path());
  return {};
}

}  // namespace muster
