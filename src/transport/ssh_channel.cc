#include "transport/ssh_channel.h"

#include <csignal>
#include <optional>
#include <utility>

#include <sys/socket.h>

#include "base/values/shell_quote.h"
#include "spawn/start/reap.h"
#include "transport/ssh_failure.h"
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

class SshChannel::Connection final : public RemoteAgent {
 public:
  Connection(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, std::shared_ptr<SshGate> gate,
             const TransportHost& host, std::vector<std::string> argv, std::uint64_t lease_ms)
      : RemoteAgent(io, host.index, lease_ms),
        launcher_(std::move(launcher)),
        gate_(std::move(gate)),
        name_(host.name),
        argv_(std::move(argv)),
        patience_(io.get_executor()) {}

  void Enter() {
    gate_->Enter(host(), name_, Later(*this, [](Connection& self) { self.Begin(); }));
  }

 private:
  // --- one connection attempt ---

  void Begin() {
    if (const std::string error = StartSsh(); !error.empty()) return Unreachable(error, {});
    patience_.expires_after(kGreetingPatience);
    patience_.async_wait(Later(*this, [](Connection& self, const boost::system::error_code& error) {
      if (error) return;
      self.why() = "no response";
      self.Cut();
    }));
  }

  // Empty, or an error.
  std::string StartSsh() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return "no connection for ssh";
    UniqueFd ours(ends[0]);
    const UniqueFd theirs(ends[1]);
    SpawnSpec spec;
    spec.argv = argv_;
    spec.stdin_fd = theirs.get();
    spec.stdout_fd = theirs.get();
    spec.parent_death_signal = SIGTERM;
    auto ssh = WatchedCommand::Start(io(), *launcher_, std::move(spec),
                                     Later(*this, [](Connection& self) { self.OnSshEnd(); }));
    if (!ssh) return "ssh cannot be started: " + ssh.error();
    ssh_ = std::move(*ssh);
    auto made = Wire::Make(io(), std::move(ours), UniqueFd(), FrameReader::OfMessages(kMagic));
    if (!made) return "the connection to ssh: " + made.error();
    Use(std::move(*made));
    return {};
  }

  void OnOpen() override {
    patience_.cancel();
    gate_->Passed(host());
  }

  // --- ends ---

  void OnEmpty() override { EndWire({}); }

  // ssh reports its exit code.
  bool TakeOwnEnd(const AgentExited& end) override {
    static_cast<void>(end);
    return false;
  }

  void OnWireEnd(const std::string& reason) override {
    static_cast<void>(reason);  // it is in why()
    if (ssh_->end()) return Conclude();
    patience_.expires_after(kSshPatience);
    patience_.async_wait(Later(*this, [](Connection& self, const boost::system::error_code& error) {
      if (!error) self.Cut();
    }));
  }

  void OnSshEnd() {
    TakeSsh();
    if (wire_ended()) Conclude();  // else its last messages are still on their way
  }

  void TakeSsh() {
    ssh_->Take();
    patience_.cancel();
  }

  void Cut() override {
    if (ssh_) ssh_->Signal(SIGKILL);
  }

  void CutAndAwait() override {
    Cut();
    if (ssh_) TakeSsh();
  }

  void Conclude() {
    const EndedProcess end = *ssh_->end();
    if (attested()) return Empty();
    const bool by_ssh = end.signalled || end.code == kSshFailed;
    if (state() == State::kConnecting) {
      if (!why().empty()) return Unreachable("its agent: " + why(), {});
      const SshFailure failure =
          ClassifySshFailure(end.signalled ? std::nullopt : std::optional(end.code), ssh_->Words());
      if (failure.kind != SshFailureKind::kTurnedAway || !gate_->TurnedAway(host())) {
        return Unreachable(failure.phrase, failure.hint);
      }
      AwaitRetry();
      ssh_.reset();
      return;
    }
    if (!by_ssh) {
      // The agent's guard on the host has cleaned up the rest.
      const std::string said = WordOfAgent(ssh_->Words());
      std::string text = "the agent " + EndText(end);
      for (const std::string& more : {why(), said}) {
        if (!more.empty() && text.find(more) == std::string::npos) text += ": " + more;
      }
      return Lost(std::move(text));
    }
    // The other side may not have noticed yet, and continue until its lease expires.
    if (broken_off()) {
      why() += "; the connection was closed, and no heartbeat came";
      return;
    }
    const std::string reason =
        end.signalled ? "ssh " + EndText(end) : ClassifySshFailure(end.code, ssh_->Words()).phrase;
    why() = "the connection broke (" + reason + "), and no heartbeat came";
  }

  void OnStop() override {
    gate_->Passed(host());
    patience_.cancel();
  }

  void OnClose(bool open) override {
    if (!ssh_ || ssh_->end()) return;
    // ssh reports the end of stdin to the other side, which ends the agent.
    if (!open || !ssh_->EndsWithin(kPartingPatience)) Cut();
    ssh_->Take();
  }

  const std::shared_ptr<Launcher> launcher_;
  const std::shared_ptr<SshGate> gate_;
  const std::string name_;
  const std::vector<std::string> argv_;
  std::shared_ptr<WatchedCommand> ssh_;  // null between attempts
  Timer patience_;
};

SshChannel::SshChannel(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, std::shared_ptr<SshGate> gate,
                       const TransportHost& host, std::vector<std::string> argv, std::uint64_t lease_ms)
    : RemoteChannel([&] {
        auto connection =
            std::make_shared<Connection>(io, std::move(launcher), std::move(gate), host, std::move(argv), lease_ms);
        connection->Enter();
        return connection;
      }()) {}

}  // namespace muster
