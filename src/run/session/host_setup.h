// Sets up one host, from the answer of its agent until processes can be started there: a state machine that the agent's
// answers advance.
//
// connecting → shipping (with --ship-code) → activating → ports → devices → ready. A spare stands by after its
// activation, and continues with ports and devices when it replaces a host of the plan. Preflight (host_preflight.h)
// checks the host in parallel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentLinks;
class CodeDelivery;
class DeviceQueue;
class RunBinding;
struct HostReplaced;
struct LiveRun;

class HostSetup {
 public:
  HostSetup(LiveRun& run, AgentLinks& links, CodeDelivery& code, RunBinding& bound, DeviceQueue& devices,
            std::uint32_t host)
      : run_(run), links_(links), code_(code), bound_(bound), devices_(devices), host_(host) {}

  // The agent answered; Begin() starts the first step.
  void Connected(const AgentReady& ready);
  void Begin();
  // Only for a spare that stands by: lets it replace the host `place`. HostReplaced follows, unless the job ends
  // before.
  void TakePlace(std::uint32_t place);

  // Answers of the agent. Those that do not match the state are ignored.
  void OnCodeReady(const CodeReady& ready);
  void OnActivated(HostActivated reported);
  void OnPortsHeld(const PortsHeld& held);
  void OnDevicesAwaited(DevicesAwaited awaited);
  void OnResourcesAllocated(const ResourcesAllocated& allotted);

  // Whether the set-up is complete: the host is ready, or a spare that stands by.
  bool prepared() const { return state_ == State::kStandby || state_ == State::kReady; }
  // Its own host name.
  const std::string& host_name() const { return host_name_; }
  // The address for connections of processes.
  std::string Address() const;
  HostBinding Bound() const;

 private:
  enum class State : std::uint8_t { kConnecting, kShipping, kActivating, kStandby, kPorts, kDevices, kReady };
  struct Taking {
    std::uint32_t place = 0;
    Binding before;  // the binding of the current files of the run
  };

  // The host of the plan that it is set up for.
  std::uint32_t place() const { return taking_ ? taking_->place : host_; }
  void Activate();
  void LeaveActivation();
  void RequestPorts();
  void RequestDevices();
  void Finish();
  void GiveUp(const std::string& why);
  void ReportTaken(const std::string& lost, const HostReplaced& replaced);

  LiveRun& run_;
  AgentLinks& links_;
  CodeDelivery& code_;
  RunBinding& bound_;
  DeviceQueue& devices_;
  const std::uint32_t host_;
  State state_ = State::kConnecting;
  std::string host_name_;
  std::string address_;                     // at which it was reached
  std::vector<std::string> inherited_;      // the environment of processes there, after its activation
  std::vector<std::string> removed_;        // by that activation
  std::optional<AllocateResources> asked_;  // devices and cores
  std::vector<std::string> device_names_;   // names of its devices, by the plan's number
  std::optional<Taking> taking_;
};

}  // namespace muster
