#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "lua/state/state.h"

namespace muster {
namespace {

struct Block {
  void* at = nullptr;
  std::size_t size = 0;
  unsigned char filled = 0;
};

TEST(LuaMemory, KeepsContentsAcrossAllSizes) {
  LuaMemory memory;
  std::vector<Block> blocks(64);
  std::uint32_t random = 1;
  for (int step = 0; step < 20'000; ++step) {
    random = random * 1'664'525 + 1'013'904'223;
    Block& block = blocks[(random >> 8) % blocks.size()];
    const auto* const bytes = static_cast<const unsigned char*>(block.at);
    for (std::size_t i = 0; i < block.size; ++i) ASSERT_EQ(bytes[i], block.filled) << block.size;
    const std::size_t size = (random >> 16) % 1'200;  // both sides of what is small; 0 frees
    void* const moved = memory.Resize(block.at, block.size, size);
    ASSERT_EQ(moved == nullptr, size == 0);
    if (moved != nullptr) {
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(moved) % 16, 0U);
      for (std::size_t i = 0; i < std::min(size, block.size); ++i) {
        ASSERT_EQ(static_cast<unsigned char*>(moved)[i], block.filled);
      }
    }
    block = {moved, size, static_cast<unsigned char>(step)};
    if (moved != nullptr) std::memset(moved, block.filled, size);
  }
  for (const Block& block : blocks) memory.Resize(block.at, block.size, 0);
}

TEST(LuaMemory, ReusesWhatWasFreed) {
  LuaMemory memory;
  void* const first = memory.Resize(nullptr, 0, 40);
  EXPECT_EQ(memory.Resize(first, 40, 48), first) << "blocks are of multiples of 16 bytes";
  EXPECT_EQ(memory.Resize(first, 48, 0), nullptr);
  EXPECT_EQ(memory.Resize(nullptr, 0, 33), first);
  EXPECT_EQ(memory.Resize(nullptr, 0, 0), nullptr);
}

}  // namespace
}  // namespace muster
