#include "wire/archive/json_schema.h"

#include "base/values/value_json.h"
#include "base/values/value_text.h"

namespace muster::schema {

namespace {

std::string Joined(char open, const std::vector<std::string>& parts, char close) {
  std::string text(1, open);
  for (const std::string& part : parts) text += (text.size() > 1 ? "," : "") + part;
  return text + close;
}

std::string Quoted(std::string_view text) {
  std::string quoted;
  AppendJsonString(text, quoted);
  return quoted;
}

// The text with line ends and blanks between its tokens.
std::string InLines(std::string_view json) {
  std::string text;
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string || c == '"') {
      text += c;
      if (c == '\\' && in_string)
        text += json[++i];
      else if (c == '"')
        in_string = !in_string;
      continue;
    }
    const bool opens = c == '{' || c == '[';
    const bool closes = c == '}' || c == ']';
    const bool empty = opens && i + 1 < json.size() && (json[i + 1] == '}' || json[i + 1] == ']');
    if (empty) {
      text += c;
      text += json[++i];
      continue;
    }
    if (closes) text += "\n" + std::string(--depth, ' ');
    text += c;
    if (opens) ++depth;
    if (opens || c == ',') text += "\n" + std::string(depth, ' ');
    if (c == ':') text += ' ';
  }
  return text + "\n";
}

}  // namespace

std::string String() { return R"({"type":"string"})"; }
std::string Truth() { return R"({"type":"boolean"})"; }
std::string Count() { return R"({"type":"integer","minimum":0})"; }
std::string Number() { return R"({"type":["number","null"]})"; }
std::string Anything() { return "{}"; }
std::string Only(std::int64_t value) { return "{\"const\":" + std::to_string(value) + "}"; }

std::string OneOf(std::span<const std::string_view> names) {
  std::vector<std::string> quoted;
  for (const std::string_view name : names) quoted.push_back(Quoted(name));
  return "{\"enum\":" + Joined('[', quoted, ']') + "}";
}

std::string List(const std::string& element) { return "{\"type\":\"array\",\"items\":" + element + "}"; }
std::string Map(const std::string& mapped) { return "{\"type\":\"object\",\"additionalProperties\":" + mapped + "}"; }

std::string Object(const std::vector<Member>& members) {
  std::vector<std::string> properties;
  std::vector<std::string> required;
  for (const Member& member : members) {
    properties.push_back(Quoted(member.name) + ":" + member.schema);
    if (member.required) required.push_back(Quoted(member.name));
  }
  return "{\"type\":\"object\",\"properties\":" + Joined('{', properties, '}') +
         ",\"required\":" + Joined('[', required, ']') + "}";
}

std::string Either(const std::vector<std::string>& schemas) { return "{\"anyOf\":" + Joined('[', schemas, ']') + "}"; }

std::string OrNull(std::string schema) {
  constexpr std::string_view kTyped = "{\"type\":\"";
  constexpr std::string_view kNamed = "{\"enum\":[";
  constexpr std::string_view kMayBeNull = "{\"type\":[";
  if (schema == Anything() || schema.starts_with(kMayBeNull)) return schema;
  if (schema.starts_with(kNamed)) return schema.insert(kNamed.size(), "null,");
  if (!schema.starts_with(kTyped)) return Either({schema, R"({"type":"null"})"});
  schema.insert(schema.find('"', kTyped.size()) + 1, ",\"null\"]");
  return schema.insert(kTyped.size() - 1, "[");
}

std::string Document(const std::string& schema, std::string_view title, std::string_view description) {
  const std::string head = R"({"$schema":"https://json-schema.org/draft/2020-12/schema","title":)" + Quoted(title) +
                           ",\"description\":" + Quoted(description);
  return InLines(head + (schema == Anything() ? "}" : "," + schema.substr(1)));
}

}  // namespace muster::schema
