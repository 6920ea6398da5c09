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
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

struct DialGreeting {
  std::string session;  // 32 hex digits (wire/dial/dial_file.h)
  std::string nonce;    // 64 hex digits
  std::string node;     // a host name or address (base/system/host_name.h)

  bool operator==(const DialGreeting&) const = default;
};

inline constexpr std::string_view kDialMagic = "muster-dial/1\n";
inline constexpr std::size_t kLongestNode = 255;
inline constexpr std::size_t kNonceBytes = 32;
inline constexpr std::size_t kGreetingBytes = kDialMagic.size() + 32 + 2 * kNonceBytes + 1 + kLongestNode;
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
