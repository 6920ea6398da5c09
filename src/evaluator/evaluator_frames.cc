#include "evaluator/evaluator_frames.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/system/clock.h"

namespace muster {
namespace {

ReadStatus WaitFor(int fd, short events, std::uint64_t deadline_ns) {
  if (deadline_ns == 0) return ReadStatus::kFrame;
  for (;;) {
    const std::uint64_t now = MonotonicNowNs();
    if (now >= deadline_ns) return ReadStatus::kTimeout;
    pollfd ready_fd{fd, events, 0};
    const int ready = poll(&ready_fd, 1, static_cast<int>((deadline_ns - now) / 1'000'000) + 1);
    if (ready > 0) return ReadStatus::kFrame;
    if (ready < 0 && errno != EINTR) return ReadStatus::kBroken;
  }
}

bool SendAll(int fd, std::string_view bytes, std::uint64_t deadline_ns) {
  // With a deadline no send may block.
  const int flags = MSG_NOSIGNAL | (deadline_ns == 0 ? 0 : MSG_DONTWAIT);
  while (!bytes.empty()) {
    if (WaitFor(fd, POLLOUT, deadline_ns) != ReadStatus::kFrame) return false;
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), flags);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

ReadStatus ReceiveAll(int fd, char* into, std::size_t size, std::uint64_t deadline_ns) {
  while (size > 0) {
    if (const ReadStatus ready = WaitFor(fd, POLLIN, deadline_ns); ready != ReadStatus::kFrame) return ready;
    const ssize_t got = recv(fd, into, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) return ReadStatus::kClosed;
    if (got < 0) return errno == ECONNRESET ? ReadStatus::kClosed : ReadStatus::kBroken;
    into += got;
    size -= static_cast<std::size_t>(got);
  }
  return ReadStatus::kFrame;
}

constexpr std::size_t kSmallPayload = 64U << 10;

}  // namespace

std::string HeaderOf(FrameTag tag, std::string_view payload) {
  std::string header(5, '\0');
  for (unsigned i = 0; i < 4; ++i) header[i] = static_cast<char>(payload.size() >> (8 * i));
  header[4] = static_cast<char>(tag);
  return header;
}

std::size_t MostOf(FrameTag tag) { return tag == FrameTag::kQuestion ? kMaxQuestionFrame : kMaxEvaluationFrame; }

std::size_t PayloadSize(const FrameHeader& header) {
  std::size_t size = 0;
  for (unsigned i = 0; i < 4; ++i) size |= std::size_t{static_cast<unsigned char>(header[i])} << (8 * i);
  return size;
}

FrameTag TagIn(const FrameHeader& header) { return static_cast<FrameTag>(header[4]); }

bool WriteFrame(int fd, FrameTag tag, std::string_view payload, std::uint64_t deadline_ns) {
  if (payload.size() > MostOf(tag)) return false;
  std::string bytes = HeaderOf(tag, payload);
  // Small frames are sent in one piece: fewer calls, and one read.
  if (payload.size() > kSmallPayload) return SendAll(fd, bytes, deadline_ns) && SendAll(fd, payload, deadline_ns);
  return SendAll(fd, bytes += payload, deadline_ns);
}

ReadStatus AwaitFrame(int fd, std::uint64_t deadline_ns) { return WaitFor(fd, POLLIN, deadline_ns); }

ReadStatus ReadFrame(int fd, Frame& frame, std::uint64_t deadline_ns) {
  FrameHeader header{};
  if (const ReadStatus read = ReceiveAll(fd, header.data(), header.size(), deadline_ns); read != ReadStatus::kFrame) {
    return read;
  }
  const std::size_t size = PayloadSize(header);
  frame.tag = TagIn(header);
  if (size > MostOf(frame.tag)) return ReadStatus::kBroken;
  // Grows with the bytes that arrive, so a false length costs no memory.
  frame.payload.clear();
  while (frame.payload.size() < size) {
    const std::size_t before = frame.payload.size();
    frame.payload.resize(std::min(size, before + kFrameStep));
    const ReadStatus read = ReceiveAll(fd, frame.payload.data() + before, frame.payload.size() - before, deadline_ns);
    if (read != ReadStatus::kFrame) return read;
  }
  return ReadStatus::kFrame;
}

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
  std::size_t left = kMaxAtOnce;
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
