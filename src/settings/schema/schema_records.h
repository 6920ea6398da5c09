// The schema as it is stored: records of attributes, functions and rules, as Lua files return them, and an archive of
// all of them, which is made when muster is built. The fields of an attribute are described once for both.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/mindspore/schema.h"
#include "muster/result.h"

namespace muster {

// Parses records of functions with parameters (Schema::AddFunctions).

struct FunctionRecord {
  Function function;
  Value::List parameters;  // records of attributes; each begins no earlier than the function
};

// Kind "schema" for unknown fields and wrong types, at `place`.
Result<FunctionRecord> FunctionFromValue(const Value& record, const Place& place);

// A whole schema as bytes. They are made when muster is built: reading and checking the records of ten releases in
// every process would take a large part of the time of a check.

std::string ArchiveOfSchema(const Schema& schema);
// Nothing if the bytes are no archive of a schema. They are the program's own: the numbers of enums are not checked.
std::optional<Schema> SchemaInArchive(std::string_view bytes);

}  // namespace muster
