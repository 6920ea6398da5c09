// A scripted agent that speaks the real protocol over a connection of frames, in the test's process or in a separate
// program. It behaves correctly, except for the messages that a test adds or replaces.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "wire/protocol/protocol.h"

namespace muster::testing {

class FramesAgent {
 public:
  using Say = std::function<void(const AgentMessage&)>;

  // `shares_run_dir`: what the agent reports to the head about a shared run directory.
  FramesAgent(std::uint32_t host, bool shares_run_dir, Say say)
      : host_(host), shares_run_dir_(shares_run_dir), say_(std::move(say)) {}

  // Makes processes exit with that code as soon as they are started.
  void EndAtOnce(std::int32_t code) { ends_with_ = code; }

  void Obey(const AgentCommand& command) {
    std::visit([this](const auto& held) { Do(held); }, command);
  }

  void Exit(ProcessId process, std::uint32_t attempt, std::int32_t code, bool signalled = false) {
    if (running_.erase({process, attempt}) == 0) return;
    ProcessExited exited;
    exited.process = process;
    exited.attempt = attempt;
    exited.code = code;
    exited.signalled = signalled;
    exited.at = 9;
    say_(exited);
  }

 private:
  template <class Command>
  void Do(const Command&) {}

  void Do(const Hello&) {
    AgentReady ready;
    ready.pid = 4711;
    ready.host_name = "n" + std::to_string(host_ + 1);
    ready.address = "10.0.0." + std::to_string(host_ + 1);
    ready.mechanisms = {"pidfd"};
    ready.shares_run_dir = shares_run_dir_;
    say_(ready);
  }
  void Do(const HoldPorts& command) {
    PortsHeld held{command.ports, ""};
    for (PortRequest& port : held.ports) {
      if (port.number == 0) port.number = next_port_++;
    }
    say_(held);
  }
  void Do(const AllocateResources& command) {
    ResourcesAllocated given;
    for (const std::uint32_t device : command.devices) given.devices.push_back(std::to_string(device));
    for (std::size_t i = 0; i < command.cores.size(); ++i) given.cores.push_back({static_cast<std::uint32_t>(i)});
    say_(given);
  }
  void Do(const Activate&) { say_(HostActivated{host_, {{"ACTIVATED", "yes"}}, {"GONE"}, 4, 0, ""}); }
  void Do(const Inspect&) {
    Inspected reported;
    reported.facts.muster = "1";
    reported.facts.kernel = "6.1";
    say_(reported);
  }
  void Do(const OpenPaths&) { say_(PathsOpen{static_cast<std::uint16_t>(40'000 + host_), ""}); }
  void Do(const ClosePaths&) { say_(PathsOpen{}); }
  void Do(const ProbePaths& command) { say_(PathsProbed{std::vector<std::string>(command.targets.size())}); }
  void Do(const StartProcess& command) {
    running_.insert({command.process, command.attempt});
    say_(ProcessStarted{command.process, command.attempt, 100 + static_cast<std::int32_t>(command.process), 5, 7});
    say_(FirstOutput{command.process, command.attempt, 8});
    if (command.ready.kind != ReadyWhen::Kind::kNothing) say_(ProcessReady{command.process, command.attempt, 8});
    if (ends_with_) Exit(command.process, command.attempt, *ends_with_);
  }
  void Do(const StopProcesses& command) {
    for (const ProcessAttempt& each : command.processes) {
      if (!running_.contains({each.process, each.attempt})) continue;
      say_(SignalSent{each.process, each.attempt, command.signal, 0, 8});
      Exit(each.process, each.attempt, command.signal, true);
    }
  }
  void Do(const RequestOutput&) {
    OutputSeen seen;
    for (const auto& [process, attempt] : running_) {
      seen.processes.push_back(process);
      seen.bytes.push_back(1);
    }
    say_(seen);
  }
  void Do(const TakeDump& command) {
    for (const DumpTarget& each : command.processes) {
      say_(ProcessDumped{command.dump, each.process, each.attempt, 0, 0, 0, {}, 9});
    }
    say_(HostDumped{host_, command.dump, {}});
  }
  void Do(const Finish&) {
    while (!running_.empty()) Exit(running_.begin()->first, running_.begin()->second, 9, true);
    if (shares_run_dir_) return Attest();
    say_(FilesSent{});
  }
  void Do(const FilesStored&) { Attest(); }
  void Attest() { say_(AgentEmpty{host_, 0, 0, 0, {"pidfd"}}); }

  const std::uint32_t host_;
  const bool shares_run_dir_;
  const Say say_;
  std::set<std::pair<ProcessId, std::uint32_t>> running_;
  std::optional<std::int32_t> ends_with_;
  std::uint16_t next_port_ = 20'000;
};

}  // namespace muster::testing
