// Frames between the evaluator process and its parent: 4 bytes of little-endian length, one tag byte, an
// archive. Blocking, with a deadline on the parent's side. Bytes from the child are untrusted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

enum class FrameTag : std::uint8_t { kRequest = 'R', kQuestion = 'Q', kReply = 'P', kAnswer = 'A' };

struct Frame {
  FrameTag tag = FrameTag::kRequest;
  std::string payload;
};

inline constexpr std::size_t kMaxEvaluationFrame = 256U << 20;

enum class ReadStatus : std::uint8_t { kFrame, kClosed, kTimeout, kBroken };

// Writes the whole frame, or returns false: the other end is gone, or does not read. `deadline_ns` is monotonic
// (base/clock.h); 0: wait for ever.
bool WriteFrame(int fd, FrameTag tag, std::string_view payload, std::uint64_t deadline_ns = 0);

// Waits until there is something to read (kFrame) or the deadline (monotonic) has passed (kTimeout).
ReadStatus AwaitFrame(int fd, std::uint64_t deadline_ns);

// Reads one frame. `deadline_ns` is monotonic (base/clock.h); 0: wait for ever.
ReadStatus ReadFrame(int fd, Frame& frame, std::uint64_t deadline_ns);

}  // namespace muster
