#include "base/system/host_name.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <unistd.h>

namespace muster {
namespace {

constexpr std::size_t kMaxName = 255;

bool IsNamePart(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.front() != '-' && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

std::string OwnHostName() {
  std::array<char, 256> name = {};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0 && name[0] != '\0';
  return known && IsHostName(name.data()) ? name.data() : "localhost";
}

bool IsThisMachine(std::string_view name) {
  const std::string own = OwnHostName();
  return name == own || name == std::string_view(own).substr(0, own.find('.')) || name == "localhost" ||
         name == "::1" || name.starts_with("127.");
}

bool IsAddress(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes = {};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 || inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

bool IsHostOrAddress(std::string_view text) {
  return text.size() <= kMaxName && (IsNamePart(text) || IsAddress(std::string(text)));
}

std::string AsHostName(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, kMaxName)) text += IsNamePart(std::string_view(&c, 1)) ? c : '-';
  text.erase(0, text.find_first_not_of('-'));
  text.erase(text.find_last_not_of('-') + 1);
  return text.empty() ? "localhost" : text;
}

bool IsHostName(std::string_view name) {
  if (name.size() > kMaxName) return false;
  const std::size_t at = name.find('@');
  if (at != std::string_view::npos) return IsNamePart(name.substr(0, at)) && IsNamePart(name.substr(at + 1));
  return IsHostOrAddress(name);
}

}  // namespace muster
