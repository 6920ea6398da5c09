// TCP sockets: listening, connecting (with retries), accepting. All sockets are non-blocking and closed on exec.
// Independent of messages.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "ps_digits/address.h"
#include "ps_digits/failure.h"

namespace ps_digits {

using Clock = std::chrono::steady_clock;

class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket() { Close(); }

  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
};

// Port 0: any free one; LocalEndpoint returns it.
Result<Socket> Listen(const Endpoint& endpoint);

Result<Endpoint> LocalEndpoint(const Socket& socket);

struct Accepted {
  Socket socket;
  Endpoint peer;
};

// Nothing if no connection is waiting.
Result<std::optional<Accepted>> Accept(const Socket& listener);

// One attempt, for at most that long.
Result<Socket> Connect(const Endpoint& endpoint, Clock::duration patience);

// Retries, with pauses that grow to half a second, while nothing listens there and before the deadline.
Result<Socket> ConnectWithRetry(const Endpoint& endpoint, std::optional<Clock::time_point> until);

}  // namespace ps_digits
