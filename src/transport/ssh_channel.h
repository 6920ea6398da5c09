// The ssh process that carries the connection to the agent of another host, from the first attempt to its end.
//
// Depends on ssh as a process; what is not ssh's is RemoteAgent's. Delivers AgentEmpty only once ssh has exited, and
// AgentLost before the lease expires only if ssh has reported how the agent ended.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "spawn/start/launcher.h"
#include "transport/channel.h"
#include "transport/remote_agent.h"
#include "transport/ssh_gate.h"

namespace muster {

class SshChannel final : public RemoteChannel {
 public:
  // An ssh that has not exited this long after its connection ended is killed.
  static constexpr std::chrono::seconds kSshPatience{10};
  // An agent that has not sent its greeting this long after ssh began is given up: a login may hang on a dead disk.
  static constexpr std::chrono::seconds kGreetingPatience{30};
  // How long a destroyed channel waits for the other side to notice before ssh is killed.
  static constexpr std::chrono::seconds kPartingPatience{2};

  // `argv`: the command line of ssh. Begins when the gate admits it.
  SshChannel(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, std::shared_ptr<SshGate> gate,
             const TransportHost& host, std::vector<std::string> argv, std::uint64_t lease_ms);

 private:
  class Connection;
};

}  // namespace muster
