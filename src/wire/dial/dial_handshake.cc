#include "wire/dial/dial_handshake.h"

#include "base/system/host_name.h"
#include "base/values/fingerprint.h"
#include "wire/dial/dial_file.h"
#include "wire/dial/hmac_sha256.h"

namespace muster {
namespace {

constexpr std::string_view kHeadRole = "head\n";
constexpr std::string_view kAgentRole = "agent\n";

bool IsHex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

// The parts have fixed sizes, so no other parts give the same text.
std::string Code(std::string_view token, std::string_view role, std::string_view greeting, std::string_view nonce) {
  std::string text(role);
  text += greeting;
  text += nonce;
  return HmacSha256(token, text);
}

}  // namespace

std::string MakeNonce() { return RandomHex(kNonceBytes); }

std::string GreetingBytes(const DialGreeting& greeting) {
  std::string bytes(kDialMagic);
  bytes += greeting.session + greeting.nonce;
  bytes += static_cast<char>(greeting.node.size());
  bytes += greeting.node;
  bytes.resize(kGreetingBytes, '\0');
  return bytes;
}

std::optional<DialGreeting> ParseGreeting(std::string_view bytes) {
  if (bytes.size() != kGreetingBytes || !bytes.starts_with(kDialMagic)) return std::nullopt;
  const auto take = [&bytes](std::size_t size) {
    const std::string_view part = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return part;
  };
  take(kDialMagic.size());
  DialGreeting greeting;
  greeting.session = take(2 * kDialIdBytes);
  greeting.nonce = take(2 * kNonceBytes);
  const std::size_t size = static_cast<unsigned char>(take(1).front());
  greeting.node = take(size);
  if (!IsHex(greeting.session) || !IsHex(greeting.nonce) || !IsHostOrAddress(greeting.node) ||
      bytes.find_first_not_of('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  return greeting;
}

std::string HeadProof(std::string_view token, std::string_view greeting, std::string_view nonce) {
  return std::string(nonce) + Code(token, kHeadRole, greeting, nonce);
}

bool ProvesHead(std::string_view token, std::string_view greeting, std::string_view answer) {
  if (answer.size() != kHeadProofBytes) return false;
  const std::string_view nonce = answer.substr(0, 2 * kNonceBytes);
  return IsHex(nonce) && EqualInConstantTime(answer, HeadProof(token, greeting, nonce));
}

std::string AgentProof(std::string_view token, std::string_view greeting, std::string_view answer) {
  return Code(token, kAgentRole, greeting, answer.substr(0, 2 * kNonceBytes));
}

bool ProvesAgent(std::string_view token, std::string_view greeting, std::string_view answer, std::string_view proof) {
  return EqualInConstantTime(proof, AgentProof(token, greeting, answer));
}

std::optional<DialVerdict> ParseVerdict(char byte) {
  for (const DialVerdict verdict : {DialVerdict::kAccepted, DialVerdict::kUnknownNode, DialVerdict::kConnected}) {
    if (byte == static_cast<char>(verdict)) return verdict;
  }
  return std::nullopt;
}

}  // namespace muster
