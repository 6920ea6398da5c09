// Where text goes that a person or a program reads: a descriptor that may be slow, stopped or gone. Never
// blocks the loop, never dies of a closed reader, holds a bounded amount.
//
// Knows descriptors, not what is written.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include "run/private_files.h"

namespace muster {

class Output {
 public:
  // Writers that can wait should do so while room() is false; what others write is taken all the same.
  static constexpr std::size_t kRoom = 64U << 10;

  // `fd` stays the caller's and keeps its flags.
  Output(boost::asio::io_context& io, int fd);

  void Write(std::string_view text);
  bool room() const { return gone_ || pending_.size() < kRoom; }
  bool empty() const { return gone_ || pending_.empty(); }
  // The reader is gone, or was never there; everything is dropped from then on.
  bool gone() const { return gone_; }
  bool is_terminal() const { return is_terminal_; }
  // Drops what is pending and all that follows.
  void Abandon();

  // Called from the loop whenever pending text went out.
  void OnProgress(std::function<void()> progress) { progress_ = std::move(progress); }

 private:
  void Push();
  void AwaitRoom();
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
  std::function<void()> progress_;
};

}  // namespace muster
