#include "run/console/user_terminal.h"

#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace muster {

Result<UserTerminal> UserTerminal::Open(int fd) {
  // Opened again: O_NONBLOCK then does not affect other processes.
  UniqueFd tty(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  termios found{};
  if (!tty || ::tcgetattr(tty.get(), &found) != 0) {
    return Fail(SystemError("terminal", "there is no terminal to lend to the process", errno));
  }
  return UserTerminal(std::move(tty), found);
}

void UserTerminal::Enter() {
  if (entered_ || ::tcgetpgrp(tty_.get()) != ::getpgrp()) return;
  // A shell may have changed the settings meanwhile.
  if (::tcgetattr(tty_.get(), &found_) != 0) return;
  termios raw = found_;
  ::cfmakeraw(&raw);
  entered_ = ::tcsetattr(tty_.get(), TCSANOW, &raw) == 0;
}

void UserTerminal::Leave() {
  if (std::exchange(entered_, false)) ::tcsetattr(tty_.get(), TCSANOW, &found_);
}

PtySize UserTerminal::Size() const {
  winsize size{};
  if (::ioctl(tty_.get(), TIOCGWINSZ, &size) != 0) return {};
  return {size.ws_row, size.ws_col};
}

Result<std::string> UserTerminal::Read(std::size_t most) const {
  std::string bytes(most, '\0');
  const ssize_t got = ::read(tty_.get(), bytes.data(), bytes.size());
  if (got > 0) {
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  }
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::string();
  return Fail(SystemError("terminal", "the terminal was closed", got < 0 ? errno : EIO));
}

}  // namespace muster
