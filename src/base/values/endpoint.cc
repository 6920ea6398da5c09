#include "base/values/endpoint.h"

namespace muster {

std::string AddressBeforePort(std::string_view address) {
  const bool six = !address.starts_with('[') && address.find(':') != std::string_view::npos;
  return six ? "[" + std::string(address) + "]" : std::string(address);
}

std::string EndpointText(std::string_view address, std::uint32_t port) {
  return AddressBeforePort(address) + ":" + std::to_string(port);
}

}  // namespace muster
