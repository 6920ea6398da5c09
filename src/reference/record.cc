#include "reference/record.h"

#include <algorithm>

namespace muster {

const Value& FieldOf(const Value& record, const char* key) {
  static const Value nothing;
  const Value::Map* map = record.AsMap();
  const auto found = map == nullptr ? Value::Map::const_iterator() : map->find(key);
  return map == nullptr || found == map->end() ? nothing : found->second;
}

std::string TextOf(const Value& record, const char* key) {
  const std::string* text = FieldOf(record, key).AsString();
  return text == nullptr ? "" : *text;
}

bool TruthOf(const Value& record, const char* key) {
  const bool* truth = FieldOf(record, key).AsBool();
  return truth != nullptr && *truth;
}

const Value::List& ListOf(const Value& record, const char* key) {
  static const Value::List none;
  const Value::List* list = FieldOf(record, key).AsList();
  return list == nullptr ? none : *list;
}

std::string Ticked(const std::string& text) { return "`" + text + "`"; }

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace muster
