// Collects hosts that failed by themselves: those without an agent, which abandon the run once every host has answered,
// and those that other parts of the session report.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "transport/transport.h"

namespace muster {

class FilesElsewhere;
struct LiveRun;

class FailedHosts {
 public:
  FailedHosts(LiveRun& run, FilesElsewhere& files, std::uint32_t machines)
      : run_(run), files_(files), hosts_(machines) {}

  // An agent was connected, or could not be. After the last host, the run is abandoned if any host has no agent.
  void Answered(std::uint32_t host);
  void Refused(std::uint32_t host, AgentUnreachable why);
  bool answered(std::uint32_t host) const { return hosts_[host].answered; }

  // AgentFailed::why; AgentLost follows when the agent has exited.
  void SetAgentError(std::uint32_t host, std::string why) { hosts_[host].agent_error = std::move(why); }
  const std::string& agent_error(std::uint32_t host) const { return hosts_[host].agent_error; }

  // Records the host as failed. Ignored in a run on this machine alone, and once the agents were ordered to exit.
  void Blame(std::uint32_t host, const std::string& why);

  // The loss of the next host without an agent; each host is returned once.
  std::optional<AgentLost> TakeLost();
  // Calls RunRequest::on_bad_hosts, at the end.
  void Report() const;

 private:
  struct Host {
    bool answered = false;
    std::optional<AgentUnreachable> refused;
    std::string agent_error;
  };

  // Called once all hosts have answered.
  void Judge();

  LiveRun& run_;
  FilesElsewhere& files_;
  std::vector<Host> hosts_;
  std::map<std::uint32_t, std::string> blamed_;  // with the reason
};

}  // namespace muster
