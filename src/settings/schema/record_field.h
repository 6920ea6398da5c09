// Reads fields of schema records: values of the types that records consist of. Independent of particular fields.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "muster/mindspore/schema.h"
#include "muster/value.h"

namespace muster::record {

// What is wrong with a field, as the end of a sentence ("must be text"); empty if it is valid.
using Trouble = std::string;

Trouble Read(const Value& value, bool& out);
Trouble Read(const Value& value, std::string& out);
Trouble Read(const Value& value, std::optional<bool>& out);
Trouble Read(const Value& value, std::optional<double>& out);
Trouble Read(const Value& value, Value& out);
Trouble Read(const Value& value, std::map<std::string, Value>& out);
Trouble Read(const Value& value, Release& out);
// A last release: "1.9" means every 1.9.
Trouble Read(const Value& value, std::optional<Release>& out);
// { document = "API page of 1.6", behaviour = "fails when …" }; at least one of the two.
Trouble Read(const Value& value, RuleSource& out);
Trouble Read(const Value& value, std::map<std::string, RuleSource>& out);

template <class T>
Trouble Read(const Value& value, std::vector<T>& out) {
  // An empty Lua table may be a list or a map.
  if (const Value::Map* map = value.AsMap(); map != nullptr && map->empty()) return out.clear(), "";
  const Value::List* list = value.AsList();
  if (list == nullptr) return "must be a list";
  out.clear();
  for (const Value& element : *list) {
    if (Trouble trouble = Read(element, out.emplace_back()); !trouble.empty())
      return "holds an element that " + trouble;
  }
  return "";
}

}  // namespace muster::record
