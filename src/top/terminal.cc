#include "top/terminal.h"

#include <array>
#include <string_view>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace muster {
namespace {

// The alternate screen (xterm's private mode 1049), no cursor, no wrapping at the last column.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

}  // namespace

Result<std::unique_ptr<Terminal>> Terminal::Open() {
  // A separate open file description, so that O_NONBLOCK affects nobody else.
  UniqueFd tty(::open("/dev/tty", O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  termios found{};
  if (!tty || ::tcgetattr(tty.get(), &found) != 0) {
    return Fail(SystemError("terminal", "there is no terminal to show it on", errno));
  }
  std::unique_ptr<Terminal> terminal(new Terminal(std::move(tty), found));
  terminal->Enter();
  return terminal;
}

Terminal::~Terminal() { Leave(); }

void Terminal::Enter() {
  if (std::exchange(entered_, true)) return;
  termios keys = found_;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  keys.c_iflag &= ~static_cast<tcflag_t>(ICRNL | INLCR);
  keys.c_cc[VMIN] = 1;
  keys.c_cc[VTIME] = 0;
  ::tcsetattr(tty_.get(), TCSANOW, &keys);
  Show(kEnter);
}

void Terminal::Leave() {
  if (!std::exchange(entered_, false)) return;
  // Waiting output is obsolete.
  waiting_.clear();
  Show(kLeave);
  waiting_.clear();
  ::tcsetattr(tty_.get(), TCSANOW, &found_);
}

TopSize Terminal::Size() const {
  winsize size{};
  if (::ioctl(tty_.get(), TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

void Terminal::Show(std::string_view bytes) {
  waiting_ += bytes;
  Flush();
}

void Terminal::Flush() {
  while (!waiting_.empty()) {
    const ssize_t wrote = ::write(tty_.get(), waiting_.data(), waiting_.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno != EAGAIN) waiting_.clear();  // the terminal is gone: Read() will report that
    if (wrote <= 0) return;
    waiting_.erase(0, static_cast<std::size_t>(wrote));
  }
}

Result<std::string> Terminal::Read() const {
  std::array<char, 1024> bytes;
  const ssize_t got = ::read(tty_.get(), bytes.data(), bytes.size());
  if (got > 0) return std::string(bytes.data(), static_cast<std::size_t>(got));
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::string();
  return Fail(SystemError("terminal", "the terminal was closed", got < 0 ? errno : EIO));
}

}  // namespace muster
