// Runs a program on a pseudo-terminal: the test sends keys and reads the screen.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "base/system/unique_fd.h"
#include "support/await.h"
#include "support/command.h"

namespace muster::testing {

// What a terminal shows after some bytes. Supports those parts of ECMA-48 that muster uses; every character has one
// column.
class Screen {
 public:
  void Feed(std::string_view bytes) {
    for (const char c : bytes) Take(c);
  }
  // Returns its lines without trailing blanks and trailing empty lines.
  std::string Text() const {
    std::string text;
    for (const std::vector<std::string>& row : rows_) {
      std::string line;
      for (const std::string& cell : row) line += cell;
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text.substr(0, text.find_last_not_of('\n') + 1);
  }
  std::string Line(std::size_t row) const {
    std::string line;
    for (const std::string& cell : row < rows_.size() ? rows_[row] : std::vector<std::string>{}) line += cell;
    return line;
  }

 private:
  void Take(char c) {
    if (!sequence_.empty()) {
      sequence_ += c;
      const bool is_csi = sequence_.size() >= 2 && sequence_[1] == '[';
      if (sequence_.size() == 2 ? !is_csi : c >= 0x40 && c <= 0x7e) Act();
      return;
    }
    if (c == '\x1b') {
      sequence_ = c;
    } else if (c == '\r') {
      column_ = 0;
    } else if (c == '\n') {
      ++row_;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) == 0x80U) {
      if (column_ > 0) Cell(column_ - 1) += c;
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      Cell(column_++) = std::string(1, c);
    }
  }

  std::string& Cell(std::size_t column) {
    if (rows_.size() <= row_) rows_.resize(row_ + 1);
    if (rows_[row_].size() <= column) rows_[row_].resize(column + 1, " ");
    return rows_[row_][column];
  }

  void Act() {
    const char what = sequence_.back();
    const std::string numbers = sequence_.substr(std::min<std::size_t>(2, sequence_.size()));
    const auto first = static_cast<std::size_t>(std::atoi(numbers.c_str()));
    const std::size_t semicolon = numbers.find(';');
    sequence_.clear();
    if (what == 'H') {
      row_ = first > 0 ? first - 1 : 0;
      column_ = semicolon == std::string::npos ? 0 : static_cast<std::size_t>(std::atoi(&numbers[semicolon + 1])) - 1;
    } else if (what == 'A') {
      row_ -= std::min(row_, std::max<std::size_t>(first, 1));
    } else if (what == 'K') {
      if (row_ < rows_.size()) rows_[row_].resize(first == 2 ? 0 : std::min(rows_[row_].size(), column_));
    } else if (what == 'J' && first == 2) {
      rows_.clear();
    } else if (what == 'J') {
      if (row_ < rows_.size()) {
        rows_[row_].resize(std::min(rows_[row_].size(), column_));
        rows_.resize(row_ + 1);
      }
    } else if (what == 'h' && first == 0 && numbers.starts_with("?1049")) {
      rows_.clear();
    }
  }

  std::vector<std::vector<std::string>> rows_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::string sequence_;
};

class OnTerminal {
 public:
  OnTerminal(const std::vector<std::string>& argv, const std::string& cwd, unsigned short rows = 24,
             unsigned short columns = 100) {
    winsize size{rows, columns, 0, 0};
    int master = -1;
    int slave = -1;
    EXPECT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
    EXPECT_EQ(::fcntl(master, F_SETFD, FD_CLOEXEC), 0);
    EXPECT_EQ(::tcgetattr(slave, &found_), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::login_tty(slave);  // a new session with this controlling terminal
      std::vector<std::string> env = {"PATH=/usr/bin:/bin", "TERM=xterm", "HERE=" + cwd};
      if (const char* without = std::getenv("MUSTER_WITHOUT")) env.push_back(std::string("MUSTER_WITHOUT=") + without);
      if (::chdir(cwd.c_str()) == 0) {
        ::execvpe(argv[0].c_str(), command_detail::Pointers(argv).data(), command_detail::Pointers(env).data());
      }
      ::_exit(127);
    }
    ::close(slave);
    master_ = UniqueFd(master);
    EXPECT_GT(pid_, 0);
  }
  ~OnTerminal() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;

  void Press(std::string_view keys) {
    EXPECT_EQ(::write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }
  void Resize(unsigned short rows, unsigned short columns) {
    const winsize size{rows, columns, 0, 0};
    EXPECT_EQ(::ioctl(master_.get(), TIOCSWINSZ, &size), 0);
  }
  void Signal(int signal) const { EXPECT_EQ(::kill(pid_, signal), 0); }

  // Waits until the screen satisfies the condition; fails at the deadline.
  ::testing::AssertionResult Awaits(const std::function<bool()>& wanted) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!wanted()) {
      if (std::chrono::steady_clock::now() > deadline || !Take()) {
        return wanted() ? ::testing::AssertionSuccess()
                        : ::testing::AssertionFailure() << "on the screen is\n"
                                                        << screen.Text();
      }
    }
    return ::testing::AssertionSuccess();
  }
  ::testing::AssertionResult Shows(const std::string& text) {
    return Awaits([&] { return screen.Text().find(text) != std::string::npos; });
  }
  ::testing::AssertionResult ShowsNoMore(const std::string& text) {
    return Awaits([&] { return screen.Text().find(text) == std::string::npos; });
  }
  // Reads some output; false once the program has exited, or at the deadline.
  bool Take() {
    if (!AwaitReadable(master_.get())) return false;
    char bytes[4096];
    const ssize_t got = ::read(master_.get(), bytes, sizeof bytes);
    if (got <= 0) return false;  // EIO: the other side is closed
    written.append(bytes, static_cast<std::size_t>(got));
    screen.Feed({bytes, static_cast<std::size_t>(got)});
    return true;
  }

  // Returns the exit code (128 + n for signal n), after reading all output.
  int End() {
    while (Take()) {
    }
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

  // Whether the terminal's modes are the original ones, during the program or after it.
  bool ModesAreAsFound() const {
    termios now{};
    EXPECT_EQ(::tcgetattr(master_.get(), &now), 0);
    return now.c_lflag == found_.c_lflag && now.c_iflag == found_.c_iflag && now.c_oflag == found_.c_oflag &&
           std::equal(std::begin(now.c_cc), std::end(now.c_cc), std::begin(found_.c_cc));
  }

  Screen screen;
  std::string written;

 private:
  UniqueFd master_;
  pid_t pid_ = -1;
  termios found_{};
};

}  // namespace muster::testing
