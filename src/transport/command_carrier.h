// The command (ssh, kubectl exec) that carries the connection to the agent of another host, from the first attempt to
// its end.
//
// What is particular to ssh or kubectl is its HostCommands'; what is common to all other hosts is RemoteAgent's.
// Delivers AgentEmpty only once the command has exited, and AgentLost before the lease expires only if the command, or
// its HostCommands, has reported how the agent ended.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "spawn/start/launcher.h"
#include "transport/agent_carrier.h"
#include "transport/channel.h"
#include "transport/host_commands.h"
#include "transport/remote_agent.h"
#include "transport/watched_command.h"

namespace muster {

class CommandCarrier final : public AgentCarrier {
 public:
  // A command that has not exited this long after its connection ended is killed; after the agent's final message it is
  // not waited for: something that the login left behind may hold the stream open.
  static constexpr std::chrono::seconds kCommandPatience{10};
  static constexpr std::chrono::milliseconds kPatienceAfterFinal{500};
  // How long the HostCommands may take to say more about an end.
  static constexpr std::chrono::seconds kReasonPatience{3};
  // How long a destroyed channel waits for the other side to notice before the command is killed.
  static constexpr std::chrono::seconds kPartingPatience{2};

  // The connection begins when `commands` says so.
  CommandCarrier(boost::asio::io_context& io, RemoteAgent& agent, std::shared_ptr<Launcher> launcher,
                 std::shared_ptr<HostCommands> commands, const TransportHost& host);

  void Begin() override;
  void KnowRun(const std::string& run) override;
  void OnOpen() override;
  bool OnEmpty() override;
  bool TakeOwnEnd(const AgentExited& end) override;
  void OnWireEnd(const std::string& reason) override;
  void Cut(bool await) override;
  void OnStop() override;
  void OnClose(bool open) override;

 private:
  void Connect(const std::vector<std::string>& argv);
  // Empty, or an error.
  std::string StartCommandOf(const std::vector<std::string>& argv);
  void OnCommandEnd();
  void TakeCommand();
  void Conclude();
  void LostAfterReason(std::string text);
  void OnGone(const std::string& why);

  boost::asio::io_context& io_;
  RemoteAgent& agent_;
  const std::shared_ptr<Launcher> launcher_;
  const std::shared_ptr<HostCommands> commands_;
  const TransportHost host_;
  std::shared_ptr<WatchedCommand> command_;  // null between attempts
  std::string gone_;                         // what the HostCommands report about the end of the host
  RemoteAgent::Timer patience_;
};

}  // namespace muster
