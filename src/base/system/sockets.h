// Sockets without an event loop: listening and connecting over TCP, which user or machine is at the other end of a
// connection, which connections a server keeps before it has identified the client, and descriptors passed over Unix
// sockets.
#pragma once

#include <array>
#include <cerrno>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include <sys/socket.h>
#include <sys/types.h>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"

namespace muster {

// Non-blocking TCP sockets: one that listens on all addresses of this host, and one that connects.

// Whether others may bind the port at the same time (SO_REUSEPORT), if they set the option too.
enum class PortUse : std::uint8_t { kAlone, kShared };

// A socket that listens on every IPv4 and IPv6 address, or errno. `port` 0 is set to one of the kernel's choice.
tl::expected<UniqueFd, int> ListenAt(std::uint16_t& port, PortUse use);

// A socket whose connection is in progress, or errno; EINVAL if the address is no IP literal. Closing it leaves no
// TIME_WAIT on either side.
tl::expected<UniqueFd, int> ConnectTo(const std::string& address, std::uint16_t port);

inline constexpr const char* kNoAnswer = "no answer";

// Why a connection failed, in the same words as for ssh where the reason is the same; empty for 0.
std::string ConnectErrorText(int error);

// Which program is at the other end of a TCP connection: one of this user, one of another user of this machine, or one
// of another machine.
//
// The kernel knows the user of each local socket (sock_diag(7), or /proc/net/tcp{,6} where that is missing), so no
// byte of the connection has to be read for it.

struct Peer {
  enum class Kind : std::uint8_t {
    kOwn,        // a program of this user or of root on this machine
    kOtherUser,  // any other program of this machine, and one that has closed its socket
    kElsewhere   // a program of another machine
  };

  Kind kind = Kind::kOtherUser;
  std::string address;  // of kElsewhere: IPv4, or the /64 of IPv6, of which one machine may use every address

  auto operator<=>(const Peer&) const = default;
};

// Of a connected TCP socket. A peer that cannot be determined counts as another user's.
Peer PeerOf(int connection);

// The user whose process holds the other end of a connection within this machine's network namespace; nothing if there
// is none. `use_table`: from /proc/net/tcp{,6} even if the kernel answers single questions.
std::optional<uid_t> UserOfPeer(int connection, bool use_table = false);

// Decides which connections a server keeps before it has identified the client: no other user and no other machine can
// use up the places of the server's own user, nor those of another machine. Pure: the caller accepts and closes, and
// has the time.
//
// A connection is unproven until its first message has shown that it may ask (a token, a proof). Unproven connections
// of other users of this machine have an eighth of the places, and each further one takes the place of the oldest of
// them. If all places are taken, a newcomer takes the place of the oldest unproven connection of the peer that has
// most, or of one that has had its moment. A proven connection loses its place to nobody.
class ConnectionPlaces {
 public:
  using Clock = std::chrono::steady_clock;
  using Id = std::uint64_t;

  struct Admission {
    std::optional<Id> id;      // none: no place is free, and no connection has to leave its place
    std::optional<Id> closes;  // whose connection is to be closed now; it has no place any more
  };

  // `moment`: how long an unproven connection keeps its place from newcomers of those who have as many.
  ConnectionPlaces(std::size_t most, Clock::duration moment) : most_(most), moment_(moment) {}

  Admission Admit(const Peer& peer, Clock::time_point now);
  // A place beyond all others, for a caller that lets the newcomer wait instead of closing its connection.
  Id Enter(const Peer& peer, Clock::time_point now);
  void Prove(Id id);
  void Remove(Id id);

  std::size_t size() const { return places_.size(); }
  // Of unproven connections.
  std::size_t CountOf(const Peer& peer) const;

 private:
  struct Place {
    Id id = 0;
    Peer peer;
    Clock::time_point since;
    bool proven = false;
  };
  using Places = std::list<Place>;  // in the order of arrival

  Places::iterator OldestOf(const Peer& peer);
  Admission Replace(Places::iterator oldest, const Peer& peer, Clock::time_point now);

  std::size_t most_;
  Clock::duration moment_;
  Places places_;
  Id next_ = 1;
};

// Passes descriptors between processes over a connected Unix socket (unix(7), SCM_RIGHTS), with one meaningless
// byte.

// Sends without blocking. False with errno.
template <std::size_t N>
bool PassDescriptors(int socket, const std::array<int, N>& descriptors) {
  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptors)> room{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof descriptors);
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == 1;
}

// Waits for the next descriptors. Nothing at the end of the stream; empty ones if they could not be received (too many
// are open): the sender then sees its ends close.
template <std::size_t N>
std::optional<std::array<UniqueFd, N>> TakeDescriptors(int socket) {
  char byte = 0;
  iovec bytes{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(N * sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &bytes;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  ssize_t got = -1;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  std::array<UniqueFd, N> taken;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return taken;
  const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {  // alignment may leave space for more descriptors than requested
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof descriptor);
    UniqueFd one(descriptor);
    if (i < N) taken[i] = std::move(one);
  }
  if (count == N) return taken;
  return std::array<UniqueFd, N>();
}

}  // namespace muster
