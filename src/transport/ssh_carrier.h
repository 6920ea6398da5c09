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
#include "transport/agent_carrier.h"
#include "transport/remote_agent.h"
#include "transport/ssh_gate.h"
#include "transport/watched_command.h"

namespace muster {

class SshCarrier final : public AgentCarrier {
 public:
  // An ssh that has not exited this long after its connection ended is killed.
  static constexpr std::chrono::seconds kSshPatience{10};
  // An agent that has not sent its greeting this long after ssh began is given up: a login may hang on a dead disk.
  static constexpr std::chrono::seconds kGreetingPatience{30};
  // How long a destroyed channel waits for the other side to notice before ssh is killed.
  static constexpr std::chrono::seconds kPartingPatience{2};

  // `argv`: the command line of ssh. The connection begins when the gate admits it.
  SshCarrier(boost::asio::io_context& io, RemoteAgent& agent, std::shared_ptr<Launcher> launcher,
             std::shared_ptr<SshGate> gate, const TransportHost& host, std::vector<std::string> argv);

  void Begin() override;
  void OnOpen() override;
  void OnEmpty() override;
  bool TakeOwnEnd(const AgentExited& end) override;
  void OnWireEnd(const std::string& reason) override;
  void Cut(bool await) override;
  void OnStop() override;
  void OnClose(bool open) override;

 private:
  void Connect();
  // Empty, or an error.
  std::string StartSsh();
  void OnSshEnd();
  void TakeSsh();
  void Conclude();

  boost::asio::io_context& io_;
  RemoteAgent& agent_;
  const std::shared_ptr<Launcher> launcher_;
  const std::shared_ptr<SshGate> gate_;
  const TransportHost host_;
  const std::vector<std::string> argv_;
  std::shared_ptr<WatchedCommand> ssh_;  // null between attempts
  RemoteAgent::Timer patience_;
};

}  // namespace muster
