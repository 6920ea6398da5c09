// Reads frames from an evaluator process without blocking. The bytes are untrusted.
#pragma once

#include <cstddef>
#include <string>

#include "evaluator/evaluator_frames.h"

namespace muster {

class IncomingFrames {
 public:
  // The next frame; kTimeout if there is none yet. Reads at most kMostAtOnce bytes.
  ReadStatus Next(int fd, Frame& frame);

  static constexpr std::size_t kMostAtOnce = 4U << 20;

 private:
  // kFrame once `size` bytes have been read; `got` counts them.
  ReadStatus Fill(int fd, char* into, std::size_t size, std::size_t& got, std::size_t& left);

  FrameHeader header_{};
  std::size_t in_header_ = 0;
  std::string payload_;
  std::size_t in_payload_ = 0;
};

}  // namespace muster
