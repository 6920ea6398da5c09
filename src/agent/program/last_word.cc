#include "agent/program/last_word.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <string>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire/protocol/protocol.h"

namespace muster {

void SayLastWord(int connection, const EndedProcess& end, std::uint32_t killed, bool partial) {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  if (!partial && (end.signalled || end.code != 0)) {
    const std::string word = EncodeFrame(AgentMessage(AgentExited{0, EndText(end), killed}));
    // A head that does not read is not waited for.
    static_cast<void>(::send(connection, word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
  ::shutdown(connection, SHUT_WR);
  const auto until = Clock::now() + std::chrono::seconds(1);
  std::array<char, 4096> ignored = {};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    pollfd readable = {connection, POLLIN, 0};
    if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) <= 0) return;
    const ssize_t got = ::recv(connection, ignored.data(), ignored.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
  }
}

void ResetConnection(int connection) {
  const linger at_once = {1, 0};
  ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(connection);
}

}  // namespace muster
