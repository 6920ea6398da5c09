// muster steer: changes the limits of a running sweep.
#include <cstdio>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_argument.h"
#include "cli/sweeps/run_sweep.h"
#include "cli/sweeps/sweep_commands.h"
#include "run/control/control_connection.h"
#include "run/directory/run_directory.h"

namespace muster {
namespace {

struct SteerOptions {
  std::string sweep;
  SteeringRequest steering;
  bool json = false;
};

std::string WordsOf(const SteeringRequest& steering) {
  std::string words;
  if (steering.slots) words += fmt::format(" --slots {}", *steering.slots);
  if (steering.add_trials > 0) words += fmt::format(" --add-trials {}", steering.add_trials);
  return words;
}

Result<ControlAnswer> AskHead(const std::string& folder, const SteerOptions& options) {
  if (!IsRunLive(folder)) {
    return Fail(Error("control", {}, "the sweep is not running",
                      fmt::format("to continue it so: muster resume {}{}",
                                  options.sweep.empty() ? ShellQuoted(folder) : ShellQuoted(options.sweep),
                                  WordsOf(options.steering))));
  }
  auto head = ControlConnection::Open(folder);
  if (!head) return Fail(std::move(head.error()));
  ControlRequest request;
  request.ask = ControlRequest::Ask::kSteer;
  request.slots = options.steering.slots;
  request.add_trials = options.steering.add_trials;
  return head->Ask(request);
}

int RunSteer(const SteerOptions& options) {
  if (options.steering.empty()) {
    return Refuse({Error("usage", {}, "nothing to change", "--slots 4, --add-trials 20 or both")}, options.json);
  }
  const auto folder = FindSweep(options.sweep, DirectoryUse::kControl);
  if (!folder) return Refuse(folder.error(), options.json);
  const auto answer = AskHead(*folder, options);
  if (!answer) return Refuse(answer.error(), options.json);
  const SweepLimits limits = answer->limits.value_or(SweepLimits{});
  if (options.json) {
    nlohmann::json object = {{"format", 1},
                             {"sweep", answer->status.run},
                             {"trials", limits.trials},
                             {"max_trials", nullptr},
                             {"slots", nullptr}};
    if (limits.max_trials) object["max_trials"] = *limits.max_trials;
    if (limits.slots) object["slots"] = *limits.slots;
    std::printf("%s\n", SerializedJson(object, 2).c_str());
    return kExitOk;
  }
  std::string text = fmt::format("{} {}: {} trials", Printable(answer->status.name), answer->status.run, limits.trials);
  if (limits.max_trials) text += fmt::format(", at most {} started", *limits.max_trials);
  if (limits.slots) text += fmt::format(", {} at a time", *limits.slots);
  std::printf("%s\n", PrintableLines(text).c_str());
  return kExitOk;
}

}  // namespace

std::function<int()> SetupSteer(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<SteerOptions>();
  AddSweepArgument(app, options->sweep);
  AddSteeringOptions(app, options->steering);
  app.add_flag("--json", options->json, "print the resulting limits as JSON for programs");
  return [options] { return RunSteer(*options); };
}

}  // namespace muster
