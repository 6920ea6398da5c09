#include "settings/check/check_table.h"

#include <algorithm>

#include "base/values/suggest.h"
#include "settings/schema/rule_note.h"

namespace muster {
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
