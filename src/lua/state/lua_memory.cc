#include "lua/state/lua_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace muster {

void* LuaMemory::Resize(void* block, std::size_t old_size, std::size_t new_size) {
  if (new_size == 0) {
    if (block != nullptr) Free(block, old_size);
    return nullptr;
  }
  if (block == nullptr) return Get(new_size);
  if (!IsSmall(old_size) && !IsSmall(new_size)) return std::realloc(block, new_size);
  if (IsSmall(old_size) && Units(old_size) == Units(new_size)) return block;
  void* const moved = Get(new_size);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(old_size, new_size));
  Free(block, old_size);
  return moved;
}

LuaMemory::Pool& LuaMemory::PoolOf(std::size_t size) {
  std::unique_ptr<Pool>& pool = pools_[Units(size) - 1];
  if (!pool) pool = std::make_unique<Pool>(Units(size) * kUnit);
  return *pool;
}

void* LuaMemory::Get(std::size_t size) { return IsSmall(size) ? PoolOf(size).malloc() : std::malloc(size); }

void LuaMemory::Free(void* block, std::size_t size) {
  if (IsSmall(size)) {
    PoolOf(size).free(block);
  } else {
    std::free(block);
  }
}

}  // namespace muster
