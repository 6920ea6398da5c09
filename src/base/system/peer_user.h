// Which program is at the other end of a TCP connection: one of this user, one of another user of this machine, or one
// of another machine.
//
// The kernel knows the user of each local socket (sock_diag(7), or /proc/net/tcp{,6} where that is missing), so no
// byte of the connection has to be read for it.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace muster {

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

}  // namespace muster
