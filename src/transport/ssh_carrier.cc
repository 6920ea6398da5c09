#include "transport/ssh_carrier.h"

#include <csignal>
#include <optional>
#include <utility>

#include <sys/socket.h>

#include "base/values/shell_quote.h"
#include "spawn/start/reap.h"
#include "transport/ssh_failure.h"
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

SshCarrier::SshCarrier(boost::asio::io_context& io, RemoteAgent& agent, std::shared_ptr<Launcher> launcher,
                       std::shared_ptr<SshGate> gate, const TransportHost& host, std::vector<std::string> argv)
    : io_(io),
      agent_(agent),
      launcher_(std::move(launcher)),
      gate_(std::move(gate)),
      host_(host),
      argv_(std::move(argv)),
      patience_(io.get_executor()) {}

// --- one connection attempt ---

void SshCarrier::Begin() {
  gate_->Enter(host_.index, host_.name, agent_.Later(*this, [](SshCarrier& self) { self.Connect(); }));
}

void SshCarrier::Connect() {
  if (const std::string error = StartSsh(); !error.empty()) return agent_.Unreachable(error, {});
  patience_.expires_after(kGreetingPatience);
  patience_.async_wait(agent_.Later(*this, [](SshCarrier& self, const boost::system::error_code& error) {
    if (error) return;
    self.agent_.why() = "no response";
    self.Cut(false);
  }));
}

std::string SshCarrier::StartSsh() {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return "no connection for ssh";
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  SpawnSpec spec;
  spec.argv = argv_;
  spec.stdin_fd = theirs.get();
  spec.stdout_fd = theirs.get();
  spec.parent_death_signal = SIGTERM;
  auto ssh = WatchedCommand::Start(io_, *launcher_, std::move(spec),
                                   agent_.Later(*this, [](SshCarrier& self) { self.OnSshEnd(); }));
  if (!ssh) return "ssh cannot be started: " + ssh.error();
  ssh_ = std::move(*ssh);
  auto made = Wire::Make(io_, std::move(ours), UniqueFd(), FrameReader::OfMessages(kMagic));
  if (!made) return "the connection to ssh: " + made.error();
  agent_.Use(std::move(*made));
  return {};
}

void SshCarrier::OnOpen() {
  patience_.cancel();
  gate_->Passed(host_.index);
}

// --- ends ---

void SshCarrier::OnEmpty() { agent_.EndWire({}); }

// ssh reports its exit code.
bool SshCarrier::TakeOwnEnd(const AgentExited&) { return false; }

void SshCarrier::OnWireEnd(const std::string&) {
  if (ssh_->end()) return Conclude();
  patience_.expires_after(kSshPatience);
  patience_.async_wait(agent_.Later(*this, [](SshCarrier& self, const boost::system::error_code& error) {
    if (!error) self.Cut(false);
  }));
}

void SshCarrier::OnSshEnd() {
  TakeSsh();
  if (agent_.link().wire_ended) Conclude();  // else its last messages are still on their way
}

void SshCarrier::TakeSsh() {
  ssh_->Take();
  patience_.cancel();
}

void SshCarrier::Cut(bool await) {
  if (!ssh_) return;
  ssh_->Signal(SIGKILL);
  if (await) TakeSsh();
}

void SshCarrier::Conclude() {
  const EndedProcess end = *ssh_->end();
  if (agent_.link().empty) return agent_.Empty();
  std::string& why = agent_.why();
  const bool by_ssh = end.signalled || end.code == kSshFailed;
  if (agent_.link().state == RemoteAgent::State::kConnecting) {
    if (!why.empty()) return agent_.Unreachable("its agent: " + why, {});
    const SshFailure failure =
        ClassifySshFailure(end.signalled ? std::nullopt : std::optional(end.code), ssh_->words());
    if (failure.kind != SshFailureKind::kTurnedAway || !gate_->TurnedAway(host_.index)) {
      return agent_.Unreachable(failure.phrase, failure.hint);
    }
    agent_.AwaitRetry();
    ssh_.reset();
    return;
  }
  if (!by_ssh) {
    // The agent's guard on the host has cleaned up the rest.
    std::string text = "the agent " + EndText(end);
    for (const std::string& more : {why, WordOfAgent(ssh_->words())}) {
      if (!more.empty() && text.find(more) == std::string::npos) text += ": " + more;
    }
    return agent_.Lost(std::move(text));
  }
  // The other side may not have noticed yet, and continue until its lease expires.
  if (agent_.link().broken_off) {
    why += "; the connection was closed, and no heartbeat came";
    return;
  }
  const std::string reason = end.signalled ? "ssh " + EndText(end) : ClassifySshFailure(end.code, ssh_->words()).phrase;
  why = "the connection broke (" + reason + "), and no heartbeat came";
}

void SshCarrier::OnStop() {
  gate_->Passed(host_.index);
  patience_.cancel();
}

void SshCarrier::OnClose(bool open) {
  if (!ssh_ || ssh_->end()) return;
  // ssh reports the end of stdin to the other side, which ends the agent.
  if (!open || !ssh_->EndsWithin(kPartingPatience)) Cut(false);
  ssh_->Take();
}

}  // namespace muster
