// The fields of one object of untrusted JSON. Every error names its field and its object; the first one is kept and
// stops all reading: later fields are null.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "muster/value.h"

namespace muster {

class ObjectFields {
 public:
  // `name`: of the object, for messages. `failure`: of the whole JSON; empty if there is none.
  ObjectFields(const Value& value, std::string name, std::string& failure);

  const std::string& name() const { return name_; }
  bool failed() const { return !failure_.empty(); }
  void Fail(std::string message);
  void Wrong(const char* key, const char* wanted);

  bool Has(const char* key) const { return map_ != nullptr && map_->contains(key); }
  // Fail if there is no such field.
  const Value& Get(const char* key);
  const Value::Map& Map(const char* key);
  const Value::List& List(const char* key);

 private:
  const Value::Map* map_;
  std::string name_;
  std::string& failure_;
};

// False if the value is not of this type or not in its range.
bool ReadElement(const Value& value, bool& out);
bool ReadElement(const Value& value, std::string& out);
template <std::integral T>
bool ReadElement(const Value& value, T& out) {  // not negative
  const std::int64_t* number = value.AsInt();
  if (number == nullptr || *number < 0 || !std::in_range<T>(*number)) return false;
  out = static_cast<T>(*number);
  return true;
}

}  // namespace muster
