// The transports of src/transport/ by name, with settings for tests. The conformance tests run over every entry, and
// over pods.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "transport/dial_server.h"
#include "transport/dial_transport.h"
#include "transport/local_transport.h"
#include "transport/ssh_transport.h"
#include "transport/transport.h"
#include "wire/connection/lease.h"

namespace muster::testing {

struct TransportSettings {
  std::string agent_program = {};            // path of muster-agent on its host; empty: the one beside this program
  SshSettings ssh = {};                      // for transports that use ssh; the agent's path in it is not used
  std::uint64_t lease_ms = kDefaultLeaseMs;  // how long an agent may be silent
  DialSettings dial = {};                    // for agents that dial back; the agent's path in it is not used
};

struct TransportEntry {
  std::string_view name;  // as in --on NAME
  std::string_view summary;
  std::unique_ptr<Transport> (*make)(const TransportSettings& settings);
};

inline std::unique_ptr<Transport> MakeLocal(const TransportSettings& settings) {
  return std::make_unique<LocalTransport>(settings.agent_program, WithoutByEnvironment(), std::vector<std::string>(),
                                          Isolation::kNone, settings.lease_ms);
}

inline std::unique_ptr<Transport> MakeSsh(const TransportSettings& settings) {
  SshSettings ssh = settings.ssh;
  ssh.agent = settings.agent_program;
  ssh.agent_given = !ssh.agent.empty();
  return std::make_unique<SshTransport>(std::move(ssh), settings.lease_ms);
}

inline std::unique_ptr<Transport> MakeDial(const TransportSettings& settings) {
  DialSettings dial = settings.dial;
  dial.agent = settings.agent_program;
  return std::make_unique<DialTransport>(std::move(dial), settings.lease_ms);
}

inline constexpr std::array kTransports = {
    TransportEntry{"local", "this machine", MakeLocal},
    TransportEntry{"ssh", "other hosts, by their names, over the user's ssh", MakeSsh},
    TransportEntry{"dial", "agents that an engine starts and that connect back", MakeDial},
};

inline std::span<const TransportEntry> Transports() { return kTransports; }

}  // namespace muster::testing
