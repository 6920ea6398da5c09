// The transport to pods: agents run in the pods of a Kubernetes cluster, and kubectl carries the connections to them.
#pragma once

#include <memory>
#include <string_view>

#include "pods/pod_settings.h"
#include "spawn/start/launcher.h"
#include "transport/transport.h"
#include "wire/lease/lease.h"

namespace muster {

class PodSet;

class PodTransport final : public Transport {
 public:
  explicit PodTransport(PodSettings settings, std::uint64_t lease_ms = kDefaultLeaseMs,
                        const Without& without = WithoutByEnvironment());
  ~PodTransport() override;

  // Host i gets pod i, whatever its name. All channels that a transport has at a time must have the same `io`, which
  // must outlive them, and be opened in one turn of the loop. When the last one is destroyed, the pods are deleted.
  std::string_view name() const override { return "kubernetes"; }
  std::uint64_t lease_ms() const override { return lease_ms_; }

 private:
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override;

  const PodSettings settings_;
  const std::uint64_t lease_ms_;
  const std::shared_ptr<Launcher> launcher_;
  std::weak_ptr<PodSet> pods_;  // owned by the channels: its timers must end before their loop
};

}  // namespace muster
