// IP addresses as values: literals only, IPv4 and IPv6, ordered by number. No name resolution, no sockets.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace ps_digits {

class Address {
 public:
  Address() = default;  // 0.0.0.0

  static std::optional<Address> Parse(const std::string& literal);
  // 4 or 16 bytes in network order; other sizes are invalid.
  static std::optional<Address> FromBytes(std::span<const std::uint8_t> bytes);

  std::span<const std::uint8_t> bytes() const { return {bytes_.data(), length_}; }
  bool is_v6() const { return length_ == 16; }
  std::string text() const;

  // IPv4 before IPv6, then by numeric value (so .9 comes before .10).
  auto operator<=>(const Address&) const = default;

 private:
  std::uint8_t length_ = 4;
  std::array<std::uint8_t, 16> bytes_{};
};

struct Endpoint {
  Address address;
  std::uint16_t port = 0;

  std::string text() const;  // 127.0.0.1:80, [::1]:80
  bool operator==(const Endpoint&) const = default;
};

}  // namespace ps_digits
