#include "settings/check/check_table.h"

#include <algorithm>
#include <set>

#include "base/values/diagnostics.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

constexpr std::string_view kUncut = "None";
constexpr std::string_view kInterleaved = "interleaved_parallel";

std::size_t LengthOf(const Value::Map& layout, const std::string& name) {
  const Value* member = FieldOf(layout, name);
  return member == nullptr || member->AsList() == nullptr ? 0 : member->AsList()->size();
}

// The axes of tensor_map in order, those of inner lists too.
std::vector<std::string> AxesIn(const Value& tensor_map) {
  std::vector<std::string> axes;
  if (tensor_map.AsList() == nullptr) return axes;  // an empty table
  for (const Value& element : *tensor_map.AsList()) {
    if (const std::string* name = element.AsString()) axes.push_back(*name);
    if (element.AsList() == nullptr) continue;
    for (const Value& inner : *element.AsList()) axes.push_back(*inner.AsString());
  }
  return axes;
}

// One layout whose sub-keys have the right types.
class LayoutCheck {
 public:
  LayoutCheck(const Value::Map& layout, const std::string& path, const CheckedIn& where, Diagnostics& problems)
      : layout_(layout), path_(path), where_(where), problems_(problems) {}

  bool Run() { return NamesAreDistinct() && EveryAxisHasAName() && TensorMapNamesAxes() && RanksFillTheMatrix(); }

 private:
  bool Refuse(const std::string& key, const std::string& what, std::string hint = {}) {
    Diagnostic problem = Error("conflict", where_.At(path_), path_ + "." + key + " " + what, std::move(hint));
    problem.notes.push_back(RuleNote({"", "refuses such a Layout"}));
    problems_.push_back(std::move(problem));
    return false;
  }

  bool NamesAreDistinct() {
    std::set<std::string> seen;
    for (const Value& name : *FieldOf(layout_, "alias_name")->AsList()) {
      const std::string& text = *name.AsString();
      if (text.empty()) return Refuse("alias_name", "holds an empty name");
      if (text == kUncut) {
        return Refuse("alias_name", "holds \"None\", which stands for a dimension that is not cut",
                      "give the axis another name");
      }
      if (text == kInterleaved) return Refuse("alias_name", "holds interleaved_parallel, which no data set can have");
      if (!seen.insert(text).second) return Refuse("alias_name", "names " + ToText(name) + " twice");
    }
    return true;
  }

  bool EveryAxisHasAName() {
    const std::size_t axes = LengthOf(layout_, "device_matrix");
    const std::size_t names = LengthOf(layout_, "alias_name");
    if (axes == names) return true;
    return Refuse("alias_name",
                  "has " + Counted(names, "name") + " for a device_matrix of " + Counted(axes, "axis", "axes"),
                  "give each axis of the matrix one name");
  }

  bool TensorMapNamesAxes() {
    const Value::List& names = *FieldOf(layout_, "alias_name")->AsList();
    std::set<std::string> used;
    for (const std::string& axis : AxesIn(*FieldOf(layout_, "tensor_map"))) {
      if (axis == kUncut) continue;
      if (std::find(names.begin(), names.end(), Value(axis)) == names.end()) {
        return Refuse("tensor_map", "names " + ToText(Value(axis)) + ", which is no axis of " + ToText(Value(names)),
                      "\"None\" leaves a dimension uncut");
      }
      if (!used.insert(axis).second) return Refuse("tensor_map", "names " + ToText(Value(axis)) + " twice");
    }
    return true;
  }

  bool RanksFillTheMatrix() {
    const Value* ranks = FieldOf(layout_, "rank_list");
    const auto devices = DevicesOf(Value(layout_));
    if (ranks == nullptr || !devices) return true;
    const std::size_t given = ranks->AsList() == nullptr ? 0 : ranks->AsList()->size();
    if (given == static_cast<std::size_t>(*devices)) return true;
    return Refuse("rank_list", "has " + std::to_string(given) + " ranks for the " + std::to_string(*devices) +
                                   " devices of device_matrix = " + ToText(*FieldOf(layout_, "device_matrix")));
  }

  const Value::Map& layout_;
  const std::string& path_;
  const CheckedIn& where_;
  Diagnostics& problems_;
};

}  // namespace

bool IsListOfLayouts(const Value& value) {
  const Value::List* list = value.AsList();
  return list != nullptr && !list->empty() && std::all_of(list->begin(), list->end(), [](const Value& element) {
           return element.AsMap() != nullptr && !element.AsMap()->empty();
         });
}

bool IsListOfAxes(const Value& value) {
  const Value::Map* none = value.AsMap();  // an empty Lua table arrives as a map
  if (none != nullptr) return none->empty();
  const auto is_text = [](const Value& element) { return element.AsString() != nullptr; };
  return value.AsList() != nullptr &&
         std::all_of(value.AsList()->begin(), value.AsList()->end(), [&](const Value& element) {
           const Value::List* inner = element.AsList();
           return is_text(element) || (inner != nullptr && std::all_of(inner->begin(), inner->end(), is_text));
         });
}

std::optional<Value> CheckLayouts(const Attribute& attribute, const Value& value, const std::string& path,
                                  const CheckedIn& where, Diagnostics& problems) {
  Value::List stored;
  bool accepted = true;
  for (const Value& element : *value.AsList()) {
    const std::string at = path + "[" + std::to_string(stored.size() + 1) + "]";
    auto layout = CheckTable(attribute, element, at, where, problems);
    accepted = layout && LayoutCheck(*layout->AsMap(), at, where, problems).Run() && accepted;
    stored.push_back(layout ? std::move(*layout) : Value());
  }
  return accepted ? std::optional(Value(std::move(stored))) : std::nullopt;
}

std::optional<std::int64_t> DevicesOf(const Value& layout) {
  const Value* matrix = layout.AsMap() == nullptr ? nullptr : FieldOf(*layout.AsMap(), "device_matrix");
  if (matrix == nullptr || matrix->AsList() == nullptr) return std::nullopt;
  std::int64_t product = 1;
  for (const Value& axis : *matrix->AsList()) {
    if (axis.AsInt() == nullptr || __builtin_mul_overflow(product, *axis.AsInt(), &product)) return std::nullopt;
  }
  return product;
}

namespace {

class TableCheck {
 public:
  TableCheck(const Attribute& attribute, const Value::Map& table, const std::string& path, const CheckedIn& where,
             Diagnostics& problems)
      : attribute_(attribute), table_(table), path_(path), where_(where), problems_(problems) {}

  std::optional<Value> Run() {
    if (attribute_.not_empty && table_.empty()) {
      Refuse("empty", path_ + " must not be empty", "its sub-keys: " + KeysText());
      return std::nullopt;
    }
    bool well = true;
    Value::Map stored;
    for (const auto& [name, value] : table_) {
      const Attribute* key = FindKey(name);
      if (key == nullptr) {
        UnknownKey(name);
        well = well && attribute_.ignores_unknown;
        continue;
      }
      if (key->deprecated) {
        problems_.push_back(Warning("deprecated", where_.At(Below(name)),
                                    Below(name) + " is deprecated in " + InRelease(), UseInstead(*key)));
      }
      if (key->undocumented) {
        problems_.push_back(Warning("undocumented", where_.At(Below(name)),
                                    Below(name) + " is taken by " + InRelease() + " without being documented"));
      }
      auto checked = CheckValue(*key, value, Below(name), where_, problems_);
      well = well && checked.has_value();
      // An optional null means that there is no value.
      if (checked && checked->IsNull() && !key->required) continue;
      if (checked) stored.emplace(name, std::move(*checked));
    }
    for (const Attribute& key : attribute_.keys) {
      if (!key.required || !key.ExistsIn(where_.release) || !Holds(key) || table_.contains(key.name)) continue;
      if (key.null) {  // nil in a Lua table is absent
        stored.emplace(key.name, Null{});
        continue;
      }
      Refuse("missing_subkey", Subject() + " needs the " + Word() + " \"" + key.name + "\"",
             "its " + Word() + "s: " + KeysText());
      well = false;
    }
    for (const auto& [name, value] : stored) well = FitsBeside(*FindKey(name), value) && well;
    if (!well) return std::nullopt;
    return Value(std::move(stored));
  }

 private:
  void Refuse(const char* kind, std::string message, std::string hint = {}) {
    problems_.push_back(Error(kind, where_.At(path_), std::move(message), std::move(hint)));
  }
  bool InFile() const { return where_.lines != nullptr; }
  std::string InRelease() const { return "MindSpore " + ReleaseText(where_.release); }
  std::string Subject() const { return path_.empty() ? "the file" : path_; }
  std::string Word() const { return InFile() ? "key" : "sub-key"; }
  std::string Below(const std::string& name) const { return path_.empty() ? name : path_ + "." + name; }

  bool Holds(const Attribute& key) const {
    return std::all_of(key.when.begin(), key.when.end(), [&](const auto& condition) {
      const auto found = table_.find(condition.first);
      return found != table_.end() && found->second == condition.second;
    });
  }

  const Attribute* FindKey(const std::string& name) const {
    for (const Attribute& key : attribute_.keys) {
      if (key.name == name && key.ExistsIn(where_.release) && Holds(key)) return &key;
    }
    return nullptr;
  }

  std::vector<std::string> KeyNames() const {
    std::vector<std::string> names;
    for (const Attribute& key : attribute_.keys) {
      if (key.ExistsIn(where_.release) && std::find(names.begin(), names.end(), key.name) == names.end()) {
        names.push_back(key.name);
      }
    }
    return names;
  }

  std::string KeysText() const {
    std::string text;
    for (const std::string& name : KeyNames()) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  static std::string UseInstead(const Attribute& key) {
    return key.successor.empty() ? "" : "use " + key.successor + " instead";
  }

  void UnknownKey(const std::string& name) {
    const std::vector<std::string> names = KeyNames();
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      NeedsSibling(name);
      return;
    }
    for (const Attribute& key : attribute_.keys) {
      if (key.name != name) continue;
      const bool later = where_.release < key.since;
      Unknown(name, "release",
              Below(name) + " is not in " + InRelease() +
                  (later ? ": only from " + ReleaseText(key.since) + " on" : ": it has been removed"),
              later ? "" : UseInstead(key));
      return;
    }
    Unknown(name, "unknown_subkey",
            attribute_.ignores_unknown ? InRelease() + " ignores the unknown key \"" + Below(name) + "\""
                                       : Subject() + " has no " + Word() + " \"" + name + "\" in " + InRelease(),
            DidYouMean(name, names));
  }
  void Unknown(const std::string& name, const char* kind, std::string message, std::string hint = {}) {
    Diagnostic unknown = Error(kind, where_.At(Below(name)), std::move(message), std::move(hint));
    if (attribute_.ignores_unknown) unknown.severity = Severity::kWarning;
    problems_.push_back(std::move(unknown));
  }

  // A known sub-key without the sibling value that it needs. A sibling that is required or invalid itself is reported
  // elsewhere.
  void NeedsSibling(const std::string& name) {
    for (const Attribute& key : attribute_.keys) {
      if (key.name != name || !key.ExistsIn(where_.release)) continue;
      for (const auto& [sibling_name, wanted] : key.when) {
        const Attribute* sibling = FindKey(sibling_name);
        if (sibling == nullptr) continue;
        const auto found = table_.find(sibling_name);
        const std::string needs = path_ + "." + name + " needs " + sibling_name + " = " + ToText(wanted) + " beside it";
        Diagnostics elsewhere;
        if (found == table_.end()) {
          if (!sibling->required) Refuse("missing_subkey", needs);
        } else if (found->second != wanted && CheckValue(*sibling, found->second, path_, where_, elsewhere)) {
          Refuse("conflict", needs + ", not " + ToText(found->second));
        }
        return;
      }
    }
  }

  // The requirements of this sub-key's value for other sub-keys.
  bool FitsBeside(const Attribute& key, const Value& value) {
    static const Value::Map kNone;
    const auto asked = [&](const std::map<std::string, Value>& by_value) -> const Value::Map& {
      const auto found = by_value.find(value.AsString() != nullptr ? *value.AsString() : ToText(value));
      return found == by_value.end() || found->second.AsMap() == nullptr ? kNone : *found->second.AsMap();
    };
    const std::string shown = path_ + "." + key.name + " = " + ToText(value);
    bool well = true;
    for (const auto& [sibling, wanted] : asked(key.needs)) {
      const auto found = table_.find(sibling);
      if (found == table_.end()) {
        const Attribute* record = FindKey(sibling);
        if (record != nullptr && record->required) continue;  // already reported
        Refuse("missing_subkey", shown + " needs " + sibling + " = " + ToText(wanted) + " beside it");
        Cite(problems_.back(), key, "needs");
        well = false;
      } else if (found->second != wanted) {
        well = Contradicts(key, "needs", shown, sibling, wanted, found->second);
      }
    }
    for (const auto& [sibling, wanted] : asked(key.fits)) {
      const auto found = table_.find(sibling);
      if (found == table_.end() || found->second == wanted) continue;
      well = Contradicts(key, "fits", shown, sibling, wanted, found->second);
    }
    return well;
  }
  bool Contradicts(const Attribute& key, const char* field, const std::string& shown, const std::string& sibling,
                   const Value& wanted, const Value& given) {
    const Attribute* record = FindKey(sibling);
    Diagnostics elsewhere;
    if (record == nullptr || !CheckValue(*record, given, path_, where_, elsewhere)) return true;  // already reported
    Refuse("conflict", shown + " goes with " + sibling + " = " + ToText(wanted) + " only, not with " + ToText(given));
    Cite(problems_.back(), key, field);
    return false;
  }

  const Attribute& attribute_;
  const Value::Map& table_;
  const std::string& path_;
  const CheckedIn& where_;
  Diagnostics& problems_;
};

}  // namespace

std::optional<Value> CheckTable(const Attribute& attribute, const Value& value, const std::string& path,
                                const CheckedIn& where, Diagnostics& problems) {
  static const Value::Map kEmpty;
  const Value::Map* table = value.AsMap();
  return TableCheck(attribute, table == nullptr ? kEmpty : *table, path, where, problems).Run();
}

}  // namespace muster
