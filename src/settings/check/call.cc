#include "settings/check/call.h"

#include <algorithm>
#include <tuple>

#include "settings/check/check_layout.h"
#include "settings/check/check_value.h"
#include "settings/check/function_use.h"
#include "settings/schema/rule_note.h"
#include "settings/schema/setting_key.h"
#include "settings/schema/unknown_key.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

std::string UseSuccessor(const Attribute& attribute) {
  return attribute.successor.empty() ? "" : "use " + attribute.successor + " instead";
}

// For a table: the replacements of the given sub-keys that have successors of their own.
std::string UseSuccessors(const Attribute& attribute, const Value& given, const Release& release) {
  std::string text;
  const Value::Map* table = given.AsMap();
  for (const Attribute& key : attribute.keys) {
    if (table == nullptr || !table->contains(key.name) || !key.ExistsIn(release)) continue;
    if (key.successor.empty()) return UseSuccessor(attribute);
    text += (text.empty() ? "use " : " and ") + key.successor + " instead of " + key.name;
  }
  return text.empty() ? UseSuccessor(attribute) : text;
}

bool IsSecretPlaceholder(const Value& value) {
  const std::string* text = value.AsString();
  return text != nullptr && text->starts_with("${muster:secret:") && text->find('}') + 1 == text->size();
}

// The value of "attribute.sub-key" inside the attribute's table; null if it is not there.
const Value* SubValue(const Setting* table, std::string_view sub_key) {
  const Value::Map* map = table == nullptr ? nullptr : table->value.AsMap();
  if (map == nullptr) return nullptr;
  const auto found = map->find(std::string(sub_key));
  return found == map->end() ? nullptr : &found->second;
}

}  // namespace

Call::Call(std::string_view api, const Place& place, const Context& context, const Context* base,
           std::map<std::string, Setting> settings)
    : api_(api), place_(place), context_(context), base_(base), settings_(std::move(settings)) {}

void Call::One(const std::string& name, const Value& value, const std::map<std::string, Place>& was_read) {
  const std::size_t before = problems_.size();
  Check(name, value, was_read);
  const auto is_error = [](const Diagnostic& problem) { return problem.severity == Severity::kError; };
  if (std::any_of(problems_.begin() + static_cast<std::ptrdiff_t>(before), problems_.end(), is_error)) {
    refused_.push_back(name);
  }
}

void Call::Check(const std::string& name, const Value& value, const std::map<std::string, Place>& was_read) {
  const Attribute* attribute = context_.schema().Find(api_, name, context_.release());
  if (attribute == nullptr || attribute->documented_only) {
    problems_.push_back(UnknownKey(context_.schema(), context_.release(), api_, name, place_));
    return;
  }
  if (!attribute->tells_if_set.empty()) {
    Refuse("read_only", name + " can be read but not set in " + Version(), "set " + attribute->tells_if_set);
    return;
  }
  if (base_ != nullptr && !attribute->per_process) {
    // A function is called with all its parameters, including those set for the job.
    const Setting* of_job = context_.schema().FindCall(api_) == nullptr ? nullptr : base_->Find(api_, name);
    if (of_job != nullptr && of_job->value == value) return;
    Refuse("scope", name + " can not differ between processes: it is set inside each",
           "set it in plan, outside each, for the whole job");
    return;
  }
  if (SkippedHere(*attribute) || DroppedInGraphMode(*attribute)) return;
  const auto stored = CheckValue(
      *attribute, value, name, {context_.release(), place_, &context_.schema(), context_.files(), nullptr}, problems_);
  if (!stored) return;
  if (attribute->withdrawn) {
    Warn("withdrawn", name + " is ignored by " + Version(), UseSuccessor(*attribute));
    return;
  }
  if (attribute->secret && !IsSecretPlaceholder(*stored) && *stored != Value("")) {
    Warn("secret_literal", name + " is written into the recipe: it is not passed on, and run refuses to start",
         "take it from a parameter of type secret");
    withheld_.push_back(name);
    return;
  }
  if (attribute->no_effect_up_to && stored->IsNumber() && stored->Number() <= *attribute->no_effect_up_to) return;
  if (!FitsModes(*attribute, *stored) || !FitsSharedName(*attribute, *stored)) return;
  if (!ReplacesSameValue(*attribute, *stored)) return;
  WarnAboutStatus(*attribute, *stored);
  WarnIfSetBefore(*attribute, *stored, was_read);
  Settle(*attribute, *stored);
}

void Call::Settle(const Attribute& attribute, Value stored) {
  Setting setting{{}, {SettingSource::Kind::kSet, place_, {}}};
  if (attribute.adds_up) {
    setting.given = stored;
    const Setting* before = Seen(api_, attribute.name);
    if (before != nullptr && before->value.AsMap() != nullptr && stored.AsMap() != nullptr) {
      Value::Map sum = *stored.AsMap();
      sum.insert(before->value.AsMap()->begin(), before->value.AsMap()->end());
      stored = Value(std::move(sum));
    }
  }
  setting.value = std::move(stored);
  if (!attribute.shares.empty()) ReplaceShared(attribute, setting.value);
  if (attribute.name == "device_target") DropForAnotherTarget(setting.value);
  settings_[KeyOf(api_, attribute.name)] = std::move(setting);
  done_.push_back(attribute.name);
}

void Call::Refuse(const char* kind, std::string message, std::string hint) {
  problems_.push_back(Error(kind, place_, std::move(message), std::move(hint)));
}

void Call::Warn(const char* kind, std::string message, std::string hint) {
  problems_.push_back(Warning(kind, place_, std::move(message), std::move(hint)));
}

void Call::Because(const std::string& name, const Setting* setting) {
  if (setting != nullptr && setting->source.kind == SettingSource::Kind::kSet) {
    problems_.back().notes.push_back({name + " = " + ToText(setting->value) + " was set here", setting->source.place});
  }
}

void Call::WarnAboutStatus(const Attribute& attribute, const Value& given) {
  const Function* newer = nullptr;
  std::string parameter;
  // Without calls the search through all parameters, for each attribute of each process, would find nothing.
  if (context_.HasCalls()) {
    std::tie(newer, parameter) = ParameterThatReplaces(context_.schema(), KeyOf(api_, attribute.name));
    if (newer == nullptr && !attribute.shares.empty()) {
      std::tie(newer, parameter) = ParameterThatReplaces(context_.schema(), KeyOf(api_, attribute.shares));
    }
  }
  const Setting* called = newer == nullptr ? nullptr : Seen(newer->name, parameter);
  if (called != nullptr) {
    Warn("conflict", attribute.name + " has no effect after " + newer->name + " in " + Version(), "leave it out");
    Because(parameter, called);
  } else if (attribute.deprecated) {
    Warn("deprecated", attribute.name + " is deprecated in " + Version(),
         UseSuccessors(attribute, given, context_.release()));
  } else if (attribute.undocumented) {
    Warn("undocumented", attribute.name + " is taken by " + Version() + " without being documented",
         UseSuccessor(attribute));
  }
}

// A recipe may set again what a process must not: only the last value reaches the process. Still, users who move such
// calls into a script need this warning.
void Call::WarnIfSetBefore(const Attribute& attribute, const Value& value,
                           const std::map<std::string, Place>& was_read) {
  const std::string key = KeyOf(api_, attribute.name);
  const auto own = settings_.find(key);
  // An extension of a recipe only overrides the value.
  const bool again =
      own != settings_.end() && own->second.source.place.file == place_.file && own->second.source.place != place_;
  if (again && attribute.reset_first && own->second.value != value) {
    Warn("no_reset", attribute.name + " is changed without a reset of the attributes that were set for its old value",
         "call re" + std::string(api_) + " first, as the documents of " + Version() + " advise");
    Because(attribute.name, &own->second);
    Cite(problems_.back(), attribute, "reset_first");
  }
  if (again && attribute.freezes == Freeze::kOnceSet) {
    Warn("frozen", attribute.name + " is set again: a script of " + Version() +
                       " may set it once, so only this value is passed on");
    Because(attribute.name, &own->second);
  }
  const auto read = was_read.find(key);
  if (attribute.freezes == Freeze::kOnceRead && read != was_read.end() &&
      EffectiveValue(api_, attribute.name) != value) {
    Warn("frozen", attribute.name + " is changed after it was read: a script of " + Version() + " may not do that");
    problems_.back().notes.push_back({attribute.name + " was read here", read->second});
  }
}

// A later call wins, under either of the two names. If only one of them can express the value, MindSpore keeps both.
void Call::ReplaceShared(const Attribute& attribute, const Value& value) {
  const auto other = settings_.find(KeyOf(api_, attribute.shares));
  const Attribute* shared = context_.schema().Find(api_, attribute.shares, context_.release());
  if (other == settings_.end() || shared == nullptr) return;
  if (Translated(attribute, value) && Translated(*shared, other->second.value)) {
    settings_.erase(other);
    return;
  }
  const Place& place = other->second.source.place;
  if (IsDone(attribute.shares) || place.file != place_.file || place == place_) return;
  if (value == Value(false) || other->second.value == Value(false)) return;  // a switch that is off contradicts no list
  Warn("conflict",
       attribute.name + " = " + ShownValue(attribute, value) + " is set beside " + attribute.shares + " = " +
           ToText(other->second.value) + ": both say one thing, and " + Version() + " keeps both",
       "give only one of the two");
  Because(attribute.shares, &other->second);
  Cite(problems_.back(), attribute, "shares");
}

// MindSpore keeps some values under a name that depends on whether the target is Ascend, and does not see them later
// under another one. An extension of a recipe only overrides the target.
void Call::DropForAnotherTarget(const Value& target) {
  const Setting* before = Seen(kSetContext, "device_target");
  const Value ascend("Ascend");
  if (before == nullptr || before->source.place.file != place_.file || (before->value == ascend) == (target == ascend))
    return;
  for (const std::string& api : context_.schema().Functions()) {
    for (const std::string& name : context_.schema().Names(api, context_.release())) {
      const Attribute* attribute = context_.schema().Find(api, name, context_.release());
      const auto kept = settings_.find(KeyOf(api, name));
      if (kept == settings_.end() || !attribute->sources.contains("target")) continue;
      Warn("wrong_device",
           name + " = " + ToText(kept->second.value) + " was set for device_target = " + ToText(before->value) + ": " +
               Version() + " does not use it on " + ToText(target) + ", so it is not passed on",
           "set it after device_target");
      Because(name, &kept->second);
      Because("device_target", before);
      Cite(problems_.back(), *attribute, "target");
      settings_.erase(kept);
    }
  }
}

const Setting* Call::Seen(std::string_view api, std::string_view name) const {
  if (const std::string_view newer = NewerFunction(api, name); !newer.empty()) {
    if (const Setting* setting = Seen(newer, name)) return setting;
  }
  const auto found = settings_.find(KeyOf(api, name));
  if (found != settings_.end()) return &found->second;
  return base_ == nullptr ? nullptr : base_->Find(api, name);
}

Value Call::EffectiveValue(std::string_view api, std::string_view name) const {
  if (const Setting* setting = Seen(api, name)) return setting->value;
  const Attribute* attribute = context_.schema().Find(api, name, context_.release());
  return attribute == nullptr ? Value() : attribute->default_value;
}

// Refused in this call, or in an earlier one.
bool Call::IsUnsettled(std::string_view api, std::string_view name) const {
  if (api == api_ && IsDone(name)) return false;
  return (api == api_ && Contains(refused_, name)) || context_.IsUnsettled(api, name);
}

bool Call::IsPynative() const { return EffectiveValue(kSetContext, "mode") == Value(kPynativeMode); }

bool Call::IsDone(std::string_view name) const { return Contains(done_, name); }

// MindSpore ignores a value for another device.
bool Call::SkippedHere(const Attribute& attribute) {
  if (IsUnsettled(kSetContext, "device_target")) return false;
  const Setting* target = Seen(kSetContext, "device_target");
  const std::string* device = target == nullptr ? nullptr : target->value.AsString();
  if (device == nullptr) return false;
  if (!attribute.enforced.empty() && !Contains(attribute.enforced, *device)) {
    Warn("wrong_device", attribute.name + " is for " + WordList(attribute.enforced) + ": on " + *device + " " +
                             Version() + " skips it, so it is not passed on");
    Because("device_target", target);
    return true;
  }
  if (!attribute.devices.empty() && !Contains(attribute.devices, *device)) {
    Warn("wrong_device", attribute.name + " is documented for " + WordList(attribute.devices) + " only: on " + *device +
                             " it is passed on and has no documented effect");
    Because("device_target", target);
  }
  return false;
}

// It also ignores one that needs the other mode.
bool Call::DroppedInGraphMode(const Attribute& attribute) {
  if (!attribute.needs_pynative || IsPynative() || IsUnsettled(kSetContext, "mode")) return false;
  std::string otherwise;
  for (const auto& [path, values] : attribute.graph_with) {
    const std::size_t dot = path.find('.');
    const Value* value = SubValue(Seen(api_, path.substr(0, dot)), path.substr(dot + 1));
    const Value::List* allowed = values.AsList();
    if (value != nullptr && allowed != nullptr && std::find(allowed->begin(), allowed->end(), *value) != allowed->end())
      return false;
    otherwise = "it also works with " + path + " = " + ToText(values);
  }
  if (!attribute.graph_env.empty()) {
    Warn("mode_conflict", attribute.name + " works in PYNATIVE_MODE only: in GRAPH_MODE " + Version() +
                              " drops it unless " + attribute.graph_env + " is 1 in the environment");
    Because("mode", Seen(kSetContext, "mode"));
    Cite(problems_.back(), attribute, "needs_pynative");
    return false;
  }
  Warn(
      "mode_conflict",
      attribute.name + " works in PYNATIVE_MODE only: in GRAPH_MODE " + Version() + " drops it, so it is not passed on",
      std::move(otherwise));
  Because("mode", Seen(kSetContext, "mode"));
  Cite(problems_.back(), attribute, "needs_pynative");
  return true;
}

bool Call::FitsModes(const Attribute& attribute, const Value& value) {
  // MindSpore forgets this check for layouts.
  if (!attribute.pynative.empty() && IsPynative() && !IsUnsettled(kSetContext, "mode") && !IsListOfLayouts(value) &&
      std::find(attribute.pynative.begin(), attribute.pynative.end(), value) == attribute.pynative.end()) {
    std::vector<std::string> allowed;
    for (const Value& choice : attribute.pynative) allowed.push_back(ToText(choice));
    Refuse("mode_conflict", attribute.name + " = " + ShownValue(attribute, value) + " is not possible in PYNATIVE_MODE",
           "in PYNATIVE_MODE " + Version() + " takes " + WordList(allowed));
    Because("mode", Seen(kSetContext, "mode"));
    Cite(problems_.back(), attribute, "pynative");
    return false;
  }
  if (attribute.carried_modes.empty() || value != Value(kPynativeMode)) return true;
  if (IsUnsettled(kSetAutoParallel, "parallel_mode")) return true;
  const Value parallel_mode = EffectiveValue(kSetAutoParallel, "parallel_mode");
  const std::string* text = parallel_mode.AsString();
  if (text == nullptr || Contains(attribute.carried_modes, *text)) return true;
  Refuse("mode_conflict", "PYNATIVE_MODE is not possible while parallel_mode = " + ToText(parallel_mode),
         "in PYNATIVE_MODE " + Version() + " takes " + WordList(attribute.carried_modes));
  Because("parallel_mode", Seen(kSetAutoParallel, "parallel_mode"));
  Cite(problems_.back(), attribute, "carried_modes");
  return false;
}

// Two names of one value in one call must agree.
bool Call::FitsSharedName(const Attribute& attribute, const Value& value) {
  if (attribute.shares.empty() || !IsDone(attribute.shares)) return true;
  const Setting& other = settings_.at(KeyOf(api_, attribute.shares));
  const auto wanted = Translated(attribute, value);
  if (wanted && *wanted == other.value) return true;
  // MindSpore keeps cuts by number apart from the switch; only the switch that is on says something else.
  const auto is_list = [](const Value& one) { return one.AsList() != nullptr; };
  if ((is_list(value) && other.value == Value(false)) || (is_list(other.value) && value == Value(false))) return true;
  Refuse("conflict",
         attribute.name + " = " + ShownValue(attribute, value) + " contradicts " + attribute.shares + " = " +
             ToText(other.value) + " in the same call: both name one value",
         "give only one of the two");
  Cite(problems_.back(), attribute, "shares");
  return false;
}

// The same for an attribute and a sub-key of another one; the later call wins.
bool Call::ReplacesSameValue(const Attribute& attribute, const Value& value) {
  if (const std::size_t dot = attribute.same_as.find('.'); dot != std::string::npos) {
    const std::string table = attribute.same_as.substr(0, dot);
    const std::string sub_key = attribute.same_as.substr(dot + 1);
    const auto found = settings_.find(KeyOf(api_, table));
    if (found == settings_.end()) return true;
    const Value* other = SubValue(&found->second, sub_key);
    if (other == nullptr) return true;
    if (IsDone(table) && *other != value) {
      Refuse("conflict",
             attribute.name + " = " + ShownValue(attribute, value) + " contradicts " + attribute.same_as + " = " +
                 ToText(*other) + " in the same call: both name one value",
             "give only one of the two");
      return false;
    }
    Value::Map rest = *found->second.value.AsMap();
    rest.erase(sub_key);
    if (rest.empty()) {
      settings_.erase(found);
    } else {
      found->second.value = Value(std::move(rest));
    }
    return true;
  }
  for (const Attribute& key : attribute.keys) {
    if (key.same_as.empty() || value.AsMap() == nullptr || !value.AsMap()->contains(key.name)) continue;
    settings_.erase(KeyOf(api_, key.same_as));
  }
  return true;
}

}  // namespace muster
