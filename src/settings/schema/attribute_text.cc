#include "settings/schema/attribute_text.h"

#include <utility>

namespace muster {

std::string AllowedText(const Attribute& attribute, bool in_file) {
  static constexpr std::pair<Kind, std::string_view> kWords[] = {
      {Kind::kBool, "true or false"},
      {Kind::kInt, "a whole number"},
      {Kind::kFloat, "a number"},
      {Kind::kString, "text"},
      {Kind::kEnum, "text"},
      {Kind::kSize, "a size such as \"3.5GB\", or a number of bytes"},
      {Kind::kPath, "a path"},
      {Kind::kListInt, "a list of whole numbers"},
      {Kind::kTuple, "a list of lists of whole numbers"},
      {Kind::kDict, "a table of sub-keys"},
      {Kind::kTextMap, "a table of names with a text each"},
      {Kind::kWords, "text"},
      {Kind::kListText, "a list of texts"},
      {Kind::kListMap, "a table of names with a list each"},
      {Kind::kLayouts, "a list of layouts"},
      {Kind::kAxes, "a list of names or lists of names"},
      {Kind::kAny, "a value"},
  };
  std::string text;
  for (const Kind kind : attribute.kinds) {
    for (const auto& [known, words] : kWords) {
      if (known != kind || text.find(words) != std::string::npos) continue;
      text += (text.empty() ? "" : " or ") + std::string(in_file && kind == Kind::kDict ? "an object" : words);
    }
  }
  return text;
}

std::string ChoicesText(const Attribute& attribute) {
  std::string text;
  for (const Value& choice : attribute.choices) {
    if (!text.empty()) text += ", ";
    text += NamedValueText(attribute, choice);
  }
  return text;
}

std::string RangeText(const Attribute& attribute, std::string_view unit) {
  std::string text;
  if (attribute.min && attribute.max) {
    text = NumberText(*attribute.min) + " to " + NumberText(*attribute.max);
  } else if (attribute.above) {
    text = "above " + NumberText(*attribute.above);
    if (attribute.max) text += " and at most " + NumberText(*attribute.max);
  } else if (attribute.min) {
    text = "at least " + NumberText(*attribute.min);
  } else if (attribute.max) {
    text = "at most " + NumberText(*attribute.max);
  }
  return text + std::string(unit);
}

std::string NamedValueText(const Attribute& attribute, const Value& value) {
  std::string text = ToText(value);
  for (const auto& [name, constant] : attribute.constants) {
    if (constant == value && value.AsString() == nullptr) text += " (" + name + ")";
  }
  return text;
}

std::string DefaultText(const Attribute& attribute, std::string_view device) {
  if (const auto found = attribute.default_on.find(std::string(device)); found != attribute.default_on.end())
    return NamedValueText(attribute, found->second);
  // The constant applies to a device without a value of its own; without a device, the text about all devices.
  const bool constant = attribute.default_text.empty() || (!attribute.default_on.empty() && !device.empty());
  if (!constant) return attribute.default_text;
  if (attribute.default_value.IsNull()) return "";
  std::string text = NamedValueText(attribute, attribute.default_value);
  for (const auto& [target, value] : attribute.default_on) {
    if (device.empty()) text += ", on " + target + " " + NamedValueText(attribute, value);
  }
  return text;
}

}  // namespace muster
