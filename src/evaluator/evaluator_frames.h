// Frames between the evaluator process and its parent: 4 bytes of little-endian length, one tag byte, an archive. The
// child blocks, the parent does not. Bytes from the child are untrusted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

// Frames between the evaluator process and its parent: 4 bytes of little-endian length, one tag byte, an archive. The
// child blocks, in the functions below; the parent does not. Bytes from the
// child are untrusted.

enum class FrameTag : std::uint8_t { kRequest = 'R', kQuestion = 'Q', kReply = 'P', kAnswer = 'A' };

struct Frame {
  FrameTag tag = FrameTag::kRequest;
  std::string payload;
};

inline constexpr std::size_t kMaxEvaluationFrame = 256U << 20;
// A question is a name or a printed line (kMaxQuestion of evaluation/exchange/evaluation.h).
inline constexpr std::size_t kMaxQuestionFrame = 128U << 10;

enum class ReadStatus : std::uint8_t { kFrame, kClosed, kTimeout, kBroken };

// Writes the whole frame; false if the other end is closed or does not read. `deadline_ns` is monotonic
// (base/system/clock.h); 0: no deadline.
bool WriteFrame(int fd, FrameTag tag, std::string_view payload, std::uint64_t deadline_ns = 0);

// Waits until there is something to read (kFrame) or the deadline (monotonic) has passed (kTimeout).
ReadStatus AwaitFrame(int fd, std::uint64_t deadline_ns);

// Reads one frame. `deadline_ns` is monotonic (base/system/clock.h); 0: no deadline.
ReadStatus ReadFrame(int fd, Frame& frame, std::uint64_t deadline_ns);

// The parts of a frame's encoding. Sizes are in bytes, without the header.
using FrameHeader = std::array<char, 5>;
inline constexpr std::size_t kFrameStep = 1U << 20;  // step by which a payload's memory grows
std::string HeaderOf(FrameTag tag, std::string_view payload);
FrameTag TagIn(const FrameHeader& header);
// The size that the header claims; it may exceed MostOf().
std::size_t PayloadSize(const FrameHeader& header);
// Maximum size of a payload with this tag.
std::size_t MostOf(FrameTag tag);

// Reads frames from an evaluator process without blocking. The bytes are untrusted.
class IncomingFrames {
 public:
  // The next frame; kTimeout if there is none yet. Reads at most kMaxAtOnce bytes.
  ReadStatus Next(int fd, Frame& frame);

  static constexpr std::size_t kMaxAtOnce = 4U << 20;

 private:
  // kFrame once `size` bytes have been read; `got` counts them.
  ReadStatus Fill(int fd, char* into, std::size_t size, std::size_t& got, std::size_t& left);

  FrameHeader header_{};
  std::size_t in_header_ = 0;
  std::string payload_;
  std::size_t in_payload_ = 0;
};

// Writes frames to an evaluator process without blocking.
class OutgoingFrames {
 public:
  void Add(FrameTag tag, std::string_view payload);
  // Writes as much as possible; true if nothing is left. Also true if the other end is closed: the bytes are dropped.
  bool Flush(int fd);

 private:
  std::string bytes_;
  std::size_t written_ = 0;
};

}  // namespace muster
