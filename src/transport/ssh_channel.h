// The head's end of a connection through ssh to the agent of another host, from before there is one to its end.
//
// Knows ssh as a process, the wire and the lease; answers the agent's beats itself, and compares the clocks by them.
// Says AgentUnreachable if there never was an agent; AgentEmpty only once ssh has
// ended; AgentLost once the host has said that nothing of the agent is left, or has had the time to see to it: when the
// lease is over.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "transport/channel.h"
#include "transport/ssh_command.h"
#include "transport/ssh_gate.h"
#include "transport/unchecked_channel.h"

namespace muster {

class SshChannel final : public UncheckedChannel {
 public:
  // An ssh that does not end this long after its connection did is killed.
  static constexpr std::chrono::seconds kSshPatience{10};
  // An agent that has not said anything this long after ssh began is none: a login may hang behind a dead disk.
  static constexpr std::chrono::seconds kGreetingPatience{30};
  // What a channel that is given up waits for the other side to see it, before ssh is killed.
  static constexpr std::chrono::seconds kPartingPatience{2};

  // `argv`: of ssh. Begins when the gate lets it.
  SshChannel(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, std::shared_ptr<SshGate> gate,
             const TransportHost& host, std::vector<std::string> argv, std::uint64_t lease_ms);
  ~SshChannel() override;

  // Finish, before there is an agent, gives the connection up.
  void Send(const AgentCommand& command) override;
  void SetReceiver(Receiver receiver) override;
  void BreakOff(const std::string& why) override;

 private:
  struct Connection;
  std::shared_ptr<Connection> connection_;
};

}  // namespace muster
