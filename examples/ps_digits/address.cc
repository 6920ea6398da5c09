// See address.h.
#include "ps_digits/address.h"

#include <algorithm>

#include <arpa/inet.h>

namespace ps_digits {

std::optional<Address> Address::Parse(const std::string& literal) {
  Address address;
  if (inet_pton(AF_INET, literal.c_str(), address.bytes_.data()) == 1) return address;
  address.bytes_ = {};
  address.length_ = 16;
  if (inet_pton(AF_INET6, literal.c_str(), address.bytes_.data()) == 1) return address;
  return std::nullopt;
}

std::optional<Address> Address::FromBytes(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != 4 && bytes.size() != 16) return std::nullopt;
  Address address;
  address.length_ = static_cast<std::uint8_t>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), address.bytes_.begin());
  return address;
}

std::string Address::text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  inet_ntop(is_v6() ? AF_INET6 : AF_INET, bytes_.data(), buffer.data(), buffer.size());
  return buffer.data();
}

std::string Endpoint::text() const {
  std::string text = address.text();
  if (address.is_v6()) text.insert(0, 1, '[').push_back(']');
  return text + ":" + std::to_string(port);
}

}  // namespace ps_digits
