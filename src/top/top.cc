#include "top/top.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include "base/system/terminal_size.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "run/control/control_protocol.h"
#include "run/control/journal_feed.h"
#include "run/directory/run_directory.h"
#include "run/logs/log_follower.h"
#include "top/top_snapshots.h"

namespace muster {
namespace {

// The user's terminal in full-screen mode: single keys, alternate screen, size; restored on every
// exit.
//
// Uses termios(3) and some xterm sequences; independent of what is shown.
class Terminal {
 public:
  // Opens the controlling terminal. Kind "terminal", blame kMachine, if there is none. From now on keys are read one by
  // one, without echo; Ctrl-C and Ctrl-Z stay signals.
  static Result<std::unique_ptr<Terminal>> Open();
  // Restores the terminal.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  // Restores the terminal, and enters full-screen mode again. Neither blocks, suspended or not; both are
  // idempotent.
  void Leave();
  void Enter();

  TopSize Size() const;
  // The descriptor to wait for, for reading and writing. It shares its flags with nobody.
  int fd() const { return tty_.get(); }
  // Writes the bytes without blocking; what the terminal does not accept waits for Flush().
  void Show(std::string_view bytes);
  void Flush();
  // Whether everything was written.
  bool taken() const { return waiting_.empty(); }
  // The typed bytes; an error once the terminal is gone.
  Result<std::string> Read() const;

 private:
  Terminal(UniqueFd tty, const termios& found) : tty_(std::move(tty)), found_(found) {}

  UniqueFd tty_;
  termios found_;
  std::string waiting_;
  bool entered_ = false;
};

// The alternate screen (xterm's private mode 1049), no cursor, no wrapping at the last column.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kLeave = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

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
  const TerminalSize size = SizeOfTerminal(tty_.get());
  if (size.rows == 0 || size.columns == 0) return {};
  return {size.rows, size.columns};
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

constexpr std::size_t kPiece = LineCutter::kMaxPiece;
constexpr std::size_t kBlock = 256U << 10;

// The length of the first line or piece of a line, its newline included. Depends on the start only, so that moving up
// and down meets the same boundaries.
std::size_t PieceLength(std::string_view bytes) {
  const std::size_t end = bytes.substr(0, kPiece + 1).find('\n');
  if (end != std::string_view::npos) return end + 1;
  return bytes.size() <= kPiece ? bytes.size() : Utf8Prefix(bytes, kPiece).size();
}

std::string Shown(std::string_view piece) {
  if (piece.ends_with('\n')) piece.remove_suffix(1);
  if (piece.ends_with('\r')) piece.remove_suffix(1);
  // Of a progress bar, the last state.
  if (const std::size_t bar = piece.rfind('\r'); bar != std::string_view::npos) piece.remove_prefix(bar + 1);
  return Printable(piece);
}

}  // namespace

LogPager::LogPager(const std::string& path) : log_(LogBytes::Open(AT_FDCWD, path)) {}

LogExtent LogPager::Extent() const { return log_ ? log_->Look() : LogExtent{}; }

std::string LogPager::Read(std::uint64_t& offset, std::size_t most) const {
  std::string bytes(most, '\0');
  bytes.resize(log_ ? log_->Read(offset, bytes.data(), most) : 0);
  return bytes;
}

std::uint64_t LogPager::Back(std::uint64_t offset, std::size_t lines) const {
  std::uint64_t begin = 0;
  const std::string bytes = log_ ? log_->ReadBefore(offset, kBlock, begin) : std::string();
  std::size_t at = 0;
  // The block may begin within a line: the first certain boundary is after its newline.
  if (begin > 0) {
    const std::size_t newline = bytes.find('\n');
    at = newline == std::string::npos || newline + 1 >= bytes.size() ? 0 : newline + 1;
  }
  std::vector<std::size_t> begins;
  while (at < bytes.size()) {
    begins.push_back(at);
    at += PieceLength(std::string_view(bytes).substr(at));
  }
  if (begins.empty()) return offset;
  return begin + begins[begins.size() - std::min(lines, begins.size())];
}

std::uint64_t LogPager::Forward(std::uint64_t offset, std::size_t lines, std::vector<std::string>* into) const {
  std::string bytes;
  std::size_t at = 0;
  for (std::size_t line = 0; line < lines; ++line) {
    if (bytes.size() - at <= kPiece) {
      offset += at;
      bytes = Read(offset, kBlock);
      at = 0;
      if (bytes.empty()) break;
    }
    const std::size_t length = PieceLength(std::string_view(bytes).substr(at));
    if (into != nullptr) into->push_back(Shown(std::string_view(bytes).substr(at, length)));
    at += length;
  }
  return offset + at;
}

void LogPager::Move(std::int64_t lines, std::size_t rows) {
  if (lines == 0) return;
  const LogExtent extent = Extent();
  const std::uint64_t last = Back(extent.end, rows);
  if (follows_) offset_ = last;
  if (lines <= -kWholeWay) {
    offset_ = extent.begin;
  } else if (lines >= kWholeWay) {
    offset_ = last;
  } else if (lines < 0) {
    offset_ = Back(offset_, static_cast<std::size_t>(-lines));
  } else {
    offset_ = Forward(offset_, static_cast<std::size_t>(lines), nullptr);
  }
  follows_ = lines > 0 && offset_ >= last;
}

LogPage LogPager::Page(std::size_t rows) {
  const auto [begin, size] = Extent();
  if (follows_ || offset_ > size) offset_ = Back(size, rows);
  offset_ = std::max(offset_, begin);  // the beginning may have been dropped
  LogPage page;
  const std::uint64_t end = Forward(offset_, rows, &page.lines);
  page.where = end >= size ? "its end" : fmt::format("{}%", 100 * (end - begin) / (size - begin));
  return page;
}

namespace {

using Descriptor = boost::asio::posix::stream_descriptor;
using Error = boost::system::error_code;
using Mode = TopView::Mode;

class Top {
 public:
  Top(std::string run_dir, TopState first, TopView view, SweepSnapshots sweep)
      : look_(std::move(run_dir)),
        sweep_(std::move(sweep)),
        state_(std::move(first)),
        view_(std::move(view)),
        tty_(io_),
        head_(io_),
        tick_(io_),
        escape_(io_),
        signals_(io_),
        end_(io_) {}

  Result<int> Run() {
    Result<std::unique_ptr<Terminal>> terminal = Terminal::Open();
    if (!terminal) return Fail(std::move(terminal.error()));
    terminal_ = std::move(*terminal);
    tty_.assign(::fcntl(terminal_->fd(), F_DUPFD_CLOEXEC, 0));
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH}) {
      Error ignored;
      signals_.add(signal, ignored);
    }
    AwaitSignal();
    AwaitKeys();
    if (state_.live) {
      Attach();
      // Called at once if the run has ended already. If it cannot be watched, the connection's end has to do.
      static_cast<void>(end_.Start(look_.run_dir(), [this] { Over(); }));
    }
    Draw();
    io_.run();
    terminal_->Leave();
    return exit_code_;
  }

 private:
  // --- the head ---
  void Attach() {
    if (sweep_) return Tick();
    Result<ControlConnection> connection = ControlConnection::Open(look_.run_dir());
    if (!connection) return;
    connection_ = std::move(*connection);
    head_.assign(::fcntl(connection_->fd(), F_DUPFD_CLOEXEC, 0));
    AwaitAnswer();
    Tick();
  }

  void Tick() {
    // Send no second request before the answer.
    if (connection_ && !asked_) asked_ = connection_->Send({ControlRequest::Ask::kProcesses}).has_value();
    tick_.expires_after(std::chrono::seconds(1));
    tick_.async_wait([this](const Error& error) {
      if (error || !state_.live) return;
      if (sweep_) LookAgain();
      Tick();
      if (sweep_ || view_.mode == Mode::kLog) Draw();
    });
  }

  // Leave the log of a trial that has ended meanwhile.
  void LookAgain() {
    Result<TopState> now = sweep_();
    if (!now) return;
    const std::string shown =
        view_.process < state_.processes.size() ? state_.processes[view_.process].name : std::string();
    state_ = *std::move(now);
    if (view_.mode != Mode::kLog) return;
    const auto row = std::find_if(state_.processes.begin(), state_.processes.end(),
                                  [&](const TopProcess& process) { return process.name == shown; });
    if (row == state_.processes.end()) {
      view_.mode = Mode::kProcesses;
    } else {
      view_.process = static_cast<std::size_t>(row - state_.processes.begin());
    }
  }

  void AwaitAnswer() {
    head_.async_wait(Descriptor::wait_read, [this](const Error& error) {
      if (error) return;
      const bool open = connection_->Receive();
      while (const std::optional<std::string> line = connection_->TakeLine()) {
        asked_ = false;
        const auto answer = ParseControlAnswer(*line);
        if (!answer || !answer->error.empty() || !answer->processes) continue;
        state_ = look_.Living(*answer);
        Draw();
      }
      if (open) return AwaitAnswer();
      if (!IsRunLive(look_.run_dir())) Over();
    });
  }

  void Over() {
    if (!state_.live) return;
    if (sweep_) {
      LookAgain();
    } else if (Result<TopState> ended = look_.Ended()) {
      state_ = std::move(*ended);
    }
    state_.live = false;
    tick_.cancel();
    Draw();
  }

  // --- the terminal ---
  void AwaitKeys() {
    tty_.async_wait(Descriptor::wait_read, [this](const Error& error) {
      if (error) return;
      const Result<std::string> typed = terminal_->Read();
      if (!typed) return Quit(128 + SIGHUP);
      typed_ += *typed;
      escape_.cancel();
      Press(TakeKeys(typed_, false));
      if (!typed_.empty()) AwaitRestOfKey();
      AwaitKeys();
    });
  }

  // The rest of a sequence arrives with its beginning, or very soon; nothing follows the key Escape.
  void AwaitRestOfKey() {
    escape_.expires_after(std::chrono::milliseconds(50));
    escape_.async_wait([this](const Error& error) {
      if (!error) Press(TakeKeys(typed_, true));
    });
  }

  void Press(const std::vector<KeyPress>& keys) {
    for (const KeyPress& key : keys) {
      if (key.key == Key::kRedraw) shown_.clear();
      view_ = Pressed(std::move(view_), key, state_, terminal_->Size());
    }
    if (view_.mode == Mode::kQuit) return Quit(0);
    if (!keys.empty()) Draw();
  }

  void Draw() {
    // A slow terminal gets the newest state once it accepts output again.
    if (!terminal_->taken()) return AwaitWritable();
    const TopSize size = terminal_->Size();
    if (size != size_) {
      size_ = size;
      Redraw();
    }
    view_ = Fitted(std::move(view_), state_, size);
    std::vector<ScreenLine> lines = TopScreen(state_, view_, size, Page(size));
    terminal_->Show((shown_.empty() ? "\x1b[2J" : "") + FrameBytes(shown_, lines));
    shown_ = std::move(lines);
    if (!terminal_->taken()) AwaitWritable();
  }

  void Redraw() { shown_.clear(); }

  LogPage Page(TopSize size) {
    if (view_.mode != Mode::kLog) {
      pager_.reset();
      return {};
    }
    const std::string path = look_.LogPath(state_.processes[view_.process], view_.attempt);
    if (!pager_ || path != paged_) pager_.emplace(path);
    paged_ = path;
    pager_->Move(std::exchange(view_.move, 0), LogRows(size));
    return pager_->Page(LogRows(size));
  }

  void AwaitWritable() {
    if (std::exchange(awaits_room_, true)) return;
    tty_.async_wait(Descriptor::wait_write, [this](const Error& error) {
      if (error) return;
      awaits_room_ = false;
      terminal_->Flush();
      Draw();
    });
  }

  void AwaitSignal() {
    signals_.async_wait([this](const Error& error, int signal) {
      if (error) return;
      if (signal == SIGTSTP) {
        terminal_->Leave();
        Error ignored;
        signals_.remove(SIGTSTP, ignored);
        ::raise(SIGTSTP);  // execution continues here on SIGCONT
        signals_.add(SIGTSTP, ignored);
      } else if (signal != SIGCONT && signal != SIGWINCH) {
        return Quit(128 + signal);
      }
      if (signal != SIGWINCH) {
        // The shell may have changed the terminal.
        terminal_->Leave();
        terminal_->Enter();
      }
      Redraw();
      Draw();
      AwaitSignal();
    });
  }

  void Quit(int exit_code) {
    exit_code_ = exit_code;
    io_.stop();
  }

  boost::asio::io_context io_{1};
  TopSnapshots look_;
  SweepSnapshots sweep_;
  TopState state_;
  TopView view_;
  std::unique_ptr<Terminal> terminal_;
  Descriptor tty_;
  Descriptor head_;
  std::optional<ControlConnection> connection_;
  bool asked_ = false;  // a request is unanswered
  boost::asio::steady_timer tick_;
  boost::asio::steady_timer escape_;
  boost::asio::signal_set signals_;
  RunEndWatch end_;
  std::string typed_;  // beginning of an incomplete key
  std::vector<ScreenLine> shown_;
  TopSize size_;
  std::optional<LogPager> pager_;
  std::string paged_;
  bool awaits_room_ = false;
  int exit_code_ = 0;
};

}  // namespace

Result<int> ShowTop(const std::string& run_dir, TopState first, TopView view, SweepSnapshots sweep) {
  return Top(run_dir, std::move(first), std::move(view), std::move(sweep)).Run();
}

}  // namespace muster
