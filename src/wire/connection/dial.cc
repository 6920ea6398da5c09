#include "wire/connection/dial.h"

#include <algorithm>
#include <charconv>

#include "base/system/host_name.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

constexpr std::string_view kFirstLine = "muster-dial 1";
constexpr std::size_t kMaxVariable = 64;

bool IsId(std::string_view text) {
  return text.size() == 2 * kDialIdBytes && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool IsVariable(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  const auto is_letter = [&](char c) { return kLetters.find(c) != std::string_view::npos; };
  return !text.empty() && text.size() <= kMaxVariable && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_letter(c) || IsDigit(c); });
}

std::optional<DialAddress> ParseAddress(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view ip = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool brackets = ip.size() > 2 && ip.front() == '[' && ip.back() == ']';
  if (brackets) ip = ip.substr(1, ip.size() - 2);
  DialAddress address{std::string(ip), 0};
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  const bool number = error == std::errc() && end == port.data() + port.size() && address.port != 0;
  const bool six = ip.find(':') != std::string_view::npos;
  if (!number || six != brackets || !IsAddress(address.ip)) return std::nullopt;
  return address;
}

// Takes the value of a line into the file; empty, or what is wrong with it.
std::string TakeLine(DialFile& file, std::string_view key, std::string_view value) {
  if (key == "address") {
    if (file.addresses.size() == kMaxDialAddresses) {
      return "more than " + std::to_string(kMaxDialAddresses) + " addresses";
    }
    const auto address = ParseAddress(value);
    if (!address) return "an address is IP:PORT, or [IP]:PORT for IPv6";
    file.addresses.push_back(*address);
    return {};
  }
  std::string* const to = key == "session"         ? &file.session
                          : key == "token"         ? &file.token
                          : key == "node_variable" ? &file.node_variable
                                                   : nullptr;
  if (to == nullptr) return "unknown key";
  if (!to->empty()) return "the key is given twice";
  if (to == &file.node_variable ? !IsVariable(value) : !IsId(value)) {
    return to == &file.node_variable ? "node_variable is not the name of an environment variable"
                                     : std::string(key) + " is not of 32 hex digits";
  }
  *to = value;
  return {};
}

}  // namespace

std::string DialAddressText(const DialAddress& address) { return EndpointText(address.ip, address.port); }

std::string DialFileText(const DialFile& file) {
  std::string text(kFirstLine);
  text += "\nsession " + file.session + "\ntoken " + file.token + "\n";
  for (const DialAddress& address : file.addresses) text += "address " + DialAddressText(address) + "\n";
  if (!file.node_variable.empty()) text += "node_variable " + file.node_variable + "\n";
  return text;
}

tl::expected<DialFile, std::string> ParseDialFile(std::string_view text) {
  const auto refuse = [](std::size_t line, const std::string& why) {
    return tl::unexpected<std::string>("line " + std::to_string(line) + ": " + why);
  };
  if (text.size() > kMaxDialFileBytes) {
    return tl::unexpected<std::string>("more than " + std::to_string(kMaxDialFileBytes) + " bytes");
  }
  DialFile file;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return refuse(number, "the end of the line is missing");
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (number == 1) {
      if (line != kFirstLine) return refuse(number, "expected `" + std::string(kFirstLine) + "`");
      continue;
    }
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) return refuse(number, "expected `key value`");
    const std::string wrong = TakeLine(file, line.substr(0, blank), line.substr(blank + 1));
    if (!wrong.empty()) return refuse(number, wrong);
  }
  for (const auto& [missing, key] :
       {std::pair(number == 0, "first line"), std::pair(file.session.empty(), "session"),
        std::pair(file.token.empty(), "token"), std::pair(file.addresses.empty(), "address")}) {
    if (missing) return tl::unexpected<std::string>("there is no " + std::string(key));
  }
  return file;
}

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
