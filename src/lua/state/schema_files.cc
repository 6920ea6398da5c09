#include "lua/state/schema_files.h"

#include <cstdint>

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

}  // namespace

Diagnostics AddSchemaFiles(Schema& schema, const std::function<Value(const std::string& path)>& content) {
  Diagnostics problems;
  for (const SchemaFile& file : kSchemaFiles) {
    const Place place{std::string("lua/") + file.path, 0};
    const Diagnostics found = AddTo(schema, file, content(file.path), place);
    problems.insert(problems.end(), found.begin(), found.end());
  }
  return problems;
}

}  // namespace muster
