// Sets up the hosts of a run until processes can be started there: checks of several hosts, code, devices, and the
// answers of their agents.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/binding.h"
#include "muster/event.h"
#include "run/hosts/host_differences.h"
#include "run/hosts/inspect_hosts.h"
#include "run/start/host_files.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Sends the code of a run (--ship-code) to hosts that lack it.

class AgentLinks;
class RunBinding;
struct LiveRun;

class CodeDelivery {
 public:
  CodeDelivery(LiveRun& run, AgentLinks& links, RunBinding& bound) : run_(run), links_(links), bound_(bound) {}

  // Offers the code to the host. Returns false if the run ships none.
  bool Begin(std::uint32_t host);
  void OnMissing(std::uint32_t host, const CodeMissing& wanted);
  void OnTaken(std::uint32_t host, const CodeReceived& taken);
  // Returns whether the host has the code, whose paths are then used for its processes. If not, the run was abandoned.
  bool OnReady(std::uint32_t host, const CodeReady& ready);

  // "34 of 120 MB of code sent"; empty if no transfer is in progress.
  std::string Text() const;

 private:
  // Abandons the run if `error`, the reason why the transfer cannot continue, is not empty.
  void Check(std::uint32_t host, const std::string& error);

  LiveRun& run_;
  AgentLinks& links_;
  RunBinding& bound_;
  std::map<std::uint32_t, CodeShipment> shipments_;  // by host: incomplete transfers
};

// Requests devices from hosts, one after the other, and tracks which devices the run waits for.
//
// Two jobs could wait for each other for ever, each holding devices that the other needs. All hosts are therefore
// requested in one order, by their own host names: one of the two jobs gets the first host, and the other none.

class DeviceQueue {
 public:
  DeviceQueue(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // Sends the first request once all hosts with devices have been added.
  void Add(std::uint32_t host, const std::string& host_name, const AllocateResources& asked);
  // Sends the next request: the current host has allocated its devices.
  void AskNext();

  // Other jobs hold what the run waits for ("2 devices of node-1"), or the wait is over.
  void SetWaiting(const std::string& for_what, const std::string& holders);
  void StopWaiting();
  // "2 devices: pid 4711"; empty: the run waits for no devices.
  const std::string& waiting() const { return waiting_; }

 private:
  struct Request {
    std::uint32_t host = 0;
    std::string host_name;
    AllocateResources asked;
  };

  LiveRun& run_;
  AgentLinks& links_;
  std::vector<Request> requests_;  // in the order in which they are sent, once all are added
  std::size_t sent_ = 0;           // number of requests sent
  MonotonicNs since_ = 0;          // when the first was sent
  std::string waiting_;
};

// Sets up one host, from the answer of its agent until processes can be started there: a state machine that the agent's
// answers advance.
//
// connecting → shipping (with --ship-code) → activating → ports → devices → ready. A spare stands by after its
// activation, and continues with ports and devices when it replaces a host of the plan. Preflight
// checks the host in parallel.

struct HostReplaced;

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

// Checks several hosts before the first process: faults, differences, and whether they can connect to each other. Runs
// in parallel with the other preparations.

class FailedHosts;

class HostPreflight {
 public:
  // `setups`, by host, provide the addresses of the hosts.
  HostPreflight(LiveRun& run, AgentLinks& links, FailedHosts& failed, const std::vector<HostSetup>& setups);

  // Starts the check of a host whose agent was connected.
  void Inspect(std::uint32_t host);
  // Whether the checks are over or not requested. If all hosts are inspected, it goes on to check the paths between
  // them. RunEvents::BeginIfReady is called whenever the result may have changed.
  bool Done();

  void OnInspected(std::uint32_t host, const Inspected& reported);
  void OnPathsOpen(std::uint32_t host, const PathsOpen& open);
  void OnPathsProbed(std::uint32_t host, const PathsProbed& tried);

 private:
  enum class Stage : std::uint8_t { kInspecting, kOpening, kTrying, kClosing, kDone };
  struct Host {
    std::uint64_t asked_at = 0;  // by the local wall clock
    std::optional<InspectedHost> inspected;
    std::optional<std::uint16_t> port;  // port at which it listens for the tests of others; 0: none
    std::vector<ConnectionAttempt> tries;
    std::optional<PathsProbed> tried;
  };

  bool wanted() const;
  // Whether all hosts have given this answer.
  template <class Answer>
  bool All(std::optional<Answer> Host::*answer) const;
  void JudgeHosts();
  void OpenPaths();
  void JudgePaths();

  LiveRun& run_;
  AgentLinks& links_;
  FailedHosts& failed_;
  const std::vector<HostSetup>& setups_;
  std::vector<Host> hosts_;
  Stage stage_ = Stage::kInspecting;
  std::uint32_t closings_due_ = 0;  // agents that still have to close their test ports
};

}  // namespace muster
