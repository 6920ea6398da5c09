// Where text goes that a person or a program reads: a descriptor that may be slow, stopped or gone. Never
// blocks the loop, never dies of a closed reader, holds a bounded amount.
//
// Knows descriptors, not what is written.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "run/directory/private_files.h"

namespace muster {

class Output {
 public:
  // Writers that can wait should do so while room() is false; what others write is taken all the same.
  static constexpr std::size_t kRoom = 64U << 10;

  // `fd` stays the caller's and keeps its flags.
  Output(boost::asio::io_context& io, int fd);

  void Write(std::string_view text);
  // On a terminal: lines below everything that is written. Other text goes above them; only text that does not end its
  // line, and text that the terminal does not take yet, takes them away until the next call. While the terminal takes
  // nothing, a call does nothing. None: taken away. Each must fit into the terminal's width.
  void ShowBelow(const std::vector<std::string>& lines);
  // The lines below are not there any more: the program was stopped, and others wrote meanwhile.
  void ForgetBelow() { below_ = 0; }
  // Called when other text has taken them away for good.
  void OnCovered(std::function<void()> covered) { covered_ = std::move(covered); }
  bool room() const { return gone_ || pending_.size() < kRoom; }
  bool empty() const { return gone_ || pending_.empty(); }
  // The reader is gone, or was never there; everything is dropped from then on.
  bool gone() const { return gone_; }
  bool is_terminal() const { return is_terminal_; }
  int fd() const { return fd_; }
  // Of a terminal, as it is now; 0 if it is none or does not say.
  std::size_t columns() const;
  // Drops what is pending and all that follows.
  void Abandon();

  // Called from the loop whenever pending text went out, besides what was to be called before.
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
  UniqueFd own_;                                 // our own opening of a terminal or pipe, non-blocking
  boost::asio::posix::stream_descriptor ready_;  // an epoll that watches the descriptor
  std::string pending_;
  std::vector<std::function<void()>> progress_;
  std::size_t below_ = 0;           // lines shown below
  std::vector<std::string> shown_;  // what they are
  std::function<void()> covered_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for a handler that is still on its way
};

}  // namespace muster
