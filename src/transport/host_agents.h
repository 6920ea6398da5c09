// The standing agents of a sweep: one on each of its hosts, connected once, below which each run has agents of its own
// (agent/program/sub_agents.h), so that a run among thousands costs no connection.
//
// Knows an ordinary transport and channels; not runs. Numbers of hosts are positions in the list of names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "transport/channel.h"
#include "transport/transport.h"

namespace muster {

class HostAgents {
 public:
  // From the loop, but for what cannot even begin, which Connect() tells. The object may not be destroyed in them.
  struct Events {
    std::function<void(std::uint32_t host, const AgentReady& ready)> ready;
    std::function<void(std::uint32_t host, const AgentUnreachable& why)> refused;  // there is none, or none any more
    // There is none any more; all channels to agents below it have been told so before.
    std::function<void(std::uint32_t host, const AgentLost& lost)> lost;
  };

  // `transport`, which must outlive this, is the one that is spoken through; `id`, the sweep's, is what agents are
  // greeted with. `io` too must outlive this and every channel.
  HostAgents(boost::asio::io_context& io, Transport& transport, std::vector<std::string> names, std::string id,
             Events events);
  // Ends the agents, and so all that is left of runs; waits for local ones to have ended.
  ~HostAgents();
  HostAgents(const HostAgents&) = delete;
  HostAgents& operator=(const HostAgents&) = delete;

  // Connects the host's agent, unless it has one or is about to.
  void Connect(std::uint32_t host);
  void ConnectAll();
  bool ready(std::uint32_t host) const;
  // What it told when it was ready; null before, and once it is lost.
  const AgentReady* AgentOf(std::uint32_t host) const;
  std::size_t size() const;

  // For one run: host i of its plan is the i-th of these. It has the name of the transport that is spoken through, and
  // may outlive this object: its channels are dead then. Connecting does not wait for the host's agent, and fails only
  // if it is lost, was refused or was never connected.
  std::unique_ptr<Transport> TransportFor(std::vector<std::uint32_t> hosts);

  // Tells all agents that nothing more comes, and calls `done` once, from the loop, when they have ended. Agents of
  // runs that go on are ended.
  void Finish(std::function<void()> done);

 private:
  class Pool;
  class RunTransport;
  class RunChannel;
  struct Line;
  std::shared_ptr<Pool> pool_;
};

}  // namespace muster
