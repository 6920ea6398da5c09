#include "agent/parts/host_preparation.h"

#include <utility>

#include <sys/resource.h>

#include "agent/processes/environment_block.h"

namespace muster {

HostPreparation::HostPreparation(AgentState& state)
    : state_(state),
      activation_(state.io, state.process.launcher,
                  [this](HostActivated reported) {
                    if (!state_.serving()) return state_.emptied();
                    reported.host = state_.host;
                    state_.send(reported);
                  }),
      inspection_(state.io, state.process.launcher, state.process.program,
                  {.done =
                       [this](const Inspected& reported) {
                         if (state_.serving()) state_.send(reported);
                       },
                   .idle = [this] { state_.emptied(); }}),
      paths_(state.io),
      code_(state.io, CodeCacheFolder(), state.send),
      device_users_(state),
      allotment_(state.io, {.ask_users = [this](const std::string& kind,
                                                DeviceInquiry::Done done) { device_users_.Ask(kind, std::move(done)); },
                            .given = [this](const ResourcesAllocated& given) { state_.send(given); },
                            .awaited =
                                [this](DevicesAwaited awaited) {
                                  awaited.host = state_.host;
                                  state_.send(awaited);
                                }}) {}

std::string HostPreparation::Do(const Activate& command) {
  if (!state_.serving()) return "an activation after the finish";
  if (!state_.preparing() || activation_.begun()) return "an activation that is not the first thing done";
  if (std::string error = VariableError(command.environment); !error.empty()) return error;
  EnvironmentBlock block = ByName(command.environment);
  AddHostVariables(command.of_host, block);
  Activate here = command;
  here.environment.clear();
  for (auto& [name, variable] : block) here.environment.push_back(std::move(variable));
  state_.host_folder.Expect(command.log_path);
  activation_.Begin(here, state_.run_folder.At(command.log_path), {RLIMIT_NOFILE, state_.process.child_descriptors});
  return {};
}

std::string HostPreparation::Do(Inspect& command) {
  if (!state_.serving()) return "an inspection after the finish";
  if (inspection_.going()) return "an inspection within another";
  if (std::string error = VariableError(command.environment); !error.empty()) return error;
  inspection_.Begin(std::move(command), {RLIMIT_NOFILE, state_.process.child_descriptors});
  return {};
}

std::string HostPreparation::Do(const AllocateResources& command) {
  if (allotted_ || state_.started > 0) return "devices and cores were requested twice, or after a start";
  allotted_ = true;
  allotment_.Give(command);
  return {};
}

std::string HostPreparation::Do(const OpenPaths& command) {
  if (!state_.preparing()) return "network paths are checked before the first start";
  state_.send(paths_.Open(command));
  return {};
}

std::string HostPreparation::Do(const ProbePaths& command) {
  if (!state_.preparing() || paths_.trying()) return "network paths are checked only once, before the first start";
  if (command.targets.size() > PathProbe::kMostTargets) return "too many network paths to check";
  paths_.Try(command, [this](const PathsProbed& reported) { state_.send(reported); });
  return {};
}

std::string HostPreparation::Do(const ClosePaths& command) {
  static_cast<void>(command);
  paths_.Close();
  state_.send(PathsOpen{});
  return {};
}

std::string HostPreparation::Do(OfferCode& command) {
  if (!state_.preparing()) return "code is offered before the first start";
  return code_.Offer(command);
}

std::string HostPreparation::Do(const CodeBytes& bytes) { return code_.Take(bytes); }

void HostPreparation::Finish() {
  activation_.Kill();
  inspection_.Kill();
  paths_.Close();
  code_.End();
  allotment_.StopWaiting();
  device_users_.Kill();
}

void HostPreparation::Abandon() {
  activation_.Abandon();
  inspection_.Abandon();
  device_users_.Abandon();
}

}  // namespace muster
