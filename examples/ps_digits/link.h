// A connection that carries messages, and waiting for several connections. Sending never blocks: bytes that the socket
// does not accept are buffered, within bounds. Independent of the peer's role.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ps_digits/frame_reader.h"
#include "ps_digits/socket.h"

namespace ps_digits {

class Link {
 public:
  Link(Socket socket, Endpoint peer, std::size_t max_message);

  const Endpoint& peer() const { return peer_; }
  const Socket& socket() const { return socket_; }
  void set_max_message(std::size_t bytes) { reader_.set_max_message(bytes); }

  void Send(const Message& message);
  bool has_unsent() const { return socket_.is_open() && sent_ < unsent_.size(); }

  // The next message that has arrived, if any. If there is none, fault() tells whether more can arrive.
  std::optional<Message> Next();
  // "disconnected", "sent …": set after the last message has been consumed.
  const std::optional<std::string>& fault() const { return fault_; }

  // The events to wait for, and their handling.
  short wanted_events() const;
  void HandleEvents(short events);

 private:
  void Receive();
  void Flush();
  void End(std::string why);

  Socket socket_;
  Endpoint peer_;
  FrameReader reader_;
  Bytes unsent_;
  std::size_t sent_ = 0;            // bytes of unsent_ that have been sent
  std::optional<std::string> end_;  // why the socket is closed; becomes the fault when all messages are consumed
  std::optional<std::string> fault_;
};

// Returns when a link has transferred bytes or ended, a connection arrives at the listener `door` (nullptr: none), or
// at the deadline (nothing: none).
Result<void> WaitForLinks(std::span<Link* const> links, const Socket* door, std::optional<Clock::time_point> until);

// Sends the remaining bytes if possible; the links may be closed afterwards.
void FlushLinks(std::span<Link* const> links);

inline std::optional<Clock::time_point> Earlier(std::optional<Clock::time_point> a,
                                                std::optional<Clock::time_point> b) {
  if (!a || !b) return a ? a : b;
  return *a < *b ? a : b;
}

}  // namespace ps_digits
