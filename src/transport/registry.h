// Lists the transports of this folder by name. The conformance tests run over every entry, and over pods.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "transport/dial_server.h"
#include "transport/ssh_transport.h"
#include "transport/transport.h"
#include "wire/connection/lease.h"

namespace muster {

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

std::span<const TransportEntry> Transports();

}  // namespace muster
