#include "agent/parts/readiness.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "base/system/clock.h"

namespace muster {

Readiness::Readiness(AgentState& state, GivenPorts& ports)
    : state_(state),
      ports_(ports),
      watch_(state.io, {.ready = [this](const Key& key) { OnReady(key); },
                        .probe = [this](const Key& key) { StartProbe(key); },
                        .listens = [this](const Key& key, std::uint16_t port) { return MayCount(key, port); }}),
      probes_(state.io, state.process.launcher,
              {.exited = [this](const ProcessExited& event) { OnProbeExited(event); },
               .signalled = [](const SignalSent&) {}}) {}

void Readiness::Watch(const StartProcess& command, const EnvironmentBlock& block) {
  if (command.ready.kind == ReadyWhen::Kind::kNothing) return;
  const Key key(command.process, command.attempt);
  std::string file = state_.run_folder.At(command.log_path).ThroughDescriptor();
  if (command.ready.kind == ReadyWhen::Kind::kFile) {
    file = command.ready.text.starts_with('/') ? command.ready.text : command.cwd + '/' + command.ready.text;
  }
  if (command.ready.kind == ReadyWhen::Kind::kCommand) {
    const EnvironmentBlock own = ByName(command.env);
    const std::vector<const char*> variables = Overlaid(block, own);
    starts_.insert_or_assign(
        key, Probe{command.ready.argv, command.search_dirs, command.cwd, {variables.begin(), variables.end()}});
  }
  watch_.Watch(key, command.ready, file);
}

void Readiness::OnReady(const Key& key) {
  starts_.erase(key);
  state_.send(ProcessReady{key.first, key.second, MonotonicNowNs()});
}

bool Readiness::MayCount(const Key& key, std::uint16_t port) {
  std::optional<PortTaken> taken;
  const bool ours = ports_.IsOurs(key, port, taken);
  if (taken) state_.send(*taken);
  return ours;
}

void Readiness::StartProbe(const Key& key) {
  const auto found = starts_.find(key);
  if (found == starts_.end() || !state_.serving()) return;
  SpawnSpec spec;
  spec.argv = found->second.argv;
  spec.search_dirs = found->second.search_dirs;
  spec.cwd = found->second.cwd;
  spec.env = EnvPointers(found->second.env);
  // A command that cannot be started counts as failed: the process misses its readiness timeout.
  if (!probes_.Start(key.first, key.second, std::move(spec))) watch_.OnProbeEnded(key, false);
}

void Readiness::OnProbeExited(const ProcessExited& event) {
  watch_.OnProbeEnded({event.process, event.attempt}, !event.signalled && event.code == 0);
  state_.emptied();
}

void Readiness::AttemptEnded(const Key& key) {
  watch_.End(key);
  starts_.erase(key);
  probes_.Stop(key.first, key.second, SIGKILL, std::chrono::milliseconds(0));
}

void Readiness::Finish() {
  watch_.Clear();
  probes_.KillAll();
}

void Readiness::Abandon() {
  watch_.Clear();
  probes_.Abandon();
}

}  // namespace muster
