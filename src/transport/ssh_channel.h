// The head's end of an ssh connection to the agent of another host, from the first attempt to its end.
//
// Depends on ssh as a process, the wire protocol and the lease; answers the agent's heartbeats itself, and compares the
// clocks with them. Delivers AgentUnreachable if there never was an agent; AgentEmpty only once ssh has exited;
// AgentLost once the host has reported that nothing of the agent is left, or once the lease has expired, by which time
// the host has cleaned up.
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
  // An ssh that has not exited this long after its connection ended is killed.
  static constexpr std::chrono::seconds kSshPatience{10};
  // An agent that has not sent its greeting this long after ssh started is given up: a login may hang on a dead disk.
  static constexpr std::chrono::seconds kGreetingPatience{30};
  // How long a destroyed channel waits for the other side to notice before ssh is killed.
  static constexpr std::chrono::seconds kPartingPatience{2};

  // `argv`: the command line of ssh. The connection begins when the gate admits it.
  SshChannel(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, std::shared_ptr<SshGate> gate,
             const TransportHost& host, std::vector<std::string> argv, std::uint64_t lease_ms);
  ~SshChannel() override;

  // A Finish that is sent before there is an agent abandons the connection.
  void Send(const AgentCommand& command) override;
  void SetReceiver(Receiver receiver) override;
  void BreakOff(const std::string& why) override;

 private:
  struct Connection;
  std::shared_ptr<Connection> connection_;
};

}  // namespace muster
