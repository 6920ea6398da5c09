#include "top/top.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fcntl.h>

#include "run/control/control_protocol.h"
#include "run/control/journal_feed.h"
#include "run/directory/run_directory.h"
#include "top/log_pager.h"
#include "top/screen.h"
#include "top/terminal.h"
#include "top/top_snapshots.h"

namespace muster {
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
