// The dial file: where an agent finds its head, and the token by which both recognise each other.
//
// Text, one `key value` per line; pure: reads and writes no file. The head writes it with mode 0600 into a folder of
// mode 0700 that the agents' hosts see too; an agent reads it once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace muster {

// Where the head listens.
struct DialAddress {
  std::string ip;  // an IPv4 or IPv6 literal, without a scope
  std::uint16_t port = 0;

  bool operator==(const DialAddress&) const = default;
};

// "10.0.0.1:4711", "[fd00::1]:4711"
std::string DialAddressText(const DialAddress& address);

struct DialFile {
  std::string session;                 // of the head: 32 hex digits, no secret
  std::string token;                   // 128 random bits: 32 hex digits
  std::vector<DialAddress> addresses;  // to be tried in this order; at least one
  // The environment variable that holds the name of an agent's node; empty: it is the host name.
  std::string node_variable;

  bool operator==(const DialFile&) const = default;
};

inline constexpr std::size_t kMostDialFileBytes = 4096;
inline constexpr std::size_t kMostDialAddresses = 32;
inline constexpr std::size_t kDialIdBytes = 16;  // of session and token; as hex twice as many characters

std::string DialFileText(const DialFile& file);
// The error is a phrase with the number of the line; it never quotes the token.
tl::expected<DialFile, std::string> ParseDialFile(std::string_view text);

}  // namespace muster
