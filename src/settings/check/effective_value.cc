#include "settings/check/effective_value.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/values/value_json.h"
#include "settings/check/check_value.h"
#include "settings/schema/schema.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

EffectiveValue Fact(const JobFacts& facts, std::string_view name) {
  EffectiveValue found;
  if (name == "workers") {
    found.value = Value(std::int64_t{facts.workers});
    found.why = facts.workers_notes;
  } else if (name == "processes_on_a_host") {
    found.value = Value(std::int64_t{facts.processes_on_a_host});
    found.why = facts.processes_notes;
  }
  found.shown = ToText(found.value);
  return found;
}

// The sub-key at the front of `rest`, and the remainder: a name in a free table may itself contain dots.
const Value* Inside(const Value& value, std::string_view rest) {
  const Value::Map* map = value.AsMap();
  if (map == nullptr) return nullptr;
  if (const auto whole = map->find(std::string(rest)); whole != map->end()) return &whole->second;
  const std::size_t dot = rest.find('.');
  if (dot == std::string_view::npos) return nullptr;
  const auto part = map->find(std::string(rest.substr(0, dot)));
  return part == map->end() ? nullptr : Inside(part->second, rest.substr(dot + 1));
}

class Lookup {
 public:
  Lookup(const Context& context, const JobFacts& facts, std::string_view api, std::string_view name)
      : context_(context), facts_(facts), api_(api), name_(name) {
    attribute_ = context.schema().Find(api, name, context.release());
    if (attribute_ != nullptr) FindSetting();
  }

  EffectiveValue Whole() const {
    EffectiveValue found;
    if (attribute_ == nullptr) return found;
    if (setting_ != nullptr) {
      found.value = value_;
      found.place = setting_->source.place;
      found.shown = set_as_ + " = " + ShownValue(*attribute_, setting_->value);
      SetHere(found);
    } else if (withheld_ != nullptr) {
      found.place = *withheld_;
      found.shown = std::string(name_);
      SetHere(found);
    } else {
      Default(found);
    }
    return found;
  }

  EffectiveValue Part(std::string_view rest) const {
    if (attribute_ == nullptr) return {};
    return attribute_->flags.empty() ? SubKey(rest) : Flag(rest);
  }

 private:
  void FindSetting() {
    setting_ = context_.Find(api_, name_);
    set_as_ = name_;
    if (setting_ != nullptr) {
      value_ = setting_->value;
    } else if (!attribute_->shares.empty() && context_.Find(api_, attribute_->shares) != nullptr) {
      setting_ = context_.Find(api_, attribute_->shares);
      set_as_ = attribute_->shares;
      const Attribute* other = context_.schema().Find(api_, attribute_->shares, context_.release());
      const auto translated = other == nullptr ? std::nullopt : Translated(*other, setting_->value);
      if (translated) value_ = *translated;
    } else {
      withheld_ = context_.FindWithheld(api_, name_);
    }
  }

  static void SetHere(EffectiveValue& found) {
    found.set = true;
    found.why = {{found.shown + " was set here", found.place}};
  }

  void IsTheDefault(EffectiveValue& found, const std::string& of_device = {}) const {
    if (found.value.IsNull()) return;
    found.why = {{found.shown + " is the default of MindSpore " + ReleaseText(context_.release()) + of_device, {}}};
  }

  void Default(EffectiveValue& found) const {
    const bool is_device_num = api_ == kSetAutoParallel && name_ == "device_num";
    found.value = is_device_num ? Value(std::max<std::int64_t>(1, facts_.workers)) : attribute_->default_value;
    std::string of_device;
    if (!attribute_->default_on.empty()) {
      const Setting* target = context_.Find(kSetContext, "device_target");
      const std::string* device = target == nullptr ? nullptr : target->value.AsString();
      const auto special = attribute_->default_on.find(device == nullptr ? "" : *device);
      if (special != attribute_->default_on.end()) {
        found.value = special->second;
        of_device = " on " + *device;
      }
    }
    found.shown = std::string(name_) + " = " + ToText(found.value);
    if (is_device_num) {
      found.why = facts_.workers_notes;
    } else {
      IsTheDefault(found, of_device);
    }
  }

  EffectiveValue SubKey(std::string_view rest) const {
    EffectiveValue found;
    const std::string path = std::string(name_) + "." + std::string(rest);
    if (const Value* inside = setting_ == nullptr ? nullptr : Inside(setting_->value, rest)) {
      found.value = *inside;
      found.place = setting_->source.place;
      found.shown = path + " = " + ToText(found.value);
      SetHere(found);
      return found;
    }
    for (const Attribute& key : attribute_->keys) {
      if (key.name == rest && key.ExistsIn(context_.release())) found.value = key.default_value;
    }
    found.shown = path + " = " + ToText(found.value);
    IsTheDefault(found);
    return found;
  }

  EffectiveValue Flag(std::string_view rest) const {
    EffectiveValue found;
    const std::string* text = setting_ == nullptr ? nullptr : setting_->value.AsString();
    const auto flag = text == nullptr ? std::nullopt : FlagValue(*text, rest);
    if (!flag) return found;
    found.value = Value(*flag);
    found.place = setting_->source.place;
    found.shown = "--" + std::string(rest) + (flag->empty() ? "" : "=" + *flag) + " of " + std::string(name_);
    SetHere(found);
    return found;
  }

  const Context& context_;
  const JobFacts& facts_;
  std::string_view api_;
  std::string_view name_;
  const Attribute* attribute_ = nullptr;
  const Setting* setting_ = nullptr;
  const Place* withheld_ = nullptr;
  std::string set_as_;
  Value value_;
};

}  // namespace

EffectiveValue FindEffectiveValue(const Context& context, const JobFacts& facts, std::string_view path) {
  const std::size_t dot = path.find('.');
  const std::string_view api = path.substr(0, dot);
  const std::string_view rest = path.substr(dot + 1);
  if (api == kJobFacts) return Fact(facts, rest);
  const std::size_t end = rest.find('.');
  if (context.IsUnsettled(api, rest.substr(0, end))) {
    EffectiveValue unknown;
    unknown.unsettled = true;
    return unknown;
  }
  const Lookup lookup(context, facts, api, rest.substr(0, end));
  return end == std::string_view::npos ? lookup.Whole() : lookup.Part(rest.substr(end + 1));
}

namespace {

Value NumberValue(double number) {
  const auto whole = static_cast<std::int64_t>(number);
  return static_cast<double>(whole) == number ? Value(whole) : Value(number);
}

// A table of sub-keys as read: those that read as their default, whatever was set, have it.
Value WithConstants(const Attribute& attribute, const Value& stored, const Release& release) {
  if (stored.AsMap() == nullptr) return stored;
  Value::Map table = *stored.AsMap();
  for (const Attribute& key : attribute.keys) {
    const auto given = table.find(key.name);
    const bool holds = std::all_of(key.when.begin(), key.when.end(), [&](const auto& sibling) {
      const auto found = table.find(sibling.first);
      return found != table.end() && found->second == sibling.second;
    });
    if (given != table.end() && holds && key.ExistsIn(release) && key.reads == ReadBack::kDefault)
      given->second = key.default_value;
  }
  return Value(std::move(table));
}

// The table as read: these sub-keys, each with its set or default value.
Value WithDefaults(const Attribute& attribute, const Value& stored, const Release& release) {
  Value::Map table;
  for (const Value* source : {&stored, &attribute.default_value}) {
    if (source->AsMap() == nullptr) continue;
    for (const auto& [name, value] : *source->AsMap()) {
      if (!Contains(attribute.read_keys, name)) continue;
      const auto key = std::find_if(attribute.keys.begin(), attribute.keys.end(),
                                    [&](const Attribute& each) { return each.name == name; });
      table.emplace(name, key == attribute.keys.end() ? value : WithConstants(*key, value, release));
    }
  }
  return Value(std::move(table));
}

Value AsRead(const Attribute& attribute, const Value& stored, const Release& release) {
  if (stored.IsNull()) return stored;
  if (const auto found = attribute.read_values.find(ValueKey(stored)); found != attribute.read_values.end())
    return found->second;
  if (!attribute.read_keys.empty()) return WithDefaults(attribute, stored, release);
  const std::string* text = stored.AsString();
  const auto gigabytes = text == nullptr ? std::nullopt : Gigabytes(*text);
  switch (attribute.reads) {
    case ReadBack::kGigabytes:
      // MindSpore stores sizes as 32-bit floats.
      return gigabytes ? NumberValue(static_cast<double>(static_cast<float>(*gigabytes))) : stored;
    case ReadBack::kByteProduct:
      return gigabytes ? Value(NumberText(*gigabytes) + " * 1024 * 1024 * 1024") : stored;
    case ReadBack::kText:
      if (const bool* flag = stored.AsBool()) return Value(*flag ? "1" : "0");
      return text != nullptr ? stored : Value(ToText(stored));
    case ReadBack::kJson:
      return text != nullptr ? stored : Value(ToJson(stored).dump());
    case ReadBack::kDefault:
      return attribute.default_value;
    case ReadBack::kAsStored:
    case ReadBack::kNever:
      return stored;
  }
  return stored;
}

class EffectiveReader {
 public:
  EffectiveReader(const Context& context, std::string_view api, const Place& place, const Place* was_reset)
      : context_(context), api_(api), place_(place), was_reset_(was_reset) {
    const Setting* target = context.Find(kSetContext, "device_target");
    device_ = target == nullptr ? nullptr : target->value.AsString();
  }

  Result<Reading> Read(std::string_view name) {
    const Attribute* attribute = context_.schema().Find(api_, name, context_.release());
    if (attribute == nullptr) {
      if (const auto own = context_.schema().FindOwnName(api_, name, context_.release())) return SubKey(*own);
    }
    if (attribute == nullptr || attribute->documented_only) {
      return Fail(UnknownKey(context_.schema(), context_.release(), api_, std::string(name), place_, GetterName(api_)));
    }
    if (attribute->reads == ReadBack::kNever) {
      return Fail(Error("not_readable", place_,
                        attribute->name + " can be set but not read with " + GetterName(api_) + " in " + Version(),
                        attribute->successor.empty() ? "" : "read " + attribute->successor));
    }
    Reading reading;
    Warn(*attribute, reading);
    if (FromSetting(*attribute, reading) || FromOtherName(*attribute, reading)) {
      if (auto problem = UnreadableInPynative(*attribute, reading)) return Fail(std::move(*problem));
      return reading;
    }
    FromDefault(*attribute, reading);
    WarnIfNotKnown(*attribute, reading);
    if (!attribute->tells_if_set.empty()) reading.value = Value(IsSet(attribute->tells_if_set));
    return reading;
  }

 private:
  Value Shown(const Attribute& attribute, const Value& stored) const {
    return AsRead(attribute, stored, context_.release());
  }

  std::string Version() const { return "MindSpore " + ReleaseText(context_.release()); }

  void Warn(const Attribute& attribute, Reading& reading) const {
    if (attribute.deprecated) {
      reading.warnings.push_back(Warning("deprecated", place_, attribute.name + " is deprecated in " + Version(),
                                         attribute.successor.empty() ? "" : "use " + attribute.successor + " instead"));
    }
    if (device_ != nullptr && !attribute.enforced.empty() && !Contains(attribute.enforced, *device_)) {
      reading.warnings.push_back(
          Warning("wrong_device", place_,
                  attribute.name + " is for " + WordList(attribute.enforced) + ", not for " + *device_));
    }
  }

  // Recipes compare what they read: nil is none of the values that a script would find.
  void WarnIfNotKnown(const Attribute& attribute, Reading& reading) const {
    if (!reading.value.IsNull() || attribute.default_text.empty() || attribute.reads == ReadBack::kDefault) return;
    reading.warnings.push_back(
        Warning("not_readable", place_,
                attribute.name + " is read as nil, for it is not set and muster does not know its default in " +
                    Version() + ": " + attribute.default_text,
                "set " + attribute.name + " before it is read"));
  }

  bool FromSetting(const Attribute& attribute, Reading& reading) const {
    const Setting* setting = context_.Find(api_, attribute.name);
    if (setting == nullptr) return false;
    const bool sum = setting->given.IsNull() || !attribute.read_keys.empty();
    Value value = sum ? setting->value : setting->given;
    if (!attribute.read_keys.empty() && value.AsMap() != nullptr) value = WithSameValues(attribute, std::move(value));
    reading.value = Shown(attribute, value);
    reading.source = setting->source;
    return true;
  }

  // A list that PYNATIVE_MODE does not accept cannot be read there either.
  std::optional<Diagnostic> UnreadableInPynative(const Attribute& attribute, const Reading& reading) const {
    if (attribute.pynative.empty() || reading.value.AsList() == nullptr) return std::nullopt;
    const Setting* mode = context_.Find(kSetContext, "mode");
    const Attribute* record = context_.schema().Find(kSetContext, "mode", context_.release());
    const Value in_force = mode != nullptr ? mode->value : record != nullptr ? record->default_value : Value();
    if (in_force != Value(kPynativeMode)) return std::nullopt;
    Diagnostic problem =
        Error("mode_conflict", place_,
              attribute.name + " holds a list, which " + Version() + " does not read in PYNATIVE_MODE");
    if (mode != nullptr)
      problem.notes.push_back({"mode = " + ToText(mode->value) + " was set here", mode->source.place});
    return problem;
  }

  // Inserts a value that was set under an attribute's own name into the table whose sub-key is an alias of it.
  Value WithSameValues(const Attribute& table, Value value) const {
    Value::Map map = value.AsMap() == nullptr ? Value::Map{} : *value.AsMap();
    for (const Attribute& key : table.keys) {
      const Setting* other = key.same_as.empty() ? nullptr : context_.Find(api_, key.same_as);
      if (other != nullptr) map.insert_or_assign(key.name, other->value);
    }
    return Value(std::move(map));
  }

  // A value that was set under an alias.
  bool FromOtherName(const Attribute& attribute, Reading& reading) const {
    if (!attribute.shares.empty()) {
      const Setting* other = context_.Find(api_, attribute.shares);
      const Attribute* record = context_.schema().Find(api_, attribute.shares, context_.release());
      if (other == nullptr || record == nullptr) return false;
      const auto translated = Translated(*record, other->value);
      if (!translated) return false;
      return Take(reading, Shown(attribute, *translated), *other, attribute.shares);
    }
    if (const std::size_t dot = attribute.same_as.find('.'); dot != std::string::npos) {
      const Setting* table = context_.Find(api_, attribute.same_as.substr(0, dot));
      const Value::Map* map = table == nullptr ? nullptr : table->value.AsMap();
      if (map == nullptr) return false;
      const auto found = map->find(attribute.same_as.substr(dot + 1));
      if (found == map->end()) return false;
      return Take(reading, Shown(attribute, found->second), *table, attribute.same_as);
    }
    for (const Attribute& key : attribute.keys) {
      const Setting* other = key.same_as.empty() ? nullptr : context_.Find(api_, key.same_as);
      if (other == nullptr) continue;
      return Take(reading, Shown(attribute, WithSameValues(attribute, Value(Value::Map{}))), *other, key.same_as);
    }
    return false;
  }

  static bool Take(Reading& reading, Value value, const Setting& from, const std::string& name) {
    reading.value = std::move(value);
    reading.source = from.source;
    reading.source.text = "set as " + name;
    return true;
  }

  void FromDefault(const Attribute& attribute, Reading& reading) const {
    const auto on_device = device_ == nullptr ? attribute.default_on.end() : attribute.default_on.find(*device_);
    const bool unknown_device = device_ == nullptr && !attribute.default_on.empty();
    const Value& value = on_device != attribute.default_on.end() ? on_device->second : attribute.default_value;
    if (!unknown_device) reading.value = Shown(attribute, value);
    const bool constant = attribute.default_text.empty() || (!attribute.default_on.empty() && !unknown_device);
    reading.source.text = constant ? "default of " + Version() : attribute.default_text;
    if (was_reset_ != nullptr && !attribute.kept_on_reset) {
      reading.source.kind = SettingSource::Kind::kReset;
      reading.source.place = *was_reset_;
    }
  }

  Result<Reading> SubKey(const Schema::OwnName& own) const {
    Reading reading;
    Warn(*own.table, reading);
    const Setting* table = context_.Find(api_, own.table->name);
    const Value::Map* map = table == nullptr ? nullptr : table->value.AsMap();
    const auto found = map == nullptr ? Value::Map::const_iterator() : map->find(own.key->name);
    if (map != nullptr && found != map->end()) {
      Take(reading, Shown(*own.key, found->second), *table, own.table->name + "." + own.key->name);
    } else {
      FromDefault(*own.key, reading);
    }
    return reading;
  }

  bool IsSet(const std::string& name) const {
    const Attribute* attribute = context_.schema().Find(api_, name, context_.release());
    if (context_.Find(api_, name) != nullptr) return true;
    return attribute != nullptr && !attribute->shares.empty() && context_.Find(api_, attribute->shares) != nullptr;
  }

  const Context& context_;
  std::string_view api_;
  const Place& place_;
  const Place* was_reset_;
  const std::string* device_ = nullptr;
};

}  // namespace

Result<Reading> ReadSetting(const Context& context, std::string_view api, std::string_view name, const Place& place,
                            const Place* was_reset) {
  return EffectiveReader(context, api, place, was_reset).Read(name);
}

}  // namespace muster
