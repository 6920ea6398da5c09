#include "evaluator/outgoing_frames.h"

#include <cerrno>

#include <sys/socket.h>
#include <sys/types.h>

namespace muster {

void OutgoingFrames::Add(FrameTag tag, std::string_view payload) {
  bytes_ += HeaderOf(tag, payload);
  bytes_ += payload;
}

bool OutgoingFrames::Flush(int fd) {
  while (written_ < bytes_.size()) {
    const ssize_t sent = send(fd, bytes_.data() + written_, bytes_.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return false;
    if (sent <= 0) break;
    written_ += static_cast<std::size_t>(sent);
  }
  bytes_.clear();
  written_ = 0;
  return true;
}

}  // namespace muster
