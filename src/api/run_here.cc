#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "muster/run.h"
#include "run/directory/run_tags.h"
#include "run/session/run_request.h"
#include "transport/local_transport.h"

namespace muster {

Result<RunResult> RunHere(const Plan& plan, const RunSettings& settings) {
  if (std::any_of(plan.hosts.begin(), plan.hosts.end(), [](const PlanHost& host) { return !host.name.empty(); })) {
    return Fail(Error("hosts", {}, "the plan names hosts, and it is to run on this machine alone",
                      "store it as JSON and use: muster run --plan FILE"));
  }
  RunRequest request;
  request.plan = plan;
  for (const std::string& tag : settings.tags) {
    if (auto sound = CheckTag(tag); !sound) return Fail(sound.error());
  }
  auto tags = ChangedTags({}, settings.tags);
  if (!tags) return Fail(tags.error());
  request.tags = *std::move(tags);
  for (char** variable = environ; *variable != nullptr; ++variable) request.environment.emplace_back(*variable);
  std::error_code error;
  request.cwd = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  request.run_dir = settings.run_dir;
  request.runs_folder = std::filesystem::path(request.cwd) / settings.runs_folder;
  request.console = ConsoleOptions::Silent();
  if (settings.show) request.console = {};
  request.catch_signals = settings.catch_signals;
  LocalTransport transport(settings.agent);
  auto outcome = RunPlan(request, transport);
  if (!outcome) return Fail(std::move(outcome.error()));
  return RunResult{std::move(outcome->run_id), std::move(outcome->run_dir), std::move(outcome->outcome),
                   outcome->exit_code, std::move(outcome->why)};
}

}  // namespace muster
