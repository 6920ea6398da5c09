#include "settings/schema/setting_key.h"

namespace muster {

std::string GetterName(std::string_view api) { return "g" + std::string(api.substr(1)); }

std::string KeyOf(std::string_view api, std::string_view name) {
  std::string key;
  key.reserve(api.size() + 1 + name.size());
  return key.append(api).append(1, '.').append(name);
}

bool IsKeyOf(std::string_view key, std::string_view api, std::string_view name) {
  return key.size() == api.size() + 1 + name.size() && key.ends_with(name) && key.starts_with(api) &&
         key[api.size()] == '.';
}

std::string ValueKey(const Value& value) {
  const std::string* text = value.AsString();
  return text == nullptr ? ToText(value) : *text;
}

std::optional<Value> Translated(const Attribute& from, const Value& value) {
  if (from.shared_values.empty()) return value;
  const auto found = from.shared_values.find(ValueKey(value));
  return found == from.shared_values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace muster
