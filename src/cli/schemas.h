// JSON Schemas of what muster stores and of what its commands print with --json: one list, for `muster docs --schema`
// and the installed files.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muster {

struct PublishedSchema {
  std::string_view name;  // "report"
  std::string_view of;    // what it describes, in a few words
  std::string (*make)();  // without title; wire/archive/json_schema.h
};

// In the order of docs/schemas.md.
std::span<const PublishedSchema> PublishedSchemas();

// The whole schema, with the name as its title.
std::string SchemaText(const PublishedSchema& schema);

// As a table, and as JSON: {"format": 1, "schemas": [{"name", "of"}]}.
std::string SchemaTable();
std::string SchemaListJson();

}  // namespace muster
