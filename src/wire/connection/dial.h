// How an agent that an engine has started dials back to its head: the dial file with the head's addresses and a
// token, and the handshake by which each side proves to the other that it knows the token. Pure: bytes in, bytes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace muster {

// The dial file: where an agent finds its head, and the token by which both recognise each other.
//
// Text, one `key value` per line; pure: reads and writes no file. The head writes it with mode 0600 into a folder of
// mode 0700 that the agents' hosts see too; an agent reads it once.

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

inline constexpr std::size_t kMaxDialFileBytes = 4096;
inline constexpr std::size_t kMaxDialAddresses = 32;
inline constexpr std::size_t kDialIdBytes = 16;  // of session and token; as hex twice as many characters

std::string DialFileText(const DialFile& file);
// The error is a phrase with the number of the line; it never quotes the token.
tl::expected<DialFile, std::string> ParseDialFile(std::string_view text);

// The handshake of an agent that dials back to its head: four messages of fixed size, by which each side proves to the
// other that it knows the token of the dial file, before anything else is said.
//
//   agent -> head   greeting: session, nonce, name of the agent's node
//   head -> agent   nonce, and its proof
//   agent -> head   its proof
//   head -> agent   the verdict, one byte; if it is kAccepted, the agent protocol follows on the same connection
//
// A proof is the HMAC of role, greeting and the head's nonce under the token: it holds for one connection, one node and
// one direction, so that no recorded or reflected message is one. Pure: bytes in, bytes out. What it does not do is to
// protect the connection afterwards (docs/security.md).

struct DialGreeting {
  std::string session;  // 32 hex digits
  std::string nonce;    // 64 hex digits
  std::string node;     // a host name or address (base/system/host_name.h)

  bool operator==(const DialGreeting&) const = default;
};

inline constexpr std::string_view kDialMagic = "muster-dial/1\n";
inline constexpr std::size_t kMaxNode = 255;
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kGreetingBytes = kDialMagic.size() + 32 + 2 * kNonceBytes + 1 + kMaxNode;
inline constexpr std::size_t kHeadProofBytes = 2 * kNonceBytes + 64;
inline constexpr std::size_t kAgentProofBytes = 64;

enum class DialVerdict : char { kAccepted = 'a', kUnknownNode = 'u', kConnected = 'c' };

// A new nonce, from the kernel.
std::string MakeNonce();

// The greeting's node must be valid, which ParseGreeting() checks.
std::string GreetingBytes(const DialGreeting& greeting);
// Nothing unless the bytes are exactly such a message.
std::optional<DialGreeting> ParseGreeting(std::string_view bytes);

// The head's answer to the bytes of a greeting.
std::string HeadProof(std::string_view token, std::string_view greeting, std::string_view nonce);
bool ProvesHead(std::string_view token, std::string_view greeting, std::string_view answer);
// The agent's, to the bytes of the head's answer.
std::string AgentProof(std::string_view token, std::string_view greeting, std::string_view answer);
bool ProvesAgent(std::string_view token, std::string_view greeting, std::string_view answer, std::string_view proof);

std::optional<DialVerdict> ParseVerdict(char byte);

}  // namespace muster
