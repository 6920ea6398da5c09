#include "evaluator/incoming_frames.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <sys/socket.h>

namespace muster {

ReadStatus IncomingFrames::Fill(int fd, char* into, std::size_t size, std::size_t& got, std::size_t& left) {
  while (got < size) {
    if (left == 0) return ReadStatus::kTimeout;
    const ssize_t more = recv(fd, into + got, std::min(size - got, left), MSG_DONTWAIT);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0 && errno == EAGAIN) return ReadStatus::kTimeout;
    if (more == 0 || (more < 0 && errno == ECONNRESET)) return ReadStatus::kClosed;
    if (more < 0) return ReadStatus::kBroken;
    got += static_cast<std::size_t>(more);
    left -= static_cast<std::size_t>(more);
  }
  return ReadStatus::kFrame;
}

ReadStatus IncomingFrames::Next(int fd, Frame& frame) {
  std::size_t left = kMostAtOnce;
  ReadStatus read = Fill(fd, header_.data(), header_.size(), in_header_, left);
  if (read != ReadStatus::kFrame) return read;
  const std::size_t size = PayloadSize(header_);
  frame.tag = TagIn(header_);
  if (size > MostOf(frame.tag)) return ReadStatus::kBroken;
  while (in_payload_ < size) {
    if (payload_.size() == in_payload_) payload_.resize(std::min(size, in_payload_ + kFrameStep));
    read = Fill(fd, payload_.data(), payload_.size(), in_payload_, left);
    if (read != ReadStatus::kFrame) return read;
  }
  frame.payload = std::exchange(payload_, {});
  in_header_ = in_payload_ = 0;
  return ReadStatus::kFrame;
}

}  // namespace muster
