#include "run/loop/output.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/terminal_size.h"

namespace muster {

// A descriptor that this process was given is shared with others (the shell, the processes): setting O_NONBLOCK would
// affect them. A terminal or pipe is therefore opened again; a regular file does not block, and its offset is in the
// shared open file description; a socket takes the flag per call. Anything else (such as another user's terminal) is
// written in small pieces when poll(2) reports that it is ready.
Output::Output(boost::asio::io_context& io, int fd) : fd_(fd), ready_(io) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) {
    gone_ = true;
    return;
  }
  is_terminal_ = ::isatty(fd) == 1;
  if (S_ISSOCK(status.st_mode)) {
    kind_ = Kind::kSocket;
  } else if (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)) {
    own_ = UniqueFd(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    kind_ = own_ ? Kind::kNonBlocking : Kind::kShared;
    if (own_) fd_ = own_.get();
  }
  UniqueFd watch(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event interest{};
  interest.events = EPOLLOUT;
  if (watch && ::epoll_ctl(watch.get(), EPOLL_CTL_ADD, fd_, &interest) == 0) ready_.assign(watch.release());
}

ssize_t Output::WriteSome(std::string_view text) const {
  constexpr std::size_t kPiece = 512;
  switch (kind_) {
    case Kind::kSocket:
      return ::send(fd_, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    case Kind::kShared: {
      pollfd ready{fd_, POLLOUT, 0};
      if (::poll(&ready, 1, 0) == 0) {
        errno = EAGAIN;
        return -1;
      }
      return ::write(fd_, text.data(), std::min(text.size(), kPiece));
    }
    case Kind::kFile:
    case Kind::kNonBlocking:
      return ::write(fd_, text.data(), text.size());
  }
  return -1;
}

void Output::Write(std::string_view text) {
  if (gone_) return;
  const bool had_below = below_ > 0;
  TakeBelowAway();
  pending_ += text;
  // In one write with the text: the lines stay readable however often others write.
  const bool stay = had_below && !waiting_ && text.ends_with('\n');
  if (stay) PutBelow(shown_);
  if (!waiting_) Push();
  if (had_below && !stay && covered_) covered_();
}

std::size_t Output::columns() const { return is_terminal_ ? SizeOfTerminal(fd_).columns : 0; }

void Output::TakeBelowAway() {
  if (below_ > 1) pending_ += fmt::format("\x1b[{}A", below_ - 1);
  if (below_ > 0) pending_ += "\r\x1b[J";
  below_ = 0;
}

void Output::ShowBelow(const std::vector<std::string>& lines) {
  if (gone_ || !is_terminal_) return;
  // Removing the lines must never be skipped: later text would be appended to them.
  if (!pending_.empty() && !lines.empty()) return;
  TakeBelowAway();
  PutBelow(lines);
  shown_ = lines;
  if (!waiting_) Push();
}

void Output::PutBelow(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (below_++ > 0) pending_ += "\r\n";
    pending_ += line;
  }
}

void Output::Push() {
  std::size_t sent = 0;
  while (sent < pending_.size()) {
    const ssize_t wrote = WriteSome(std::string_view(pending_).substr(sent));
    if (wrote > 0) {
      sent += static_cast<std::size_t>(wrote);
    } else if (wrote < 0 && errno == EINTR) {
      continue;
    } else if (wrote < 0 && errno == EAGAIN && ready_.is_open()) {
      break;
    } else {
      return Abandon();
    }
  }
  pending_.erase(0, sent);
  if (!pending_.empty()) AwaitWritable();
}

void Output::AwaitWritable() {
  waiting_ = true;
  ready_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                    [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                      if (error || alive.expired()) return;  // closed with the object
                      waiting_ = false;
                      Push();
                      // A callback may add another one.
                      for (std::size_t i = 0; i < progress_.size(); ++i) {
                        const std::function<void()> progress = progress_[i];
                        progress();
                      }
                    });
}

void Output::Abandon() {
  gone_ = true;
  pending_.clear();
  boost::system::error_code ignored;
  ready_.close(ignored);
}

namespace {

constexpr std::chrono::milliseconds kFirst{400};
constexpr std::chrono::milliseconds kBetweenDrawings{100};
constexpr std::chrono::seconds kClock{1};

}  // namespace

ProgressDisplay::ProgressDisplay(boost::asio::io_context& io, Output& out, bool wanted)
    : out_(out), wanted_(wanted), timer_(io), continued_(io) {}

void ProgressDisplay::Begin(Rows rows) {
  if (!wanted_) return;
  rows_ = std::move(rows);
  out_.OnCovered([this] { Changed(); });
  boost::system::error_code ignored;
  continued_.add(SIGCONT, ignored);
  AwaitContinued();
  drawn_ = Clock::now() + kFirst - kBetweenDrawings;
  DrawAt(drawn_ + kBetweenDrawings);
}

void ProgressDisplay::Changed() {
  if (rows_ && !held_) DrawAt(std::max(Clock::now(), drawn_ + kBetweenDrawings));
}

void ProgressDisplay::Hold() {
  held_ = true;
  if (!rows_) return;
  timer_.cancel();
  armed_ = false;
  out_.ShowBelow({});
}

void ProgressDisplay::Release() {
  held_ = false;
  Changed();
}

void ProgressDisplay::End() {
  if (!std::exchange(rows_, nullptr)) return;
  timer_.cancel();
  boost::system::error_code ignored;
  continued_.clear(ignored);
  out_.OnCovered({});
  out_.ShowBelow({});
}

void ProgressDisplay::DrawAt(Clock::time_point when) {
  if (armed_ && timer_.expiry() <= when) return;
  armed_ = true;
  timer_.expires_at(when);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (error || !rows_ || held_) return;  // another time has been set, or the display has ended
    armed_ = false;
    Draw();
    DrawAt(drawn_ + kClock);
  });
}

void ProgressDisplay::Draw() {
  drawn_ = Clock::now();
  // In the background, the terminal belongs to another job.
  const pid_t foreground = ::tcgetpgrp(out_.fd());
  if (foreground >= 0 && foreground != ::getpgrp()) return;
  TerminalSize size = SizeOfTerminal(out_.fd());
  if (size.columns == 0 || size.rows == 0) size = {24, 80};
  // Most of the screen remains for scrolling output.
  out_.ShowBelow(rows_(size.columns, static_cast<std::size_t>(std::max(size.rows / 3, 1))));
}

// After SIGCONT: a shell wrote below the rows meanwhile.
void ProgressDisplay::AwaitContinued() {
  continued_.async_wait([this](const boost::system::error_code& error, int) {
    if (error) return;
    out_.ForgetBelow();
    Changed();
    AwaitContinued();
  });
}

}  // namespace muster
