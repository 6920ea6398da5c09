#include "settings/schema/schema_text.h"

#include <cctype>
#include <utility>

#include "base/values/text_parts.h"
#include "settings/schema/schema.h"
#include "settings/schema/schema_records.h"

namespace muster {

std::string SourceText(const RuleSource& source) {
  std::string text = source.document;
  if (!source.behaviour.empty()) text += (text.empty() ? "MindSpore " : "; MindSpore ") + source.behaviour;
  return text;
}

Note RuleNote(const RuleSource& source) { return {"rule: " + SourceText(source), {}}; }

void Cite(Diagnostic& diagnostic, const Attribute& attribute, std::string_view field) {
  const auto source = attribute.sources.find(std::string(field));
  if (source != attribute.sources.end()) diagnostic.notes.push_back(RuleNote(source->second));
}

std::string AllowedText(const Attribute& attribute, bool in_file) {
  std::string text;
  for (const Kind kind : attribute.kinds) {
    const std::string_view words = NamesOf(kind).words;
    if (text.find(words) != std::string::npos) continue;
    text += (text.empty() ? "" : " or ") + std::string(in_file && kind == Kind::kDict ? "an object" : words);
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

namespace {

// Removes releases that follow the framework's name in the text.
std::string WithoutReleases(const std::string& text) {
  static constexpr std::string_view kFramework = "MindSpore ";
  std::string without;
  std::size_t at = 0;
  while (true) {
    const std::size_t found = text.find(kFramework, at);
    if (found == std::string::npos) return without + text.substr(at);
    std::size_t end = found + kFramework.size();
    without += text.substr(at, end - at);
    const std::size_t begin = end;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.' || text[end] == '-')) {
      ++end;
    }
    // A release ends with a digit; a full stop after it belongs to the sentence.
    while (end > begin && !IsDigit(text[end - 1])) --end;
    at = end;
  }
}

Diagnostic WithoutReleases(Diagnostic diagnostic) {
  diagnostic.message = WithoutReleases(diagnostic.message);
  diagnostic.hint = WithoutReleases(diagnostic.hint);
  diagnostic.notes.clear();
  return diagnostic;
}

bool IsSet(const Value::Map& set, std::string_view function, const std::string& name) {
  return !name.empty() && set.contains(KeyOf(function, name));
}

// Whether a fresh process behaves the same: an equal value, or one that reads the same.
bool SameDefault(const Attribute& before, const Attribute& after, std::string_view device) {
  const std::string text = DefaultText(before, device);
  if (text.empty() || text == DefaultText(after, device)) return true;
  const auto read = after.read_values.find(ValueKey(before.default_value));
  return read != after.read_values.end() && read->second == after.default_value;
}

class Comparison {
 public:
  Comparison(const Schema& schema, const Release& from, const Release& to, const Value::Map& set)
      : schema_(schema), from_(from), to_(to), set_(set) {
    const auto target = set.find(KeyOf(kSetContext, "device_target"));
    if (target != set.end() && target->second.AsString() != nullptr) device_ = *target->second.AsString();
  }

  std::vector<DefaultChange> Run() {
    std::vector<std::string> functions = schema_.Functions();
    std::stable_partition(functions.begin(), functions.end(), [](auto& function) { return function == kSetContext; });
    for (const std::string& function : functions) {
      const auto first = set_.lower_bound(function + ".");
      const bool used = first != set_.end() && first->first.starts_with(function + ".");
      if (!used && function != kSetContext) continue;
      for (const std::string& name : schema_.Names(function, to_)) OfAttribute(function, name);
    }
    return std::move(changes_);
  }

 private:
  void OfAttribute(const std::string& function, const std::string& name) {
    const Attribute* before = schema_.Find(function, name, from_);
    const Attribute* after = schema_.Find(function, name, to_);
    if (before == nullptr || before->documented_only || after->withdrawn || after->deprecated ||
        !after->tells_if_set.empty()) {
      return;
    }
    const auto value = set_.find(KeyOf(function, name));
    if (value != set_.end()) {
      if (value->second.AsMap() != nullptr) OfKeys(function, *before, *after, *value->second.AsMap());
      return;
    }
    if (IsSet(set_, function, after->shares) || IsSet(set_, function, after->same_as)) return;
    // Nobody relies on the default of a switch that no document names.
    if (!before->undocumented || !after->undocumented) Compare(function, name, *before, *after);
  }

  void OfKeys(const std::string& function, const Attribute& before, const Attribute& after, const Value::Map& table) {
    for (const Attribute& key : after.keys) {
      if (!key.ExistsIn(to_) || !key.when.empty() || table.contains(key.name)) continue;
      const auto old = std::find_if(before.keys.begin(), before.keys.end(), [&](const Attribute& candidate) {
        return candidate.name == key.name && candidate.ExistsIn(from_);
      });
      if (old != before.keys.end()) Compare(function, after.name + "." + key.name, *old, key);
    }
  }

  void Compare(const std::string& function, const std::string& name, const Attribute& before, const Attribute& after) {
    if (SameDefault(before, after, device_)) return;
    const std::string text = DefaultText(after, device_);
    if (!text.empty()) changes_.push_back({function, name, DefaultText(before, device_), text});
  }

  const Schema& schema_;
  const Release& from_;
  const Release& to_;
  const Value::Map& set_;
  std::string device_;
  std::vector<DefaultChange> changes_;
};

}  // namespace

std::vector<DefaultChange> DefaultChanges(const Schema& schema, const Release& from, const Release& to,
                                          const Value::Map& set) {
  return Comparison(schema, from, to, set).Run();
}

Diagnostics NewFindings(const Diagnostics& here, const Diagnostics& there) {
  Diagnostics known;
  for (const Diagnostic& diagnostic : here) known.push_back(WithoutReleases(diagnostic));
  Diagnostics fresh;
  for (const Diagnostic& diagnostic : there) {
    if (std::find(known.begin(), known.end(), WithoutReleases(diagnostic)) == known.end()) fresh.push_back(diagnostic);
  }
  return fresh;
}

}  // namespace muster
