#include "reference/outline.h"

namespace muster {
namespace {

Diagnostic Bad(const std::string& what) { return Error("schema", {}, "the outline of the reference: " + what); }

Result<std::vector<Outline::Entry>> Entries(const Value::Map& record, const std::string& list) {
  const auto found = record.find(list);
  const Value::List* records = found == record.end() ? nullptr : found->second.AsList();
  if (records == nullptr) return Fail(Bad(list + " is no list"));
  std::vector<Outline::Entry> entries;
  for (const Value& value : *records) {
    if (value.AsMap() == nullptr) return Fail(Bad(list + " holds what is no record"));
    Outline::Entry& entry = entries.emplace_back();
    for (const auto& [key, field] : *value.AsMap()) {
      std::string* member = key == "1"            ? &entry.name
                            : key == "title"      ? &entry.title
                            : key == "of"         ? &entry.function
                            : key == "doc"        ? &entry.doc
                            : key == "deprecated" ? &entry.deprecated
                            : key == "successor"  ? &entry.successor
                                                  : nullptr;
      if (member == nullptr || field.AsString() == nullptr) return Fail(Bad("bad field " + key + " in " + list));
      *member = *field.AsString();
    }
    if (entry.name.empty() || entry.doc.empty()) return Fail(Bad("a record of " + list + " has no name or no doc"));
    if (entry.title.empty()) entry.title = entry.name;
  }
  return entries;
}

}  // namespace

std::string DeprecationText(const Outline::Entry& function) {
  if (function.deprecated.empty()) return "";
  return "deprecated by MindSpore's documents from " + function.deprecated + " on" +
         (function.successor.empty() ? ", without a successor" : ", for " + function.successor);
}

Result<Outline> OutlineFromValue(const Value& record) {
  const Value::Map* map = record.AsMap();
  if (map == nullptr) return Fail(Bad("it is no table"));
  Outline outline;
  for (auto [list, member] : {std::pair("functions", &outline.functions), std::pair("groups", &outline.groups),
                              std::pair("areas", &outline.areas)}) {
    auto entries = Entries(*map, list);
    if (!entries) return Fail(entries.error());
    *member = *std::move(entries);
  }
  return outline;
}

}  // namespace muster
