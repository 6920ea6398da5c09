#include "transport/dial_transport.h"

#include <chrono>
#include <functional>
#include <utility>

#include <boost/asio/io_context.hpp>

#include "base/system/host_name.h"
#include "base/values/quoting.h"
#include "muster/diagnostic.h"
#include "transport/local_transport.h"
#include "transport/remote_agent.h"
#include "wire/connection/wire.h"

namespace muster {
namespace {

// The connection that an agent has made by dialling back, from the wait for it to its end.
//
// Depends on the dial server; what is the same for every connection is RemoteAgent's. The last message is the guard's,
// once nothing is left there: then AgentLost comes at once. A connection that ends without it says nothing about the
// host, whose lease must expire first. AgentEmpty comes when the connection has ended, which the guard closes last.
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

DialCarrier::DialCarrier(boost::asio::io_context& io, RemoteAgent& agent, std::shared_ptr<DialServer> server,
                         std::string host)
    : io_(io), agent_(agent), server_(std::move(server)), host_(std::move(host)), patience_(io.get_executor()) {}

void DialCarrier::Begin() {
  server_->Await(host_, {.connected =
                             [weak = agent_.weak_from_this(), this](UniqueFd connection) {
                               if (const auto agent = weak.lock()) Connect(std::move(connection));
                             },
                         .failed =
                             [weak = agent_.weak_from_this()](const std::string& why, const std::string& hint) {
                               if (const auto agent = weak.lock()) agent->Unreachable(why, hint);
                             }});
}

void DialCarrier::Connect(UniqueFd connection) {
  auto made = Wire::Make(io_, std::move(connection), UniqueFd(), FrameReader::OfMessages(kMagic));
  if (!made) return agent_.Unreachable("the connection to its agent: " + made.error(), {});
  wire_ = std::move(*made);
  agent_.Use(wire_);
  patience_.expires_after(kGreetingPatience);
  patience_.async_wait(agent_.Later(*this, [](DialCarrier& self, const boost::system::error_code& error) {
    if (!error) self.agent_.EndWire("no response");
  }));
}

void DialCarrier::OnOpen() { patience_.cancel(); }

bool DialCarrier::OnEmpty() {
  wire_->EndWriting();  // which the guard waits for; this loop may be writing the report when it does
  patience_.expires_after(kExitPatience);
  patience_.async_wait(agent_.Later(*this, [](DialCarrier& self, const boost::system::error_code& error) {
    if (!error) self.agent_.EndWire({});
  }));
  return true;
}

void DialCarrier::OnWireEnd(const std::string& reason) {
  if (agent_.link().empty) return EndWithCommand();
  if (agent_.link().state == RemoteAgent::State::kConnecting) {
    const std::string why = reason.empty() ? "it closed the connection without a greeting" : reason;
    return agent_.Unreachable("its agent: " + why, {});
  }
  if (!end_.why.empty()) return EndWithCommand();
  // The other side may not have noticed yet, and continue until its lease expires; or agent and guard were killed.
  if (agent_.link().broken_off) {
    agent_.why() += "; the connection was closed, and no heartbeat came";
  } else {
    agent_.why() = "the connection broke (" +
                   (!reason.empty()  ? reason
                    : wire_->reset() ? "it was reset"
                                     : "it was closed without a message") +
                   "), and no heartbeat came";
  }
}

bool DialCarrier::TakeOwnEnd(const AgentExited& end) {
  end_ = end;
  return true;
}

// Nothing is left on the node. What started the agent ends now, too, unless it has others.
void DialCarrier::EndWithCommand() {
  agent_.EndLease();
  server_->Leave(host_, agent_.Later(*this, [](DialCarrier& self) {
    if (self.agent_.link().empty) return self.agent_.Empty();
    std::string text = "the agent " + self.end_.why;
    if (!self.agent_.why().empty()) text += ": " + self.agent_.why();
    self.agent_.Lost(std::move(text), self.end_.killed);
  }));
}

void DialCarrier::OnStop() {
  patience_.cancel();
  server_->Leave(host_);
}

}  // namespace

DialTransport::DialTransport(DialSettings settings, std::uint64_t lease_ms, const Without& without)
    : settings_(std::move(settings)),
      lease_ms_(lease_ms),
      launcher_(std::make_shared<Launcher>(MechanismsBut(without))) {
  if (settings_.agent.empty()) settings_.agent = AgentBeside();
}

std::string DialTransport::StartWords(std::chrono::milliseconds within) const {
  const std::shared_ptr<DialServer> server = server_.lock();
  return server ? server->StartWords(within) : std::string();
}

void DialTransport::StartAgents() {
  if (const std::shared_ptr<DialServer> server = server_.lock()) server->StartGathered();
}

Result<std::unique_ptr<UncheckedChannel>> DialTransport::Open(boost::asio::io_context& io, const TransportHost& host) {
  if (!IsHostOrAddress(host.name)) return Fail(MachineError("hosts", Quoted(host.name) + " is not a host name"));
  std::shared_ptr<DialServer> server = server_.lock();
  if (!server) {
    Result<std::shared_ptr<DialServer>> opened = DialServer::Open(io, launcher_, settings_);
    if (!opened) return Fail(std::move(opened.error()));
    server_ = server = std::move(*opened);
  }
  if (server->Knows(host.name)) {
    return Fail(MachineError("hosts", "the host " + host.name + " is connected already"));
  }
  auto agent = std::make_shared<RemoteAgent>(io, host.index, lease_ms_);
  agent->Begin(std::make_unique<DialCarrier>(io, *agent, std::move(server), host.name));
  return std::make_unique<RemoteChannel>(std::move(agent));
}

}  // namespace muster
