#include "run/console/terminal_link.h"

#include <algorithm>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "base/system/terminal_size.h"

namespace muster {

StopKeys::Typed StopKeys::Feed(std::string_view typed) {
  Typed result;
  for (const char key : typed) {
    in_a_row_ = key == kKey ? in_a_row_ + 1 : 0;
    if (in_a_row_ < kTimes) {
      result.passed += key;
    } else {
      in_a_row_ = 0;
      ++result.stops;
    }
  }
  return result;
}

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
  const TerminalSize size = SizeOfTerminal(tty_.get());
  return {size.rows, size.columns};
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

namespace {

constexpr std::size_t kPiece = 4096;

}  // namespace

TerminalLink::TerminalLink(boost::asio::io_context& io, Console& console, UserTerminal terminal, Ends ends)
    : console_(console), terminal_(std::move(terminal)), ends_(std::move(ends)), keys_(io), signals_(io) {
  boost::system::error_code ignored;
  keys_.assign(::fcntl(terminal_.fd(), F_DUPFD_CLOEXEC, 0), ignored);
  console_.OnShown([this] { SendShown(); });
}

void TerminalLink::Join(const ProcessAttempt& who) {
  if (joined_) return;
  joined_ = who;
  stop_keys_ = {};
  granted_ = kPtyWindow;
  shown_ = 0;
  console_.LendTerminal(who.process);
  for (const int signal : {SIGWINCH, SIGTSTP, SIGCONT, SIGQUIT}) {
    boost::system::error_code ignored;
    signals_.add(signal, ignored);
  }
  AwaitSignal();
  terminal_.Enter();
  SendSize();  // it may have changed since the start was ordered
  AwaitKeys();
}

void TerminalLink::Part(const ProcessAttempt& who) {
  if (IsJoined(who.process, who.attempt)) Part();
}

void TerminalLink::Part() {
  if (!std::exchange(joined_, std::nullopt)) return;
  terminal_.Leave();
  boost::system::error_code ignored;
  signals_.clear(ignored);
  signals_.cancel(ignored);
  keys_.cancel(ignored);
  console_.TakeTerminalBack();
}

// --- keys ------------------------------------------------------------------------------------------

void TerminalLink::AwaitKeys() {
  if (!joined_ || waiting_ || granted_ == 0 || !terminal_.entered() || !keys_.is_open()) return;
  waiting_ = true;
  keys_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](const boost::system::error_code& error) {
    waiting_ = false;
    // The wait may have been cancelled, and the terminal connected to the next attempt since.
    if (!error && joined_ && terminal_.entered()) PassKeys();
    AwaitKeys();
  });
}

void TerminalLink::PassKeys() {
  const Result<std::string> typed = terminal_.Read(std::min(granted_, kPiece));
  boost::system::error_code ignored;
  if (!typed) return static_cast<void>(keys_.close(ignored));
  StopKeys::Typed keys = stop_keys_.Feed(*typed);
  granted_ -= keys.passed.size();
  if (!keys.passed.empty()) ends_.send(PtyBytes{joined_->process, joined_->attempt, std::move(keys.passed)});
  for (int stop = 0; stop < keys.stops; ++stop) ends_.stop();
}

void TerminalLink::Taken(const PtyTaken& taken) {
  if (!IsJoined(taken.process, taken.attempt)) return;
  granted_ = std::min(granted_ + taken.count, kPtyWindow);
  AwaitKeys();
}

// --- output --------------------------------------------------------------------------------------

void TerminalLink::Written(const PtyBytes& written) {
  if (!IsJoined(written.process, written.attempt)) return;
  console_.ShowLent(written.bytes);
  shown_ += static_cast<std::uint32_t>(written.bytes.size());
  SendShown();
}

void TerminalLink::SendShown() {
  if (!joined_ || shown_ == 0 || !console_.CanWrite()) return;
  ends_.send(PtyTaken{joined_->process, joined_->attempt, std::exchange(shown_, 0)});
}

// --- signals ---------------------------------------------------------------------------------------

void TerminalLink::AwaitSignal() {
  if (!joined_ || waiting_for_signal_) return;
  waiting_for_signal_ = true;
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    waiting_for_signal_ = false;
    if (!error && joined_) OnSignal(signal);
    AwaitSignal();
  });
}

void TerminalLink::OnSignal(int signal) {
  boost::system::error_code ignored;
  if (signal == SIGTSTP || signal == SIGQUIT) {
    terminal_.Leave();
    signals_.remove(signal, ignored);
    ::raise(signal);  // after a stop signal this returns when muster continues
    signals_.add(signal, ignored);
  }
  if (signal != SIGWINCH) {
    // A shell may have changed the terminal's settings, and muster may be in the background now.
    terminal_.Leave();
    terminal_.Enter();
  }
  SendSize();
  AwaitKeys();
}

void TerminalLink::SendSize() { ends_.send(PtyResized{joined_->process, joined_->attempt, terminal_.Size()}); }

}  // namespace muster
