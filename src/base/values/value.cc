#include "muster/value.h"

#include "base/values/shell_quote.h"

namespace muster {

double Value::Number() const {
  if (const auto* integer = AsInt()) return static_cast<double>(*integer);
  if (const auto* number = AsDouble()) return *number;
  return 0;
}

std::string_view Value::TypeName() const {
  static constexpr std::string_view kNames[] = {"nil", "bool", "int", "float", "string", "list", "map"};
  return kNames[data_.index()];
}

namespace {

bool IsName(const std::string& key) {
  if (key.empty() || (key[0] >= '0' && key[0] <= '9')) return false;
  for (const char c : key) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word) return false;
  }
  return true;
}

void Append(std::string& out, const Value& value) {
  struct Visitor {
    std::string& out;
    void operator()(const Null&) const { out += "null"; }
    void operator()(bool boolean) const { out += boolean ? "true" : "false"; }
    void operator()(std::int64_t integer) const { out += std::to_string(integer); }
    void operator()(double number) const { out += NumberText(number); }
    void operator()(const std::string& text) const { out += Quoted(text); }
    void operator()(const Value::List& list) const {
      out += '{';
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (i > 0) out += ", ";
        Append(out, list[i]);
      }
      out += '}';
    }
    void operator()(const Value::Map& map) const {
      out += '{';
      bool first = true;
      for (const auto& [key, mapped] : map) {
        if (!first) out += ", ";
        first = false;
        if (IsName(key)) {
          out += key;
        } else {
          out += '[' + Quoted(key) + ']';
        }
        out += " = ";
        Append(out, mapped);
      }
      out += '}';
    }
  };
  std::visit(Visitor{out}, value.data());
}

}  // namespace

std::string ToText(const Value& value) {
  std::string out;
  Append(out, value);
  return out;
}

}  // namespace muster
