// What an evaluation may use, and where it leaves word of how far it came. Plain data: known to both sides of
// the evaluator's border, and to neither Lua nor processes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster {

struct StateLimits {
  std::size_t memory_bytes = std::size_t{256} << 20;
  std::uint64_t instructions = 1'000'000'000;
};

// Where the evaluation is; written by the child as it goes, read by the parent when the child had to be
// killed or crashed. Plain memory shared by both, so the reader treats it as untrusted.
struct LastPlace {
  std::uint32_t line = 0;
  char file[1020] = {};
};

}  // namespace muster
