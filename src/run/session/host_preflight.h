// Checks several hosts before the first process: faults, differences, and whether they can connect to each other. Runs
// in parallel with the other preparations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/hosts/host_differences.h"
#include "run/hosts/inspect_hosts.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentLinks;
class FailedHosts;
class HostSetup;
struct LiveRun;

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
