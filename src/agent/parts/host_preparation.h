// Preparations on the host before the first start: the host's activation and inspection, network paths to other hosts,
// shipped code, and devices and cores for the job.
//
// Checks when each command is allowed; agent/host/, agent/code/ and agent/devices/ execute them.
#pragma once

#include <string>

#include "agent/code/code_cache.h"
#include "agent/devices/resource_allocation.h"
#include "agent/host/host_activation.h"
#include "agent/host/host_inspection.h"
#include "agent/host/path_probe.h"
#include "agent/parts/agent_part.h"
#include "agent/parts/agent_state.h"
#include "agent/parts/device_inquiry.h"

namespace muster {

class HostPreparation : public AgentPart {
 public:
  // `state` must outlive this object.
  explicit HostPreparation(AgentState& state);

  // Return a protocol error if the head must not send the command now, else an empty text.
  std::string Do(const Activate& command);
  std::string Do(Inspect& command);
  std::string Do(const AllocateResources& command);
  std::string Do(const OpenPaths& command);
  std::string Do(const ProbePaths& command);
  std::string Do(const ClosePaths& command);
  std::string Do(OfferCode& command);
  std::string Do(const CodeBytes& bytes);

  // Releases the devices; called when the last process has been reaped.
  void GiveUpDevices() { allotment_.GiveUp(); }

  bool Owns(pid_t pid) const override {
    return activation_.Owns(pid) || inspection_.Owns(pid) || device_users_.Owns(pid);
  }
  bool ChildEnded(pid_t pid) override {
    return activation_.Ended(pid) || inspection_.Ended(pid) || device_users_.Ended(pid);
  }
  bool empty() const override { return activation_.empty() && inspection_.empty() && device_users_.empty(); }
  std::size_t descriptors() const override { return allotment_.held(); }
  void Finish() override;
  void Abandon() override;

 private:
  AgentState& state_;
  HostActivation activation_;
  HostInspection inspection_;
  PathProbe paths_;
  CodeCache code_;
  DeviceInquiry device_users_;
  ResourceAllocation allotment_;
  bool allotted_ = false;
};

}  // namespace muster
