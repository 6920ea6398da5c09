#include "transport/command_channel.h"

#include <csignal>
#include <optional>
#include <utility>
#include <variant>

#include <sys/socket.h>

#include "base/values/shell_quote.h"
#include "transport/watched_command.h"
#include "wire/connection/wire.h"

namespace muster {
namespace {

// The last line that the agent itself wrote, without its prefix; empty if there is none.
std::string WordOfAgent(std::string_view words) {
  constexpr std::string_view kName = "muster-agent: ";
  const std::size_t at = words.rfind(kName);
  if (at == std::string_view::npos || (at > 0 && words[at - 1] != '\n')) return {};
  const std::string_view line = words.substr(at + kName.size());
  return Printable(line.substr(0, line.find_first_of("\r\n")));
}

}  // namespace

class CommandChannel::Connection final : public RemoteAgent {
 public:
  Connection(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, std::shared_ptr<CommandCarrier> carrier,
             const TransportHost& host, std::uint64_t lease_ms)
      : RemoteAgent(io, host.index, lease_ms),
        launcher_(std::move(launcher)),
        carrier_(std::move(carrier)),
        place_(host),
        patience_(io.get_executor()) {}

  void Enter() {
    carrier_->Enter(
        place_,
        {.begin = Later(*this, [](Connection& self, const std::vector<std::string>& argv) { self.Begin(argv); }),
         .refuse =
             Later(*this, [](Connection& self, const CommandFailure& why) { self.Unreachable(why.phrase, why.hint); }),
         .gone = Later(*this, [](Connection& self, const std::string& why) { self.OnGone(why); })});
  }

 private:
  // --- one connection attempt ---

  void Begin(const std::vector<std::string>& argv) {
    if (const std::string error = StartCommandOf(argv); !error.empty()) return Unreachable(error, {});
    patience_.expires_after(kGreetingPatience);
    patience_.async_wait(Later(*this, [](Connection& self, const boost::system::error_code& error) {
      if (error) return;
      self.why() = "no response";
      self.Cut();
    }));
  }

  // Empty, or an error.
  std::string StartCommandOf(const std::vector<std::string>& argv) {
    const std::string name(carrier_->name());
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return "no connection for " + name;
    UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    SpawnSpec spec;
    spec.argv = argv;
    spec.stdin_fd = theirs.get();
    spec.stdout_fd = theirs.get();
    spec.parent_death_signal = SIGTERM;
    auto command = WatchedCommand::Start(io(), *launcher_, std::move(spec),
                                         Later(*this, [](Connection& self) { self.OnCommandEnd(); }));
    if (!command) return name + " cannot be started: " + command.error();
    command_ = std::move(*command);
    auto made = Wire::Make(io(), std::move(ours), UniqueFd(), FrameReader::OfMessages(kMagic));
    if (!made) return "the connection to " + name + ": " + made.error();
    Use(std::move(*made));
    return {};
  }

  void OnOpen() override {
    patience_.cancel();
    carrier_->Passed(host());
  }

  // --- ends ---

  void OnEmpty() override { EndWire({}); }

  // The command reports its exit code.
  bool TakeOwnEnd(const AgentExited& end) override {
    static_cast<void>(end);
    return false;
  }

  void OnWireEnd(const std::string& reason) override {
    static_cast<void>(reason);  // it is in why()
    if (command_->end()) return Conclude();
    patience_.expires_after(kCommandPatience);
    patience_.async_wait(Later(*this, [](Connection& self, const boost::system::error_code& error) {
      if (!error) self.Cut();
    }));
  }

  void OnCommandEnd() {
    TakeCommand();
    if (wire_ended()) Conclude();  // else its last messages are still on their way
  }

  void TakeCommand() {
    command_->Take();
    patience_.cancel();
  }

  void Cut() override {
    if (command_) command_->Signal(SIGKILL);
  }

  void CutAndAwait() override {
    Cut();
    if (command_) TakeCommand();
  }

  void Conclude() {
    const EndedProcess end = *command_->end();
    if (attested()) return Empty();
    if (!gone_.empty()) return state() == State::kOpen ? Lost(gone_) : Unreachable(gone_, {});
    if (state() == State::kConnecting) {
      if (!why().empty()) return Unreachable("its agent: " + why(), {});
      const CommandFailure failure = carrier_->FailureOf(host(), end, command_->Words());
      if (!failure.again) return Unreachable(failure.phrase, failure.hint);
      AwaitRetry();
      command_.reset();
      return;
    }
    const std::optional<std::string> own = carrier_->OwnFailure(end, command_->Words());
    if (!own) {
      // The agent's guard on the host has cleaned up the rest.
      const std::string said = WordOfAgent(command_->Words());
      std::string text = "the agent " + EndText(end);
      for (const std::string& more : {why(), said}) {
        if (!more.empty() && text.find(more) == std::string::npos) text += ": " + more;
      }
      return carrier_->MayKnowMore(end) ? LostAfterReason(std::move(text)) : Lost(std::move(text));
    }
    // The other side may not have noticed yet, and continue until its lease expires.
    if (broken_off()) {
      why() += "; the connection was closed, and no heartbeat came";
      return;
    }
    why() = "the connection broke (" + *own + "), and no heartbeat came";
  }

  void LostAfterReason(std::string text) {
    patience_.expires_after(kReasonPatience);
    patience_.async_wait(
        Later(*this, [text = std::move(text)](Connection& self, const boost::system::error_code& error) {
          if (!error) self.Lost(text);
        }));
  }

  void OnGone(const std::string& why) {
    if (!gone_.empty()) return;
    gone_ = why;
    if (wire_ended() && command_->end()) return Conclude();
    // The last messages of the agent may be on their way.
    patience_.expires_after(kReasonPatience);
    patience_.async_wait(Later(*this, [](Connection& self, const boost::system::error_code& error) {
      if (!error) self.Cut();
    }));
  }

  void OnStop() override {
    carrier_->Left(host());
    patience_.cancel();
  }

  void OnClose(bool open) override {
    if (!command_ || command_->end()) return;
    // The command reports the end of stdin to the other side, which ends the agent.
    if (!open || !command_->EndsWithin(kPartingPatience)) Cut();
    command_->Take();
  }

  const std::shared_ptr<Launcher> launcher_;
  const std::shared_ptr<CommandCarrier> carrier_;
  const TransportHost place_;
  std::shared_ptr<WatchedCommand> command_;  // null between attempts
  std::string gone_;                         // what the carrier says about the end of the host
  Timer patience_;
};

CommandChannel::CommandChannel(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher,
                               std::shared_ptr<CommandCarrier> carrier, const TransportHost& host,
                               std::uint64_t lease_ms)
    : RemoteChannel([&] {
        auto connection = std::make_shared<Connection>(io, std::move(launcher), carrier, host, lease_ms);
        connection->Enter();
        return connection;
      }()),
      carrier_(std::move(carrier)) {}

void CommandChannel::Send(const AgentCommand& command) {
  if (const auto* hello = std::get_if<Hello>(&command)) carrier_->KnowRun(hello->run_id);
  RemoteChannel::Send(command);
}

}  // namespace muster
