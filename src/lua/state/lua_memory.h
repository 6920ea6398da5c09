// The memory of an interpreter: small blocks come from pools, each of blocks of one size, which are freed as a whole
// with the object; others come from malloc. Lua passes the size of what it frees, so blocks have no header.
//
// The pools take their memory from malloc in growing pieces. Those of the interpreter's own allocator, 128 KiB, are too
// small for huge pages (SpawnEvaluator); malloc alone takes a quarter longer for thousands of evaluations.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include <boost/pool/pool.hpp>

namespace muster {

class LuaMemory {
 public:
  // As lua_Alloc (the reference manual of Lua 5.1): frees `block` if `new_size` is 0, which returns null; returns null
  // and keeps `block` if there is no memory. `old_size` is 0 without a block.
  void* Resize(void* block, std::size_t old_size, std::size_t new_size);

 private:
  static constexpr std::size_t kUnit = 16;
  static constexpr std::size_t kMostUnits = 32;
  using Pool = boost::pool<boost::default_user_allocator_malloc_free>;

  static bool IsSmall(std::size_t size) { return size <= kUnit * kMostUnits; }
  static std::size_t Units(std::size_t size) { return (size + kUnit - 1) / kUnit; }
  Pool& PoolOf(std::size_t size);
  void* Get(std::size_t size);
  void Free(void* block, std::size_t size);

  std::array<std::unique_ptr<Pool>, kMostUnits> pools_;
};

}  // namespace muster
