#include "transport/dial_transport.h"

#include <utility>

#include "base/system/host_name.h"
#include "base/values/shell_quote.h"
#include "muster/diagnostic.h"
#include "transport/dial_carrier.h"
#include "transport/local_transport.h"
#include "transport/remote_agent.h"

namespace muster {

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
