#include "lua/state/load_schema.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "lua/state/embedded_source.h"
#include "lua/state/own_chunk.h"
#include "lua/state/stack.h"
#include "wire/archive/value_archive.h"

namespace muster {
namespace {

// The lists of records, and where each is stored.
struct SchemaFile {
  const char* path;
  enum class Holds : std::uint8_t { kReleases, kAttributes, kFunctions, kFiles, kRules };
  Holds holds = Holds::kReleases;
  const char* api = "";  // of attributes: the function they belong to
};
constexpr SchemaFile kSchemaFiles[] = {
    {"muster/schema/releases.lua", SchemaFile::Holds::kReleases},
    {"muster/schema/context.lua", SchemaFile::Holds::kAttributes, "set_context"},
    {"muster/schema/context_old.lua", SchemaFile::Holds::kAttributes, "set_context"},
    {"muster/schema/context_native.lua", SchemaFile::Holds::kAttributes, "set_context"},
    {"muster/schema/device_config.lua", SchemaFile::Holds::kAttributes, "set_context"},
    {"muster/schema/auto_parallel.lua", SchemaFile::Holds::kAttributes, "set_auto_parallel_context"},
    {"muster/schema/parallel_config.lua", SchemaFile::Holds::kAttributes, "set_auto_parallel_context"},
    {"muster/schema/ps.lua", SchemaFile::Holds::kAttributes, "set_ps_context"},
    {"muster/schema/functions.lua", SchemaFile::Holds::kFunctions},
    {"muster/schema/parallel.lua", SchemaFile::Holds::kFunctions},
    {"muster/schema/files.lua", SchemaFile::Holds::kFiles},
    {"muster/schema/rules.lua", SchemaFile::Holds::kRules},
};

Diagnostics AddTo(Schema& schema, const SchemaFile& file, const Value& records, const Place& place) {
  switch (file.holds) {
    case SchemaFile::Holds::kReleases:
      return schema.AddReleases(records, place);
    case SchemaFile::Holds::kAttributes:
      return schema.Add(file.api, records, place);
    case SchemaFile::Holds::kFunctions:
      return schema.AddFunctions(records, place);
    case SchemaFile::Holds::kFiles:
      return schema.AddFiles(records, place);
    case SchemaFile::Holds::kRules:
      return schema.AddRules(records, place);
  }
  return {};
}

// Executes the file only if it is a developer's.
Value RecordsIn(lua_State* lua, const char* path) {
  if (const auto archived = EmbeddedRecordList(path)) {
    if (auto records = Unarchived<Value>(*archived)) return *std::move(records);
  }
  PushOwnChunk(lua, path);
  lua_call(lua, 0, 1);
  Value records;
  std::string why;
  if (!ToValue(lua, -1, records, why)) luaL_error(lua, "%s: %s", path, why.c_str());
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

Diagnostics LoadSchemaInto(lua_State* lua, Schema& schema) {
  Diagnostics diagnostics;
  ProvideMemory();
  StopCollecting(lua);
  for (const SchemaFile& file : kSchemaFiles) {
    const Place place{std::string("lua/") + file.path, 0};
    const Diagnostics found = AddTo(schema, file, RecordsIn(lua, file.path), place);
    diagnostics.insert(diagnostics.end(), found.begin(), found.end());
  }
  CollectAgain(lua);
  return diagnostics;
}

}  // namespace muster
