#include "settings/check/effective_value.h"

#include <algorithm>

#include "settings/check/check_value.h"
#include "settings/check/flags.h"
#include "settings/schema/setting_key.h"

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

}  // namespace muster
