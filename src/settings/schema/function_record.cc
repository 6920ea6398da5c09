#include "settings/schema/function_record.h"

#include <utility>

#include "settings/schema/record_field.h"

namespace muster {
namespace {

using record::Read;
using record::Trouble;

Trouble ReadRepeats(const Value& value, Function& function) {
  static constexpr std::pair<std::string_view, Function::Repeats> kWords[] = {
      {"free", Function::Repeats::kFree}, {"same", Function::Repeats::kSame}, {"once", Function::Repeats::kOnce}};
  const std::string* text = value.AsString();
  for (const auto& [word, repeats] : kWords) {
    if (text != nullptr && *text == word) return function.repeats = repeats, "";
  }
  return "must be \"free\", \"same\" or \"once\"";
}

// A parameter record with the function's first release, unless it names a later one of its own.
Trouble ReadParameters(const Value& value, const Value& since, FunctionRecord& record) {
  const Value::Map* none = value.AsMap();  // an empty Lua table arrives as a map
  if (none != nullptr && none->empty()) {
    record.parameters.push_back(Value(Value::Map{{"1", Value(std::string(kCalled))},
                                                 {"kind", Value("bool")},
                                                 {"since", since},
                                                 {"doc", Value("Whether the function is called.")}}));
    return "";
  }
  const Value::List* list = value.AsList();
  if (list == nullptr) return "must be a list of records";
  for (const Value& element : *list) {
    const Value::Map* fields = element.AsMap();
    const auto name = fields == nullptr ? Value::Map::const_iterator{} : fields->find("1");
    if (fields == nullptr || name == fields->end() || name->second.AsString() == nullptr) {
      return "must be a list of records that begin with a name";
    }
    record.function.parameters.push_back(*name->second.AsString());
    Value::Map parameter = *fields;
    parameter.try_emplace("since", since);
    record.parameters.emplace_back(std::move(parameter));
  }
  return "";
}

Trouble ReadField(const std::string& key, const Value& value, const Value& since, FunctionRecord& record) {
  Function& function = record.function;
  if (key == "1") return Read(value, function.name);
  if (key == "doc") return Read(value, function.doc);
  if (key == "since") return Read(value, function.since);
  if (key == "devices") return Read(value, function.devices);
  if (key == "by_name") return Read(value, function.by_name);
  if (key == "repeats") return ReadRepeats(value, function);
  if (key == "parameters") return ReadParameters(value, since, record);
  return "is not known";
}

}  // namespace

Result<FunctionRecord> FunctionFromValue(const Value& value, const Place& place) {
  const Value::Map* fields = value.AsMap();
  const auto since = fields == nullptr ? Value::Map::const_iterator{} : fields->find("since");
  if (fields == nullptr || since == fields->end()) {
    return Fail(Error("schema", place, "a function record must be a table with a name and its first release"));
  }
  FunctionRecord record;
  for (const auto& [key, field] : *fields) {
    if (const Trouble trouble = ReadField(key, field, since->second, record); !trouble.empty()) {
      return Fail(Error("schema", place, "function record with a bad field: " + key + " " + trouble));
    }
  }
  if (record.function.name.empty() || record.parameters.empty()) {
    return Fail(Error("schema", place, "function record without a name or without parameters"));
  }
  return record;
}

}  // namespace muster
