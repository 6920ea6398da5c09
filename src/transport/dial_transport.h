// The dial-back transport: agents on nodes that this machine cannot log in to, started by an engine's command for
// many nodes at a time, which connect back; and such a connection, from the wait for it to its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "spawn/start/launcher.h"
#include "transport/dial_server.h"
#include "transport/transport.h"
#include "wire/connection/lease.h"

namespace muster {

// The dial-back transport: agents on nodes that this machine cannot log in to, started by an engine's command for many
// nodes at a time (DialSettings::start), which connect back.
class DialTransport final : public Transport {
 public:
  explicit DialTransport(DialSettings settings, std::uint64_t lease_ms = kDefaultLeaseMs,
                         const Without& without = WithoutByEnvironment());

  // The host's name must be the one by which its agent will know it: see DialSettings::node_variable; a domain that
  // only one of both has does not matter. All channels that a transport has at a time must have the same `io`, which
  // must outlive them, and different hosts.
  std::string_view name() const override { return "dial"; }
  std::uint64_t lease_ms() const override { return lease_ms_; }
  std::string StartWords(std::chrono::milliseconds within) const override;
  void StartAgents() override;

 private:
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override;

  DialSettings settings_;
  std::uint64_t lease_ms_;
  std::shared_ptr<Launcher> launcher_;
  std::weak_ptr<DialServer> server_;  // owned by the channels: its timers must end before their loop
};

}  // namespace muster
