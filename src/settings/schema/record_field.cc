#include "settings/schema/record_field.h"

#include <algorithm>
#include <limits>

namespace muster::record {

Trouble Read(const Value& value, bool& out) {
  if (const bool* held = value.AsBool()) return out = *held, "";
  return "must be true or false";
}

Trouble Read(const Value& value, std::string& out) {
  if (const std::string* held = value.AsString()) return out = *held, "";
  return "must be text";
}

Trouble Read(const Value& value, std::optional<bool>& out) {
  bool held = false;
  const Trouble trouble = Read(value, held);
  if (trouble.empty()) out = held;
  return trouble;
}

Trouble Read(const Value& value, std::optional<double>& out) {
  if (!value.IsNumber()) return "must be a number";
  out = value.Number();
  return "";
}

Trouble Read(const Value& value, Value& out) {
  out = value;
  return "";
}

Trouble Read(const Value& value, std::map<std::string, Value>& out) {
  const Value::Map* map = value.AsMap();
  if (map == nullptr) return "must be a table with names";
  out = *map;
  return "";
}

Trouble Read(const Value& value, Release& out) {
  const std::string* text = value.AsString();
  const auto release = text == nullptr ? std::nullopt : ParseRelease(*text);
  if (!release) return "must be a release as text, such as \"1.6.2\"";
  out = *release;
  return "";
}

Trouble Read(const Value& value, std::optional<Release>& out) {
  Release release;
  if (Trouble trouble = Read(value, release); !trouble.empty()) return trouble;
  const std::string& text = *value.AsString();
  if (std::count(text.begin(), text.end(), '.') == 1) release.patch = std::numeric_limits<std::uint32_t>::max();
  out = release;
  return "";
}

Trouble Read(const Value& value, RuleSource& out) {
  const Value::Map* map = value.AsMap();
  if (map == nullptr || map->empty()) return "must name its document or MindSpore's behaviour";
  out = {};
  for (const auto& [key, text] : *map) {
    if (key != "document" && key != "behaviour") return "has a source with the unknown field \"" + key + "\"";
    if (Trouble trouble = Read(text, key == "document" ? out.document : out.behaviour); !trouble.empty()) {
      return "has a source whose " + key + " " + trouble;
    }
  }
  return "";
}

Trouble Read(const Value& value, std::map<std::string, RuleSource>& out) {
  const Value::Map* map = value.AsMap();
  if (map == nullptr) return "must be a table with names";
  out.clear();
  for (const auto& [name, source] : *map) {
    if (Trouble trouble = Read(source, out[name]); !trouble.empty()) return "holds \"" + name + "\", which " + trouble;
  }
  return "";
}

}  // namespace muster::record
