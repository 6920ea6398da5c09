#include "lua/state/load_schema.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "lua/state/embedded.h"
#include "lua/state/embedded_source.h"
#include "lua/state/own_chunk.h"
#include "lua/state/schema_files.h"
#include "lua/state/stack.h"
#include "settings/schema/schema_archive.h"

namespace muster {
namespace {

// What the file returns when it is executed.
Value RecordsIn(lua_State* lua, const std::string& path) {
  PushOwnChunk(lua, path);
  lua_call(lua, 0, 1);
  Value records;
  std::string why;
  if (!ToValue(lua, -1, records, why)) luaL_error(lua, "%s: %s", path.c_str(), why.c_str());
  lua_pop(lua, 1);
  return records;
}

// Has the kernel provide the memory that a schema takes at once (madvise(2), MADV_POPULATE_WRITE), as far as the heap
// reaches: with a page fault for each page it takes several times as long. A kernel without this changes nothing.
void ProvideMemory() {
  constexpr std::size_t kSchemaBytes = 1536U << 10;
  constexpr std::size_t kExtends = 120U << 10;  // a block that is still taken from the heap, which it extends
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  void* const block = std::malloc(kExtends);
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(block) + page - 1) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(::sbrk(0)) / page * page;
  std::free(block);
  if (block == nullptr || begin >= end) return;
  ::madvise(reinterpret_cast<void*>(begin), std::min(kSchemaBytes, end - begin), MADV_POPULATE_WRITE);
}

}  // namespace

std::optional<Schema> EmbeddedSchema() {
  const auto archive = EmbeddedArchive(kSchemaArchive);
  if (!archive) return std::nullopt;
  ProvideMemory();
  return SchemaInArchive(*archive);
}

Diagnostics LoadSchemaInto(lua_State* lua, Schema& schema) {
  if (auto embedded = EmbeddedSchema()) return schema = *std::move(embedded), Diagnostics();
  return AddSchemaFiles(schema, [&](const std::string& path) { return RecordsIn(lua, path); });
}

}  // namespace muster
