// Resource limits of an evaluation. Plain data, shared by the evaluator and its parent.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster {

struct StateLimits {
  std::size_t memory_bytes = std::size_t{256} << 20;
  std::uint64_t instructions = 1'000'000'000;
};

}  // namespace muster
