#include "settings/schema/release_change.h"

#include <algorithm>
#include <cctype>

#include "settings/schema/attribute_text.h"
#include "settings/schema/setting_key.h"

namespace muster {
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
    while (end > begin && std::isdigit(static_cast<unsigned char>(text[end - 1])) == 0) --end;
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
