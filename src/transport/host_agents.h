// The standing agents of a sweep: one on each of its hosts, connected once. Each run gets an agent of its own below
// them (agent/program/sub_agents.h), so that thousands of runs need no further connections.
//
// Depends on an ordinary transport and channels; not on runs. Numbers of hosts are positions in the list of names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "transport/transport.h"

namespace muster {

class HostAgents {
 public:
  // Called from the loop, or from within Connect() if that fails at once. They must not destroy the object.
  struct Events {
    std::function<void(std::uint32_t host, const AgentReady& ready)> ready;
    std::function<void(std::uint32_t host, const AgentUnreachable& why)> refused;  // the host has no agent (any more)
    // The agent has ended; all channels to agents below it have been notified before.
    std::function<void(std::uint32_t host, const AgentLost& lost)> lost;
  };

  // Agents are connected through `transport`, which must outlive this, and greeted with `id`, that of the sweep. `io`
  // must outlive this and every channel.
  HostAgents(boost::asio::io_context& io, Transport& transport, std::vector<std::string> names, std::string id,
             Events events);
  // Ends the agents, and with them everything that is left of runs; waits for local agents to exit.
  ~HostAgents();
  HostAgents(const HostAgents&) = delete;
  HostAgents& operator=(const HostAgents&) = delete;

  // Connects the host's agent, unless it is connected or connecting.
  void Connect(std::uint32_t host);
  void ConnectAll();
  bool ready(std::uint32_t host) const;
  // The agent's greeting; null before the agent is ready, and once it is lost.
  const AgentReady* AgentOf(std::uint32_t host) const;
  std::size_t size() const;

  // A transport for one run: host i of its plan is the i-th of these hosts. It has the name of the underlying
  // transport, and may outlive this object, after its channels have ended. Connecting does not wait for the host's
  // agent, and fails only if that agent is lost, was refused or was never connected.
  std::unique_ptr<Transport> TransportFor(std::vector<std::uint32_t> hosts);

  // Asks all agents to exit, and calls `done` once, from the loop, when they have ended. Agents of runs that are still
  // active are ended.
  void Finish(std::function<void()> done);

 private:
  class Pool;
  class RunTransport;
  class RunChannel;
  struct Line;
  std::shared_ptr<Pool> pool_;
};

}  // namespace muster
