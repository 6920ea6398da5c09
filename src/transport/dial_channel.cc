#include "transport/dial_channel.h"

#include <string>
#include <utility>

#include "wire/connection/wire.h"

namespace muster {

class DialChannel::Connection final : public RemoteAgent {
 public:
  Connection(boost::asio::io_context& io, std::shared_ptr<DialServer> server, const TransportHost& host,
             std::uint64_t lease_ms)
      : RemoteAgent(io, host.index, lease_ms),
        server_(std::move(server)),
        name_(host.name),
        patience_(io.get_executor()) {}

  void Await() {
    server_->Await(name_, {.connected =
                               [weak = Weak()](UniqueFd connection) {
                                 if (const auto self = weak.lock()) self->Begin(std::move(connection));
                               },
                           .failed =
                               [weak = Weak()](const std::string& why, const std::string& hint) {
                                 if (const auto self = weak.lock()) self->Unreachable(why, hint);
                               }});
  }

 private:
  std::weak_ptr<Connection> Weak() { return std::static_pointer_cast<Connection>(shared_from_this()); }

  void Begin(UniqueFd connection) {
    auto made = Wire::Make(io(), std::move(connection), UniqueFd(), FrameReader::OfMessages(kMagic));
    if (!made) return Unreachable("the connection to its agent: " + made.error(), {});
    Use(std::move(*made));
    patience_.expires_after(kGreetingPatience);
    patience_.async_wait(Later(*this, [](Connection& self, const boost::system::error_code& error) {
      if (!error) self.EndWire("no response");
    }));
  }

  void OnOpen() override { patience_.cancel(); }

  void OnEmpty() override {
    patience_.expires_after(kExitPatience);
    patience_.async_wait(Later(*this, [](Connection& self, const boost::system::error_code& error) {
      if (!error) self.EndWire({});
    }));
  }

  void OnWireEnd(const std::string& reason) override {
    if (attested()) return EndWithCommand();
    if (state() == State::kConnecting) {
      return Unreachable("its agent: " + (reason.empty() ? "it closed the connection without a greeting" : reason), {});
    }
    if (!end_.why.empty()) return EndWithCommand();
    // The other side may not have noticed yet, and continue until its lease expires; or agent and guard were killed.
    if (broken_off()) {
      why() += "; the connection was closed, and no heartbeat came";
    } else {
      why() = "the connection broke (" +
              (!reason.empty()   ? reason
               : wire()->reset() ? "it was reset"
                                 : "it was closed without a word") +
              "), and no heartbeat came";
    }
  }

  bool TakeOwnEnd(const AgentExited& end) override {
    end_ = end;
    return true;
  }

  // Nothing is left on the node. What started the agent ends now, too, unless it has others.
  void EndWithCommand() {
    EndLease();
    server_->Leave(name_, Later(*this, [](Connection& self) {
                     if (self.attested()) return self.Empty();
                     std::string text = "the agent " + self.end_.why;
                     if (!self.why().empty()) text += ": " + self.why();
                     self.Lost(std::move(text), self.end_.killed);
                   }));
  }

  // The connection itself is all that there is to end, and RemoteAgent does that.
  void Cut() override {}
  void CutAndAwait() override {}

  void OnStop() override {
    patience_.cancel();
    server_->Leave(name_);
  }

  // The agent sees the end of the connection; the server, which ends with its last channel, waits for the start
  // command.
  void OnClose(bool open) override { static_cast<void>(open); }

  const std::shared_ptr<DialServer> server_;
  const std::string name_;
  Timer patience_;
  AgentExited end_;  // what its guard said
};

DialChannel::DialChannel(boost::asio::io_context& io, std::shared_ptr<DialServer> server, const TransportHost& host,
                         std::uint64_t lease_ms)
    : RemoteChannel([&] {
        auto connection = std::make_shared<Connection>(io, std::move(server), host, lease_ms);
        connection->Await();
        return connection;
      }()) {}

}  // namespace muster
