// Output of a head: text to a descriptor that may be slow, stopped or closed by its reader, such as stdout, and rows
// about progress below it on a terminal; with the signals of such writes. Never blocks the loop, and buffers a
// bounded amount. Depends on descriptors, time and job control only, not on the content.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <signal.h>

#include "base/system/private_files.h"

namespace muster {

// Queries how this process handles a signal (sigaction(2)).
inline bool IsIgnored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

// Ignores SIGPIPE and SIGXFSZ for a while.

// Ignores SIGPIPE and SIGXFSZ during its lifetime, so that a closed stdout and a file at its size limit (EFBIG) are
// errors of write(2) and do not kill the process.
class PipeSignalIgnored {
 public:
  PipeSignalIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &before_);
    ::sigaction(SIGXFSZ, &ignore, &of_size_);
  }
  ~PipeSignalIgnored() {
    ::sigaction(SIGPIPE, &before_, nullptr);
    ::sigaction(SIGXFSZ, &of_size_, nullptr);
  }
  PipeSignalIgnored(const PipeSignalIgnored&) = delete;
  PipeSignalIgnored& operator=(const PipeSignalIgnored&) = delete;

 private:
  struct sigaction before_ {};
  struct sigaction of_size_ {};
};

// Writes text to a descriptor that may be slow, stopped or closed by its reader, such as stdout. Never blocks the loop,
// does not exit when the reader has gone, and buffers a bounded amount.
//
// Depends on descriptors only, not on the content.
class Output {
 public:
  // Writers that can wait should do so while room() is false; text of other writers is accepted in any case.
  static constexpr std::size_t kRoom = 64U << 10;

  // `fd` remains owned by the caller and keeps its flags.
  Output(boost::asio::io_context& io, int fd);

  void Write(std::string_view text);
  // On a terminal: shows lines below all other output. Other text is inserted above them; the lines disappear until the
  // next call only if that text does not end its line, or the terminal does not accept it yet. While the terminal
  // accepts nothing, a call does nothing. An empty list removes the lines. Each line must fit the width of the
  // terminal.
  void ShowBelow(const std::vector<std::string>& lines);
  // Reports that the lines below are gone: the program was stopped, and others wrote to the terminal.
  void ForgetBelow() { below_ = 0; }
  // Called when other text has removed the lines until the next ShowBelow().
  void OnCovered(std::function<void()> covered) { covered_ = std::move(covered); }
  bool room() const { return gone_ || pending_.size() < kRoom; }
  bool empty() const { return gone_ || pending_.empty(); }
  // The reader is gone, or never existed; everything is dropped from then on.
  bool gone() const { return gone_; }
  bool is_terminal() const { return is_terminal_; }
  int fd() const { return fd_; }
  // Current width of the terminal; 0 if it is not a terminal or its width is unknown.
  std::size_t columns() const;
  // Drops pending and all later text.
  void Abandon();

  // Adds a function that the loop calls whenever pending text was written.
  void OnProgress(std::function<void()> progress) { progress_.push_back(std::move(progress)); }

 private:
  void Push();
  void AwaitWritable();
  void TakeBelowAway();
  void PutBelow(const std::vector<std::string>& lines);
  // Writes some of `text` without blocking; like write(2).
  ssize_t WriteSome(std::string_view text) const;

  enum class Kind : unsigned char { kFile, kNonBlocking, kSocket, kShared };

  int fd_;
  Kind kind_ = Kind::kFile;
  bool is_terminal_ = false;
  bool gone_ = false;
  bool waiting_ = false;
  UniqueFd own_;                                 // own non-blocking descriptor of a terminal or pipe
  boost::asio::posix::stream_descriptor ready_;  // an epoll that watches the descriptor
  std::string pending_;
  std::vector<std::function<void()>> progress_;
  std::size_t below_ = 0;           // number of lines shown below
  std::vector<std::string> shown_;  // their text
  std::function<void()> covered_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for handlers that are still queued
};

// Decides when rows about progress are shown below other output.
//
// Depends on an Output, time and job control; the owner provides the rows. Without a terminal, or if it is not wanted,
// it has no timer and catches no signal.
class ProgressDisplay {
 public:
  // `out` must outlive it and be a terminal if `wanted` is set.
  ProgressDisplay(boost::asio::io_context& io, Output& out, bool wanted);

  // At most `most` rows, each narrower than `columns`.
  using Rows = std::function<std::vector<std::string>(std::size_t columns, std::size_t most)>;

  // Calls `rows` from the loop from now on.
  void Begin(Rows rows);
  // Must be called after events, to update the rows.
  void Changed();
  // Hides the rows until Release().
  void Hold();
  void Release();
  // Hides the rows for good.
  void End();

 private:
  using Clock = std::chrono::steady_clock;

  void DrawAt(Clock::time_point when);
  void Draw();
  void AwaitContinued();

  Output& out_;
  bool wanted_;
  bool held_ = false;
  Rows rows_;
  boost::asio::steady_timer timer_;
  bool armed_ = false;
  Clock::time_point drawn_;
  boost::asio::signal_set continued_;
};

}  // namespace muster
