// The channels to the agents of a run, one per machine, the files that are transferred over them, and hosts that
// failed by themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "muster/result.h"
#include "transport/transport.h"
#include "wire/protocol/protocol.h"

namespace muster {

// The channels to the agents of a run, one per machine.

class Transport;
struct LiveRun;

class AgentLinks {
 public:
  using Receive = std::function<void(std::uint32_t host, ChannelMessage message)>;

  AgentLinks(LiveRun& run, std::uint32_t machines) : run_(run), links_(machines) {}

  // Connects all agents. If a connection cannot even be attempted, it is reported as AgentUnreachable, from the loop.
  void Connect(Transport& transport, const Receive& receive);
  // Sets a function to be called before every command that is not a start.
  void BeforeCommands(std::function<void()> call) { before_commands_ = std::move(call); }

  // Writes the journal first. Does nothing once the link is over.
  void Send(std::uint32_t host, const AgentCommand& command);
  void SendAll(const AgentCommand& command);
  // As Channel::ExpectAnswer.
  void ExpectAnswer(std::uint32_t host, bool at_once);

  // As Channel::Hold.
  bool Hold(std::uint32_t host, bool held);

  // No further commands are sent to the agent, and its messages are ignored.
  void SetOver(std::uint32_t host) { links_[host].over = true; }
  bool over(std::uint32_t host) const { return links_[host].over; }
  // Nothing is left on the host, and the agent and its connection are still ending.
  void SetEnding(std::uint32_t host, bool ending);
  bool AnyEnding() const { return ending_ > 0; }
  // They are not waited for any more.
  void LetEnd();
  // Calls `done` once, from the loop, when none is ending.
  void WhenEnded(std::function<void()> done);
  std::uint32_t size() const { return static_cast<std::uint32_t>(links_.size()); }
  void Disconnect();

 private:
  struct Link {
    std::unique_ptr<Channel> channel;
    bool over = false;
    bool ending = false;
  };

  void NotifyIfEnded();

  LiveRun& run_;
  std::function<void()> before_commands_;
  std::function<void()> when_ended_;
  std::vector<Link> links_;
  std::uint32_t ending_ = 0;  // links
};

// Transfers the files of a run to and from hosts that do not share its run directory: generated files are sent there,
// logs come back.

class FilesElsewhere {
 public:
  FilesElsewhere(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // Writes the file by which an agent recognises that it shares the run directory.
  Result<void> WriteProbe();
  void RemoveProbe();

  // The host, with this host name, does not share the run directory.
  void Add(std::uint32_t host, std::string host_name) { hosts_[host] = {std::move(host_name), false}; }
  bool Has(std::uint32_t host) const { return hosts_.contains(host); }

  // Sends the files, by path below the run directory, to all hosts that do not share it.
  void Send(const std::map<std::string, std::string>& files);
  // Writes a part of a file of such a host. The first one that cannot be written is reported.
  void Keep(std::uint32_t host, const FileBytes& bytes);
  // All parts have arrived: permits the host to remove its copies if all of them were written.
  void Finish(std::uint32_t host);

 private:
  struct Host {
    std::string name;
    bool incomplete = false;
  };

  LiveRun& run_;
  AgentLinks& links_;
  std::map<std::uint32_t, Host> hosts_;
};

// Collects hosts that failed by themselves: those without an agent, which abandon the run once every host has answered,
// and those that other parts of the session report.

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
