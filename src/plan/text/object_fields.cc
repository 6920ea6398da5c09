#include "plan/text/object_fields.h"

namespace muster {

ObjectFields::ObjectFields(const Value& value, std::string name, std::string& failure)
    : map_(value.AsMap()), name_(std::move(name)), failure_(failure) {
  if (map_ == nullptr) Fail(name_ + " must be an object");
}

void ObjectFields::Fail(std::string message) {
  if (!failed()) failure_ = std::move(message);
}

void ObjectFields::Wrong(const char* key, const char* wanted) {
  Fail("\"" + std::string(key) + "\" of " + name_ + " must be " + wanted);
}

const Value& ObjectFields::Get(const char* key) {
  static const Value kNull;
  if (map_ == nullptr || failed()) return kNull;
  const auto found = map_->find(key);
  if (found != map_->end()) return found->second;
  Fail(name_ + " has no field \"" + key + "\"");
  return kNull;
}

const Value::Map& ObjectFields::Map(const char* key) {
  static const Value::Map kEmpty;
  const Value::Map* map = Get(key).AsMap();
  if (map == nullptr) Wrong(key, "an object");
  return map == nullptr ? kEmpty : *map;
}

const Value::List& ObjectFields::List(const char* key) {
  static const Value::List kEmpty;
  const Value::List* list = Get(key).AsList();
  if (list == nullptr) Wrong(key, "a list");
  return list == nullptr ? kEmpty : *list;
}

bool ReadElement(const Value& value, bool& out) {
  const bool* held = value.AsBool();
  if (held != nullptr) out = *held;
  return held != nullptr;
}

bool ReadElement(const Value& value, std::string& out) {
  const std::string* text = value.AsString();
  if (text != nullptr) out = *text;
  return text != nullptr;
}

}  // namespace muster
