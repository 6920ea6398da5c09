#include "transport/registry.h"

#include <array>

#include "transport/dial_transport.h"
#include "transport/local_transport.h"

namespace muster {
namespace {

std::unique_ptr<Transport> MakeLocal(const TransportSettings& settings) {
  return std::make_unique<LocalTransport>(settings.agent_program, WithoutByEnvironment(), std::vector<std::string>(),
                                          Isolation::kNone, settings.lease_ms);
}

std::unique_ptr<Transport> MakeSsh(const TransportSettings& settings) {
  SshSettings ssh = settings.ssh;
  ssh.agent = settings.agent_program;
  ssh.agent_given = !ssh.agent.empty();
  return std::make_unique<SshTransport>(std::move(ssh), settings.lease_ms);
}

std::unique_ptr<Transport> MakeDial(const TransportSettings& settings) {
  DialSettings dial = settings.dial;
  dial.agent = settings.agent_program;
  return std::make_unique<DialTransport>(std::move(dial), settings.lease_ms);
}

constexpr std::array kTransports = {
    TransportEntry{"local", "this machine", MakeLocal},
    TransportEntry{"ssh", "other hosts, by their names, over the user's ssh", MakeSsh},
    TransportEntry{"dial", "agents that an engine starts and that connect back", MakeDial},
};

}  // namespace

std::span<const TransportEntry> Transports() { return kTransports; }

}  // namespace muster
