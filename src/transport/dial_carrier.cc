#include "transport/dial_carrier.h"

#include <utility>

#include "wire/connection/wire.h"

namespace muster {

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

}  // namespace muster
