#include "wire/archive/json_fields.h"

#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "base/values/value_text.h"

namespace muster {

void JsonOutput::PutText(std::string_view text) {
  const auto needs_no_escape = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  if (!std::all_of(text.begin(), text.end(), needs_no_escape))
    return AppendJsonString(Readable(std::string(text)), text_);
  text_ += '"';
  text_ += text;
  text_ += '"';
}

void JsonOutput::PutNumber(double number) {
  if (!std::isfinite(number)) return PutWord("null");
  const std::size_t begin = text_.size();
  fmt::format_to(std::back_inserter(text_), "{}", number);
  // A floating-point number remains one when it is read back.
  if (text_.find_first_of(".e", begin) == std::string::npos) text_ += ".0";
}

void JsonOutput::PutSigned(std::int64_t number) {
  const fmt::format_int digits(number);
  text_.append(digits.data(), digits.size());
}

void JsonOutput::PutUnsigned(std::uint64_t number) {
  const fmt::format_int digits(std::min(number, largest_));
  text_.append(digits.data(), digits.size());
}

std::string NameOf(const JsonObject& object) {
  const std::string outer = object.outer == nullptr ? std::string() : NameOf(*object.outer);
  const std::string by = object.index ? std::to_string(*object.index) : std::string(object.entry);
  if (!object.noun.empty()) {
    std::string name(object.noun);
    const std::size_t gap = name.find("{}");
    if (gap != std::string::npos) name.replace(gap, 2, by.empty() ? outer : by);
    return name;
  }
  std::string name = outer + (outer.empty() ? "" : ".") + std::string(object.member);
  if (by.empty()) return name;
  return object.index ? name + "[" + by + "]" : name + "." + by;
}

namespace json_detail {

std::string WrongMember(const JsonObject& object, std::string_view member, std::string_view wanted) {
  const std::string name = NameOf(object);
  return fmt::format("\"{}\"{}{} must be {}", member, name.empty() ? "" : " of ", name, wanted);
}

std::string MissingMember(const JsonObject& object, std::string_view member) {
  const std::string name = NameOf(object);
  return name.empty() ? fmt::format("missing member \"{}\"", member)
                      : fmt::format("{} has no field \"{}\"", name, member);
}

std::string OtherMember(const JsonObject& object, std::span<const std::string_view> known) {
  for (const auto& [key, value] : *object.members) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string name = NameOf(object);
    return fmt::format("unknown key {}{}{}", Quoted(key), name.empty() ? "" : " of ", name);
  }
  return {};
}

std::string OneOf(std::span<const std::string_view> names) { return fmt::format("one of {}", fmt::join(names, ", ")); }

}  // namespace json_detail
}  // namespace muster
