// Addresses in front of a port, in the one form that every reader splits in the same way: [::1]:80 (RFC 3986, 3.2.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// The address as it stands before ':' and a port, or as the host of a URL: an IPv6 literal in brackets, anything else
// unchanged.
std::string AddressBeforePort(std::string_view address);

// "192.0.2.1:80", "[::1]:80", "n01:80".
std::string EndpointText(std::string_view address, std::uint32_t port);

}  // namespace muster
