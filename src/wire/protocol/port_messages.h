// Messages of the agent protocol: ports that are held for processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace muster {

struct PortRequest {
  std::string name;
  // 0: the agent chooses one outside the ephemeral range and 8118..16309 that it has not chosen before.
  std::uint16_t number = 0;
};

// Bind and hold these ports (not listening) until the start that names them in `release_ports`. A port of the same name
// that is already held is released.
struct HoldPorts {
  std::vector<PortRequest> ports;
};

// Answer to HoldPorts: port numbers in the requested order, or an error.
struct PortsHeld {
  std::vector<PortRequest> ports;
  std::string error;  // empty: all are held
};

}  // namespace muster
