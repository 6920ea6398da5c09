#include "base/system/network_addresses.h"

#include <algorithm>
#include <array>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

namespace muster {
namespace {

enum Rank { kFour, kSix, kLoopback, kUnusable };

Rank RankOf(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return kUnusable;
  const bool loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  if (entry.ifa_addr->sa_family == AF_INET) return loopback ? kLoopback : kFour;
  if (entry.ifa_addr->sa_family != AF_INET6) return kUnusable;
  // A link-local address means nothing without the interface of the other side.
  const auto* six = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr);
  if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) return kUnusable;
  return loopback ? kLoopback : kSix;
}

std::string TextOf(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const void* const bytes = address.sa_family == AF_INET6
                                ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
                                : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

}  // namespace

std::vector<std::string> OwnAddresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  std::vector<std::string> addresses;
  for (const Rank rank : {kFour, kSix, kLoopback}) {
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (RankOf(*entry) != rank) continue;
      std::string text = TextOf(*entry->ifa_addr);
      if (std::find(addresses.begin(), addresses.end(), text) == addresses.end()) addresses.push_back(std::move(text));
    }
  }
  ::freeifaddrs(list);
  return addresses;
}

}  // namespace muster
