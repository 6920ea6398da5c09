#include "transport/registry.h"

#include <array>

#include "transport/local.h"

namespace muster {
namespace {

std::unique_ptr<Transport> MakeLocal(const TransportSettings& settings) {
  return std::make_unique<LocalTransport>(settings.agent_program);
}

constexpr std::array kTransports = {
    TransportEntry{"local", "this machine", MakeLocal},
};

}  // namespace

std::span<const TransportEntry> Transports() { return kTransports; }

}  // namespace muster
