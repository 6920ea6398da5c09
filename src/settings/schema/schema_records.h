// The schema as it is stored: records of attributes, functions and rules, as Lua files return them, and an archive of
// all of them, which is made when muster is built. The fields of an attribute are described once for both.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/mindspore/schema.h"
#include "muster/result.h"

namespace muster {

// A kind of value: its name in records, in words, and as a type in definitions for editors (annotations of LuaLS).
struct KindNames {
  Kind kind;
  std::string_view name;
  std::string_view words;
  std::string_view type;  // of tables with sub-keys: empty, since each has a class of its own
};
inline constexpr KindNames kKindNames[] = {
    {Kind::kBool, "bool", "true or false", "boolean"},
    {Kind::kInt, "int", "a whole number", "integer"},
    {Kind::kFloat, "float", "a number", "number"},
    {Kind::kString, "string", "text", "string"},
    {Kind::kEnum, "enum", "text", "string"},
    {Kind::kSize, "size", "a size such as \"3.5GB\", or a number of bytes", "string|number"},
    {Kind::kPath, "path", "a path", "string"},
    {Kind::kListInt, "list_int", "a list of whole numbers", "integer[]"},
    {Kind::kTuple, "tuple", "a list of lists of whole numbers", "integer[][]"},
    {Kind::kDict, "dict", "a table of sub-keys", ""},
    {Kind::kTextMap, "text_map", "a table of names with a text each", "table<string, string>"},
    {Kind::kWords, "words", "text", "string"},
    {Kind::kListText, "list_text", "a list of texts", "string[]"},
    {Kind::kListMap, "list_map", "a table of names with a list each", "table<string, table>"},
    {Kind::kLayouts, "layouts", "a list of layouts", ""},
    {Kind::kAxes, "axes", "a list of names or lists of names", "table"},
    {Kind::kAny, "any", "a value", "any"},
};

const KindNames& NamesOf(Kind kind);

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
