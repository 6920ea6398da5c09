#include "pods/pod_transport.h"

#include <utility>

#include "pods/pod_set.h"
#include "transport/command_carrier.h"
#include "transport/remote_agent.h"

namespace muster {

PodTransport::PodTransport(PodSettings settings, std::uint64_t lease_ms, const Without& without)
    : settings_(std::move(settings)),
      lease_ms_(lease_ms),
      launcher_(std::make_shared<Launcher>(MechanismsBut(without))) {}

PodTransport::~PodTransport() = default;

Result<std::unique_ptr<UncheckedChannel>> PodTransport::Open(boost::asio::io_context& io, const TransportHost& host) {
  std::shared_ptr<PodSet> pods = pods_.lock();
  if (!pods) pods_ = pods = std::make_shared<PodSet>(io, launcher_, settings_);
  auto agent = std::make_shared<RemoteAgent>(io, host.index, lease_ms_);
  agent->Begin(std::make_unique<CommandCarrier>(io, *agent, launcher_, std::move(pods), host));
  return std::make_unique<RemoteChannel>(std::move(agent));
}

}  // namespace muster
