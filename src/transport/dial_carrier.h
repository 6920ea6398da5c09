// The connection that an agent has made by dialling back, from the wait for it to its end.
//
// Depends on the dial server; what is the same for every connection is RemoteAgent's. The last message is the guard's,
// once nothing is left there: then AgentLost comes at once. A connection that ends without it says nothing about the
// host, whose lease must expire first. AgentEmpty comes when the connection has ended, which the guard closes last.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "transport/agent_carrier.h"
#include "transport/dial_server.h"
#include "transport/remote_agent.h"

namespace muster {

class DialCarrier final : public AgentCarrier {
 public:
  // An agent that has not sent its greeting this long after it connected is given up.
  static constexpr std::chrono::seconds kGreetingPatience{30};
  // An agent that has attested that nothing is left, and has not exited this long afterwards, is not waited for.
  static constexpr std::chrono::seconds kExitPatience{10};

  // The server must not know the host's name yet.
  DialCarrier(boost::asio::io_context& io, RemoteAgent& agent, std::shared_ptr<DialServer> server, std::string host);

  void Begin() override;
  void OnOpen() override;
  bool OnEmpty() override;
  bool TakeOwnEnd(const AgentExited& end) override;
  void OnWireEnd(const std::string& reason) override;
  void AskWhetherPaused(std::function<void(const std::string& phrase)> answer) override {
    server_->AskWhetherPaused(std::move(answer));
  }
  // The wire is all that there is to end, and RemoteAgent does that.
  void Cut(bool) override {}
  void OnStop() override;
  // The agent sees the end of the connection; the server, which ends with its last carrier, waits for the start
  // command.
  void OnClose(bool) override {}

 private:
  void Connect(UniqueFd connection);
  void EndWithCommand();

  boost::asio::io_context& io_;
  RemoteAgent& agent_;
  const std::shared_ptr<DialServer> server_;
  const std::string host_;
  std::shared_ptr<Wire> wire_;
  RemoteAgent::Timer patience_;
  AgentExited end_;  // as its guard has reported it
};

}  // namespace muster
