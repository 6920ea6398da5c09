#include "settings/values/value_field.h"

namespace muster {

const Value* FieldOf(const Value::Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

const Value* FieldOf(const Value& value, const std::string& name) {
  return value.AsMap() == nullptr ? nullptr : FieldOf(*value.AsMap(), name);
}

std::string TextField(const Value::Map& map, const std::string& name) {
  const Value* field = FieldOf(map, name);
  return field != nullptr && field->AsString() != nullptr ? *field->AsString() : std::string();
}

std::string TextField(const Value& value, const std::string& name) {
  return value.AsMap() == nullptr ? std::string() : TextField(*value.AsMap(), name);
}

std::int64_t NumberField(const Value& value, const std::string& name) {
  const Value* field = FieldOf(value, name);
  return field != nullptr && field->AsInt() != nullptr ? *field->AsInt() : 0;
}

bool TruthField(const Value& value, const std::string& name) {
  const Value* field = FieldOf(value, name);
  return field != nullptr && field->AsBool() != nullptr && *field->AsBool();
}

const Value::List& ListField(const Value& value, const std::string& name) {
  static const Value::List kNone;
  const Value* field = FieldOf(value, name);
  return field != nullptr && field->AsList() != nullptr ? *field->AsList() : kNone;
}

std::vector<std::string> TextsField(const Value& value, const std::string& name) {
  std::vector<std::string> texts;
  for (const Value& text : ListField(value, name)) {
    if (text.AsString() != nullptr) texts.push_back(*text.AsString());
  }
  return texts;
}

}  // namespace muster
