#include "base/system/sockets.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <unistd.h>

namespace muster {

std::string ConnectErrorText(int error) {
  switch (error) {
    case 0:
      return {};
    case ECONNREFUSED:
      return "connection refused";
    case ETIMEDOUT:
      return kNoAnswer;
    case EHOSTUNREACH:
    case ENETUNREACH:
      return "no route to it";
    default:
      return std::strerror(error);
  }
}

tl::expected<UniqueFd, int> ListenAt(std::uint16_t& port, PortUse use) {
  int error = EAFNOSUPPORT;
  for (const int family : {AF_INET6, AF_INET}) {
    UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) {
      error = errno;
      continue;
    }
    const int on = 1;
    const int off = 0;
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (use == PortUse::kShared) ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    if (family == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 six = {};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    sockaddr_in four = {};
    four.sin_family = AF_INET;
    four.sin_port = htons(port);
    const bool is_six = family == AF_INET6;
    const auto* any = is_six ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
    if (::bind(socket.get(), any, is_six ? sizeof six : sizeof four) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
      error = errno;
      if (error == EADDRNOTAVAIL && is_six) continue;
      return tl::unexpected<int>(error);
    }
    sockaddr_in6 bound = {};
    socklen_t size = sizeof bound;
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size);
    port = ntohs(bound.sin6_port);  // at the same offset for both families
    return socket;
  }
  return tl::unexpected<int>(error);
}

tl::expected<UniqueFd, int> ConnectTo(const std::string& address, std::uint16_t port) {
  sockaddr_in6 six = {};
  sockaddr_in four = {};
  const bool is_six = ::inet_pton(AF_INET6, address.c_str(), &six.sin6_addr) == 1;
  if (!is_six && ::inet_pton(AF_INET, address.c_str(), &four.sin_addr) != 1) return tl::unexpected<int>(EINVAL);
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  UniqueFd socket(::socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return tl::unexpected<int>(errno);
  const linger at_once = {1, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  const auto* to = is_six ? reinterpret_cast<const sockaddr*>(&six) : reinterpret_cast<const sockaddr*>(&four);
  if (::connect(socket.get(), to, is_six ? sizeof six : sizeof four) != 0 && errno != EINPROGRESS) {
    return tl::unexpected<int>(errno);
  }
  return socket;
}

namespace {

constexpr std::uint8_t kEstablished = 1;  // of the kernel's enum; those above are closing
constexpr std::uint8_t kListening = 10;
constexpr std::uint8_t kTimeWait = 6;

// An address and a port, IPv4 in the first four bytes. IPv4 within IPv6 is IPv4: so is the socket of the other end.
struct SocketEnd {
  bool six = false;
  std::array<std::uint8_t, 16> ip{};
  std::uint16_t port = 0;  // network order

  bool operator==(const SocketEnd&) const = default;
  std::size_t size() const { return six ? 16 : 4; }
};

SocketEnd SocketEndOf(const sockaddr_storage& address) {
  SocketEnd end;
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    std::memcpy(end.ip.data(), &four.sin_addr, 4);
    end.port = four.sin_port;
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    end.port = six.sin6_port;
    end.six = !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr);
    const auto* const bytes = six.sin6_addr.s6_addr;
    std::memcpy(end.ip.data(), end.six ? bytes : bytes + 12, end.size());
  }
  return end;
}

bool IsLoopback(const SocketEnd& end) {
  constexpr std::array<std::uint8_t, 16> kOne = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return end.six ? end.ip == kOne : end.ip[0] == 127;
}

// Both ends, as the other side sees them: its own first. False if the socket is not connected.
bool EndsOf(int connection, SocketEnd& theirs, SocketEnd& ours) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  theirs = SocketEndOf(address);
  size = sizeof address;
  if (::getsockname(connection, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  ours = SocketEndOf(address);
  return true;
}

enum class DiagAnswer : std::uint8_t { kUser, kNone, kNotFound, kNoAnswer };

// One question about one socket: costs the same however many sockets there are.
DiagAnswer AskDiag(const SocketEnd& theirs, const SocketEnd& ours, uid_t& user) {
  const UniqueFd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!netlink) return DiagAnswer::kNoAnswer;
  struct {
    nlmsghdr header;
    inet_diag_req_v2 question;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.question.sdiag_family = theirs.six ? AF_INET6 : AF_INET;
  request.question.sdiag_protocol = IPPROTO_TCP;
  request.question.idiag_states = ~0U;
  request.question.id.idiag_sport = theirs.port;
  request.question.id.idiag_dport = ours.port;
  std::memcpy(static_cast<void*>(request.question.id.idiag_src), theirs.ip.data(), theirs.size());
  std::memcpy(static_cast<void*>(request.question.id.idiag_dst), ours.ip.data(), ours.size());
  request.question.id.idiag_cookie[0] = request.question.id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (::send(netlink.get(), &request, sizeof request, 0) != sizeof request) return DiagAnswer::kNoAnswer;
  alignas(nlmsghdr) std::array<char, 4096> bytes{};
  const ssize_t got = ::recv(netlink.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);  // answered within the send
  const auto* const header = reinterpret_cast<const nlmsghdr*>(bytes.data());
  if (got < static_cast<ssize_t>(sizeof *header)) return DiagAnswer::kNoAnswer;
  if (header->nlmsg_type == NLMSG_ERROR && got >= static_cast<ssize_t>(NLMSG_LENGTH(sizeof(nlmsgerr)))) {
    const auto* const error = reinterpret_cast<const nlmsgerr*>(bytes.data() + sizeof *header);
    return error->error == -ENOENT ? DiagAnswer::kNotFound : DiagAnswer::kNoAnswer;
  }
  if (header->nlmsg_type != SOCK_DIAG_BY_FAMILY || got < static_cast<ssize_t>(NLMSG_LENGTH(sizeof(inet_diag_msg)))) {
    return DiagAnswer::kNoAnswer;
  }
  const auto* const found = reinterpret_cast<const inet_diag_msg*>(bytes.data() + sizeof *header);
  // A listening socket also answers for a connection that is gone, and a closed one for root.
  if (found->idiag_state < kEstablished || found->idiag_state == kListening || found->idiag_state == kTimeWait ||
      found->id.idiag_dport != ours.port || found->idiag_inode == 0) {
    return DiagAnswer::kNone;
  }
  user = found->idiag_uid;
  return DiagAnswer::kUser;
}

DiagAnswer AskKernel(const SocketEnd& theirs, const SocketEnd& ours, uid_t& user) {
  const DiagAnswer answer = AskDiag(theirs, ours, user);
  if (answer != DiagAnswer::kNotFound) return answer;
  // A kernel without the module tcp_diag finds no socket at all, not even this side's.
  uid_t own = 0;
  return AskDiag(ours, theirs, own) == DiagAnswer::kNotFound ? DiagAnswer::kNoAnswer : DiagAnswer::kNone;
}

// "0100007F:1F90": as in /proc/net/tcp, whole words in the machine's byte order.
std::string InTable(const SocketEnd& end) {
  std::string text;
  std::array<char, 16> piece{};
  for (std::size_t at = 0; at < end.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, end.ip.data() + at, 4);
    std::snprintf(piece.data(), piece.size(), "%08X", word);
    text += piece.data();
  }
  std::snprintf(piece.data(), piece.size(), ":%04X", ntohs(end.port));
  return text + piece.data();
}

DiagAnswer AskTable(const SocketEnd& theirs, const SocketEnd& ours, uid_t& user) {
  // A program with IPv6 sockets may be at the other end of an IPv4 connection.
  const std::string mapped = "0000000000000000FFFF0000";
  for (const bool six : {false, true}) {
    if (!six && theirs.six) continue;
    const std::string prefix = six && !theirs.six ? mapped : std::string();
    const std::string wanted = " " + prefix + InTable(theirs) + " " + prefix + InTable(ours) + " ";
    std::FILE* const table = std::fopen(six ? "/proc/net/tcp6" : "/proc/net/tcp", "re");
    if (table == nullptr) continue;
    std::array<char, 512> line{};
    bool found = false;
    unsigned state = 0;
    unsigned long inode = 0;
    while (!found && std::fgets(line.data(), line.size(), table) != nullptr) {
      const char* const at = std::strstr(line.data(), wanted.c_str());
      if (at == nullptr) continue;
      // state, queues, timer, retransmissions, user, timeout, inode
      found = std::sscanf(at + wanted.size(), "%x %*s %*s %*s %u %*s %lu", &state, &user, &inode) == 3;
    }
    std::fclose(table);
    if (found) return inode != 0 && state != kListening && state != kTimeWait ? DiagAnswer::kUser : DiagAnswer::kNone;
  }
  return DiagAnswer::kNone;
}

}  // namespace

std::optional<uid_t> UserOfPeer(int connection, bool use_table) {
  SocketEnd theirs;
  SocketEnd ours;
  if (!EndsOf(connection, theirs, ours)) return std::nullopt;
  uid_t user = 0;
  DiagAnswer answer = use_table ? DiagAnswer::kNoAnswer : AskKernel(theirs, ours, user);
  if (answer == DiagAnswer::kNoAnswer) answer = AskTable(theirs, ours, user);
  return answer == DiagAnswer::kUser ? std::optional(user) : std::nullopt;
}

Peer PeerOf(int connection) {
  SocketEnd theirs;
  SocketEnd ours;
  if (!EndsOf(connection, theirs, ours)) return {};
  // A machine has one address at both ends of a connection to itself.
  if (IsLoopback(theirs) || (theirs.six == ours.six && theirs.ip == ours.ip)) {
    const auto user = UserOfPeer(connection);
    const bool own = user && (*user == ::geteuid() || *user == 0);
    return {own ? Peer::Kind::kOwn : Peer::Kind::kOtherUser, {}};
  }
  if (const auto user = UserOfPeer(connection)) {  // of another address of this machine
    return {*user == ::geteuid() || *user == 0 ? Peer::Kind::kOwn : Peer::Kind::kOtherUser, {}};
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (theirs.six) std::memset(theirs.ip.data() + 8, 0, 8);
  ::inet_ntop(theirs.six ? AF_INET6 : AF_INET, theirs.ip.data(), text.data(), text.size());
  return {Peer::Kind::kElsewhere, text.data()};
}

namespace {

constexpr std::size_t kShareOfOthers = 8;  // one place of so many

}  // namespace

ConnectionPlaces::Admission ConnectionPlaces::Admit(const Peer& peer, Clock::time_point now) {
  const bool other = peer.kind == Peer::Kind::kOtherUser;
  if (other && CountOf(peer) >= std::max<std::size_t>(1, most_ / kShareOfOthers)) {
    return Replace(OldestOf(peer), peer, now);
  }
  if (places_.size() < most_) return {Enter(peer, now), std::nullopt};
  std::map<Peer, std::size_t> counts;
  for (const Place& place : places_) {
    if (!place.proven) ++counts[place.peer];
  }
  // Other users give way to everybody else, then the peer that has most.
  const auto weight = [](const auto& count) {
    return std::pair(count.first.kind == Peer::Kind::kOtherUser, count.second);
  };
  const auto largest = std::max_element(counts.begin(), counts.end(),
                                        [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
  if (largest == counts.end()) return {};
  // Another user takes no place of anybody else's.
  if (other && largest->first.kind != Peer::Kind::kOtherUser) return {};
  const bool others_give_way = largest->first.kind == Peer::Kind::kOtherUser && !other;
  if (others_give_way || (largest->first != peer && largest->second > CountOf(peer) + 1)) {
    return Replace(OldestOf(largest->first), peer, now);
  }
  const auto oldest = std::find_if(places_.begin(), places_.end(), [](const Place& place) { return !place.proven; });
  if (oldest != places_.end() && now - oldest->since >= moment_) return Replace(oldest, peer, now);
  return {};
}

ConnectionPlaces::Admission ConnectionPlaces::Replace(Places::iterator oldest, const Peer& peer,
                                                      Clock::time_point now) {
  const Id closes = oldest->id;
  places_.erase(oldest);
  return {Enter(peer, now), closes};
}

ConnectionPlaces::Id ConnectionPlaces::Enter(const Peer& peer, Clock::time_point now) {
  places_.push_back({next_, peer, now, false});
  return next_++;
}

void ConnectionPlaces::Prove(Id id) {
  for (Place& place : places_) {
    if (place.id == id) place.proven = true;
  }
}

void ConnectionPlaces::Remove(Id id) {
  places_.remove_if([id](const Place& place) { return place.id == id; });
}

std::size_t ConnectionPlaces::CountOf(const Peer& peer) const {
  return static_cast<std::size_t>(std::count_if(
      places_.begin(), places_.end(), [&](const Place& place) { return !place.proven && place.peer == peer; }));
}

ConnectionPlaces::Places::iterator ConnectionPlaces::OldestOf(const Peer& peer) {
  return std::find_if(places_.begin(), places_.end(),
                      [&](const Place& place) { return !place.proven && place.peer == peer; });
}

}  // namespace muster
