#include "transport/ssh_transport.h"

#include "transport/local_transport.h"
#include "transport/remote_agent.h"
#include "transport/ssh_carrier.h"

namespace muster {

SshTransport::SshTransport(SshSettings settings, std::uint64_t lease_ms, const Without& without)
    : settings_(std::move(settings)),
      lease_ms_(lease_ms),
      launcher_(std::make_shared<Launcher>(MechanismsBut(without))) {
  if (settings_.agent.empty()) settings_.agent = AgentBeside();
}

Result<std::unique_ptr<UncheckedChannel>> SshTransport::Open(boost::asio::io_context& io, const TransportHost& host) {
  Result<std::vector<std::string>> argv = SshArguments(settings_, host.name);
  if (!argv) return Fail(std::move(argv.error()));
  std::shared_ptr<SshGate> gate = gate_.lock();
  if (!gate) gate_ = gate = std::make_shared<SshGate>(io, launcher_, settings_);
  auto agent = std::make_shared<RemoteAgent>(io, host.index, lease_ms_);
  agent->Begin(std::make_unique<SshCarrier>(io, *agent, launcher_, std::move(gate), host, std::move(*argv)));
  return std::make_unique<RemoteChannel>(std::move(agent));
}

}  // namespace muster
