// Hosts that failed by themselves: those without an agent, of which the run is decided once every host has answered,
// and those that other parts of the session blame.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "transport/channel.h"

namespace muster {

class FilesElsewhere;
struct LiveRun;

class FailedHosts {
 public:
  FailedHosts(LiveRun& run, FilesElsewhere& files, std::uint32_t machines)
      : run_(run), files_(files), hosts_(machines) {}

  // There is an agent, or there is none: with the last host the run is abandoned if any has none.
  void Answered(std::uint32_t host);
  void Refused(std::uint32_t host, AgentUnreachable why);
  bool answered(std::uint32_t host) const { return hosts_[host].answered; }

  // AgentFailed::why; AgentLost follows when the agent is gone.
  void SetAgentError(std::uint32_t host, std::string why) { hosts_[host].agent_error = std::move(why); }
  const std::string& agent_error(std::uint32_t host) const { return hosts_[host].agent_error; }

  // Does nothing on this machine alone, or once the agents were told to end.
  void Blame(std::uint32_t host, const std::string& why);

  // The loss of the next host without an agent, each once.
  std::optional<AgentLost> TakeLost();
  // To RunRequest::on_bad_hosts, at the end.
  void Report() const;

 private:
  struct Host {
    bool answered = false;
    std::optional<AgentUnreachable> refused;
    std::string agent_error;
  };

  // Once all have answered.
  void Judge();

  LiveRun& run_;
  FilesElsewhere& files_;
  std::vector<Host> hosts_;
  std::map<std::uint32_t, std::string> blamed_;  // and why
};

}  // namespace muster
