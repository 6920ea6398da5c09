#include "transport/registry.h"

#include <array>

#include "transport/local_transport.h"
#include "transport/ssh_transport.h"

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

constexpr std::array kTransports = {
    TransportEntry{"local", "this machine", MakeLocal},
    TransportEntry{"ssh", "other hosts, by their names, over the user's ssh", MakeSsh},
};

}  // namespace

std::span<const TransportEntry> Transports() { return kTransports; }

}  // namespace muster
