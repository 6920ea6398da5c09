// The resource limits of an evaluation, and its last position, in memory that the evaluator shares with its parent:
// the parent reads it if the child exceeded a limit and was killed, or crashed. Independent of Lua and processes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "muster/diagnostic.h"

namespace muster {

// Resource limits of an evaluation. Plain data, shared by the evaluator and its parent.
struct StateLimits {
  std::size_t memory_bytes = std::size_t{256} << 20;
  std::uint64_t instructions = 1'000'000'000;
};

// The last position of an evaluation, in memory that the evaluator shares with its parent: written by the child, read
// by the parent if the child was killed or crashed. Independent of Lua and processes.

// The writer may be killed between any two instructions, so it writes a place to the unused slot and then sets
// `current`: a reader sees the old place or the new one, never a mixture.
struct LastPlace {
  struct Slot {
    std::uint32_t line = 0;
    char file[1020] = {};  // truncated if longer
  };

  void Note(std::string_view file, std::uint32_t line);
  // Nothing (line 0) if none was recorded, or if it is not text: a recipe that took over the evaluator can write
  // anything here.
  Place Read() const;

  std::atomic<std::uint32_t> current = 0;  // 0: none; else 1 + an index of `slots`
  Slot slots[2];
};

}  // namespace muster
