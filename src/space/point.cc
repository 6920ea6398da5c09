#include "space/point.h"

#include "base/values/fingerprint.h"
#include "base/values/parse_number.h"

namespace muster {
namespace {

constexpr std::size_t kIdDigits = 16;

Value Canonical(const Value& value) {
  if (const double* number = value.AsDouble(); number != nullptr && *number == 0) return Value(0.0);
  if (const Value::List* list = value.AsList()) {
    Value::List canonical;
    for (const Value& element : *list) canonical.push_back(Canonical(element));
    return Value(std::move(canonical));
  }
  if (const Value::Map* map = value.AsMap()) {
    Value::Map canonical;
    for (const auto& [name, element] : *map) canonical.emplace(name, Canonical(element));
    return Value(std::move(canonical));
  }
  return value;
}

}  // namespace

std::string PointId(const Point& point) { return Sha256Hex(ToText(Canonical(Value(point)))).substr(0, kIdDigits); }

std::optional<std::uint64_t> PointNumber(const std::string& id) { return ParseNumber<std::uint64_t>(id, 16); }

std::string PointText(const Point& point) {
  std::string text;
  for (const auto& [name, value] : point) {
    text += (text.empty() ? "" : ", ") + name + "=" + (value.AsString() != nullptr ? *value.AsString() : ToText(value));
  }
  return text;
}

}  // namespace muster
