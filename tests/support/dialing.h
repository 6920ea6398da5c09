// The agent's side of the handshake for tests, byte for byte: for foreign programs, replays and fake agents.
#pragma once

#include <string>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/fsuid.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "support/await.h"
#include "wire/connection/dial.h"

namespace muster::testing {

// Returns a blocking connection to this port of 127.0.0.1; invalid on failure.
inline UniqueFd ConnectHere(std::uint16_t port) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket.reset();
  return socket;
}

// The same as another user, which only root can be: a socket belongs to the user that the thread has for files.
inline constexpr uid_t kAnotherUser = 65534;
inline UniqueFd ConnectHereAs(std::uint16_t port, uid_t user) {
  ::setfsuid(user);
  UniqueFd socket = ConnectHere(port);
  ::setfsuid(::geteuid());
  return socket;
}

inline bool SendAll(const UniqueFd& socket, const std::string& bytes) {
  return ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
}

// Reads `size` bytes, or fewer if the peer closes the connection before.
inline std::string ReadBytes(const UniqueFd& socket, std::size_t size) {
  std::string bytes;
  while (bytes.size() < size && AwaitReadable(socket.get())) {
    char byte = 0;
    if (::recv(socket.get(), &byte, 1, 0) <= 0) break;
    bytes += byte;
  }
  return bytes;
}

}  // namespace muster::testing
