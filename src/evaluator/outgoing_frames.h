// Writes frames to an evaluator process without blocking.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "evaluator/evaluator_frames.h"

namespace muster {

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
