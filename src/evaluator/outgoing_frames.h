// Sends frames to an evaluator process, as far as it takes them, without waiting.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "evaluator/evaluator_frames.h"

namespace muster {

class OutgoingFrames {
 public:
  void Add(FrameTag tag, std::string_view payload);
  // Writes what can be written; whether that was all. True also if the other end is gone: then nobody waits for it.
  bool Flush(int fd);

 private:
  std::string bytes_;
  std::size_t written_ = 0;
};

}  // namespace muster
