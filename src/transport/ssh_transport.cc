#include "transport/ssh_transport.h"

#include <map>
#include <optional>
#include <utility>

#include "transport/command_carrier.h"
#include "transport/local_transport.h"
#include "transport/remote_agent.h"
#include "transport/ssh_failure.h"
#include "transport/ssh_gate.h"

namespace muster {

// The ssh processes. Their command lines are made before, since they may be impossible.
class SshTransport::Commands final : public HostCommands {
 public:
  Commands(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, const SshSettings& settings)
      : gate_(std::make_shared<SshGate>(io, std::move(launcher), settings)),
        greeting_patience_(settings.greeting_seconds) {}

  void Know(std::uint32_t host, std::vector<std::string> argv) { argv_[host] = std::move(argv); }

  std::string_view name() const override { return "ssh"; }

  void Enter(const TransportHost& host, Calls calls) override {
    gate_->Enter(host.index, host.name, [begin = std::move(calls.begin), argv = argv_.at(host.index)] { begin(argv); });
  }

  void Passed(std::uint32_t host) override { gate_->Passed(host); }

  void Left(std::uint32_t host) override {
    gate_->Passed(host);
    argv_.erase(host);
  }

  CommandFailure FailureOf(std::uint32_t host, const EndedProcess& end, const std::string& words) override {
    SshFailure failure = ClassifySshFailure(end.signalled ? std::nullopt : std::optional(end.code), words);
    const bool again = failure.kind == SshFailureKind::kTurnedAway && gate_->TurnedAway(host);
    return {std::move(failure.phrase), std::move(failure.hint), again};
  }

  std::chrono::seconds GreetingPatience() const override { return greeting_patience_; }

  std::string SilenceHint() const override {
    return "a start-up file of the login that waits, reads its input or starts another shell keeps an agent from "
           "starting; `ssh HOST true` shows whether the login ends";
  }

  std::optional<std::string> OwnFailure(const EndedProcess& end, const std::string& words) const override {
    if (end.signalled) return "ssh " + EndText(end);
    if (end.code != kSshFailed) return std::nullopt;
    return ClassifySshFailure(end.code, words).phrase;
  }

 private:
  const std::shared_ptr<SshGate> gate_;
  const std::chrono::seconds greeting_patience_;
  std::map<std::uint32_t, std::vector<std::string>> argv_;  // by host
};

SshTransport::SshTransport(SshSettings settings, std::uint64_t lease_ms, const Without& without)
    : settings_(std::move(settings)),
      lease_ms_(lease_ms),
      launcher_(std::make_shared<Launcher>(MechanismsBut(without))) {
  if (settings_.agent.empty()) settings_.agent = AgentBeside();
}

Result<std::unique_ptr<UncheckedChannel>> SshTransport::Open(boost::asio::io_context& io, const TransportHost& host) {
  Result<std::vector<std::string>> argv = SshArguments(settings_, host.name);
  if (!argv) return Fail(std::move(argv.error()));
  std::shared_ptr<Commands> commands = commands_.lock();
  if (!commands) commands_ = commands = std::make_shared<Commands>(io, launcher_, settings_);
  commands->Know(host.index, std::move(*argv));
  auto agent = std::make_shared<RemoteAgent>(io, host.index, lease_ms_);
  agent->Begin(std::make_unique<CommandCarrier>(io, *agent, launcher_, std::move(commands), host));
  return std::make_unique<RemoteChannel>(std::move(agent));
}

}  // namespace muster
