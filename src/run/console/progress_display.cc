#include "run/console/progress_display.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <sys/ioctl.h>
#include <unistd.h>

namespace muster {
namespace {

constexpr std::chrono::milliseconds kFirst{400};
constexpr std::chrono::milliseconds kBetween{100};
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
  drawn_ = Clock::now() + kFirst - kBetween;
  DrawAt(drawn_ + kBetween);
}

void ProgressDisplay::Changed() {
  if (rows_ && !held_) DrawAt(std::max(Clock::now(), drawn_ + kBetween));
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
  winsize size{};
  if (::ioctl(out_.fd(), TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) size = {24, 80, 0, 0};
  // Most of the screen remains for scrolling output.
  out_.ShowBelow(rows_(size.ws_col, static_cast<std::size_t>(std::max(size.ws_row / 3, 1))));
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
