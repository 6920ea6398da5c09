// The set-up of one host, from the answer of its agent to the moment from which processes can be started there: a state
// machine that each answer of the agent moves on.
//
// connecting → shipping (with --ship-code) → activating → ports → devices → ready. A spare stands by after its
// activation, and goes on with ports and devices when it takes the place of a host of the plan. What preflight asks the
// host (host_preflight.h) goes on beside this.
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

  // The agent answered; Begin() starts with the first step.
  void Connected(const AgentReady& ready);
  void Begin();
  // A spare that stands by: HostReplaced follows, unless the job ends before.
  void TakePlace(std::uint32_t place);

  // Answers of the agent. What does not belong to the state is ignored.
  void OnCodeReady(const CodeReady& ready);
  void OnActivated(HostActivated told);
  void OnPortsHeld(const PortsHeld& held);
  void OnDevicesAwaited(DevicesAwaited awaited);
  void OnResourcesAllocated(const ResourcesAllocated& allotted);

  // Nothing is missing of it: it is ready, or a spare that stands by.
  bool prepared() const { return state_ == State::kStandby || state_ == State::kReady; }
  // By which it calls itself.
  const std::string& host_name() const { return host_name_; }
  // By which processes find it.
  std::string Address() const;
  HostBinding Bound() const;

 private:
  enum class State : std::uint8_t { kConnecting, kShipping, kActivating, kStandby, kPorts, kDevices, kReady };
  struct Taking {
    std::uint32_t place = 0;
    Binding before;  // what the files of the run were made with
  };

  // The host of the plan that it is made ready for.
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
  std::string address_;                     // by which it was reached
  std::vector<std::string> inherited_;      // by processes there, once it is activated
  std::optional<AllocateResources> asked_;  // devices and cores
  std::vector<std::string> device_names_;   // that it gave, by the plan's number
  std::optional<Taking> taking_;
};

}  // namespace muster
