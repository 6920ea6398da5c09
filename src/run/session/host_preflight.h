// What is checked on several hosts before the first process: what is wrong with them, in what they differ, and whether
// they reach each other. It goes on beside everything else that comes before the first process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/hosts/inspect_hosts.h"
#include "run/hosts/path_matrix.h"
#include "wire/protocol/inspection_messages.h"

namespace muster {

class AgentLinks;
class FailedHosts;
class HostSetup;
struct LiveRun;

class HostPreflight {
 public:
  // `setups`, of each host, say by which address it is reached.
  HostPreflight(LiveRun& run, AgentLinks& links, FailedHosts& failed, const std::vector<HostSetup>& setups);

  // The agent of the host answered.
  void Inspect(std::uint32_t host);
  // Whether it is over, or was not asked for. If not, and all hosts are inspected, it goes on with the paths between
  // them. RunEvents::BeginIfReady is called whenever this may have changed.
  bool Done();

  void OnInspected(std::uint32_t host, const Inspected& told);
  void OnPathsOpen(std::uint32_t host, const PathsOpen& open);
  void OnPathsProbed(std::uint32_t host, const PathsProbed& tried);

 private:
  enum class Stage : std::uint8_t { kInspecting, kOpening, kTrying, kClosing, kDone };
  struct Host {
    std::uint64_t asked_at = 0;  // by our wall clock
    std::optional<InspectedHost> inspected;
    std::optional<std::uint16_t> port;  // where it listens for others that try; 0: it does not
    std::vector<ConnectionAttempt> tries;
    std::optional<PathsProbed> tried;
  };

  bool wanted() const;
  // Whether all hosts have answered the same.
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
  std::uint32_t closings_due_ = 0;  // of agents that still listen for tries
};

}  // namespace muster
