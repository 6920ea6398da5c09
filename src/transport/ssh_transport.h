// The ssh transport: starts agents on other hosts with the user's ssh and its configuration.
#pragma once

#include <memory>
#include <string>

#include "spawn/start/launcher.h"
#include "transport/channel.h"
#include "transport/ssh_command.h"
#include "transport/transport.h"
#include "transport/unchecked_channel.h"
#include "wire/lease/lease.h"

namespace muster {

class SshTransport final : public Transport {
 public:
  explicit SshTransport(SshSettings settings, std::uint64_t lease_ms = kDefaultLeaseMs,
                        const Without& without = WithoutByEnvironment());

  // The host's name is passed to ssh. Many hosts may be connected at once; the gate limits how many at a time. All
  // channels that a transport has at a time must have the same `io`, which must outlive them.
  std::string_view name() const override { return "ssh"; }
  std::uint64_t lease_ms() const override { return lease_ms_; }

 private:
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override;

  SshSettings settings_;
  std::uint64_t lease_ms_;
  std::shared_ptr<Launcher> launcher_;
  class Commands;
  std::weak_ptr<Commands> commands_;  // owned by the channels: its timer must end before their loop
};

}  // namespace muster
