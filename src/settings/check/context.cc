// One context: applies calls as a whole or not at all, and keeps the source of each value. Each argument of a call is
// checked against the schema, the release's rules and earlier settings; a function with parameters also as a whole:
// required ones, repeated calls, its effect on the device. effective_value.h reads settings back, job_check.h
// compares them over the whole job.
#include "muster/mindspore/context.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "settings/check/check_table.h"
#include "settings/check/check_value.h"
#include "settings/check/effective_value.h"
#include "settings/schema/schema.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

// Checks the call of a function with parameters beyond its values: that all required ones are given, that it is not
// repeated, and that it has an effect on the device.

struct FunctionUse {
  Diagnostics problems;
  bool skipped = false;  // a call that has no effect: it is not passed on
};

class Use {
 public:
  Use(const Function& function, const Context& context, const std::map<std::string, Setting>& own,
      const Value::Map& arguments, const Place& place)
      : function_(function), context_(context), own_(own), arguments_(arguments), place_(place) {}

  FunctionUse Run() {
    HasWhatIsRequired();
    IsNotRepeated();
    HasAnEffectHere();
    for (const std::string& name : function_.parameters) {
      const Attribute* parameter = Parameter(name);
      if (parameter == nullptr) continue;
      Divides(*parameter);
      WinsOverOldName(*parameter);
    }
    return std::move(use_);
  }

 private:
  const Attribute* Parameter(const std::string& name) const {
    return context_.schema().Find(function_.name, name, context_.release());
  }

  Diagnostic& Add(Diagnostic diagnostic) { return use_.problems.emplace_back(std::move(diagnostic)); }

  std::string Version() const { return "MindSpore " + ReleaseText(context_.release()); }

  static Note SetHere(const std::string& name, const Setting& setting) {
    return {name + " = " + ToText(setting.value) + " was set here", setting.source.place};
  }

  void HasWhatIsRequired() {
    for (const std::string& name : function_.parameters) {
      const Attribute* parameter = Parameter(name);
      if (parameter == nullptr || !parameter->required || arguments_.contains(name)) continue;
      if (context_.is_overlay() && context_.Find(function_.name, name) != nullptr) continue;
      Add(Error("missing_argument", place_, function_.name + " needs " + name, parameter->doc));
    }
  }

  // A recipe that extends another one replaces its call.
  void IsNotRepeated() {
    if (function_.repeats == Function::Repeats::kFree) return;
    const Setting* first = nullptr;
    bool same = true;
    for (const std::string& name : function_.parameters) {
      const auto before = own_.find(KeyOf(function_.name, name));
      const auto now = arguments_.find(name);
      const Attribute* parameter = Parameter(name);
      const Value standard = parameter == nullptr ? Value() : parameter->default_value;
      const Value& old_value = before == own_.end() ? standard : before->second.value;
      same = same && old_value == (now == arguments_.end() ? standard : now->second);
      if (before != own_.end()) first = &before->second;
    }
    if (first == nullptr || first->source.place.file != place_.file || first->source.place == place_) return;
    const bool may = function_.repeats == Function::Repeats::kSame;
    if (may && same) return;
    Diagnostic& problem = Add(Error("repeated", place_,
                                    function_.name + " is called again" + (may ? " with other values" : "") + ": " +
                                        Version() + " takes one call in a process",
                                    "give all parameters in one call"));
    problem.notes.push_back({"it was called here before", first->source.place});
  }

  void HasAnEffectHere() {
    const Setting* target = context_.Find(kSetContext, "device_target");
    const std::string* device = target == nullptr ? nullptr : target->value.AsString();
    if (function_.devices.empty() || device == nullptr || Contains(function_.devices, *device)) return;
    use_.skipped = true;
    Diagnostic& problem = Add(Warning("wrong_device", place_,
                                      function_.name + " is for " + WordList(function_.devices) + ": on " + *device +
                                          " " + Version() + " logs an error, so it is not called"));
    problem.notes.push_back(SetHere("device_target", *target));
  }

  // Another parameter of the same call; what sub-keys must divide is checked when the job is known.
  void Divides(const Attribute& parameter) {
    if (parameter.divides.empty()) return;
    const auto number = [&](const std::string& name) -> std::int64_t {
      const auto given = arguments_.find(name);
      const Attribute* other = Parameter(name);
      const Value value = given != arguments_.end() ? given->second : other == nullptr ? Value() : other->default_value;
      return value.AsInt() == nullptr ? 0 : *value.AsInt();
    };
    const std::int64_t divisor = number(parameter.name);
    const std::int64_t dividend = number(parameter.divides);
    if (divisor < 1 || dividend < 1 || dividend % divisor == 0) return;
    Add(Error("division", place_,
              function_.name + ": " + parameter.divides + " = " + std::to_string(dividend) + " is no multiple of " +
                  parameter.name + " = " + std::to_string(divisor)));
  }

  // A table stands for a call with all of its sub-keys, those that are left out too.
  void WinsOverOldName(const Attribute& parameter) {
    if (!arguments_.contains(parameter.name) && parameter.name != kCalled && !parameter.always) return;
    WarnOfOldName(parameter.replaces);
    if (!parameter.Is(Kind::kDict)) return;
    for (const Attribute& key : parameter.keys) {
      if (key.ExistsIn(context_.release())) WarnOfOldName(key.replaces);
    }
  }

  // "function.attribute", or "function.attribute.sub-key".
  void WarnOfOldName(const std::string& path) {
    if (path.empty()) return;
    const auto [attribute, setting] = OldSetting(path);
    if (setting == nullptr) return;
    Diagnostic& problem =
        Add(Warning("conflict", place_, attribute + " has no effect beside " + function_.name + " in " + Version(),
                    "leave " + attribute + " out"));
    problem.notes.push_back(SetHere(attribute, *setting));
  }

  // The setting, also under another name of the same value; null if it is not set.
  std::pair<std::string, const Setting*> OldSetting(const std::string& path) const {
    const std::size_t dot = path.find('.');
    const std::size_t end = path.find('.', dot + 1);
    const std::string api = path.substr(0, dot);
    const std::string name = path.substr(dot + 1, end == std::string::npos ? end : end - dot - 1);
    const Attribute* attribute = context_.schema().Find(api, name, context_.release());
    if (attribute == nullptr) return {};
    std::vector<std::string> names = {name};
    if (!attribute->shares.empty()) names.push_back(attribute->shares);
    for (const std::string& each : names) {
      const auto found = own_.find(KeyOf(api, each));
      if (found == own_.end()) continue;
      const Value::Map* table = found->second.value.AsMap();
      const bool has = end == std::string::npos || (table != nullptr && table->contains(path.substr(end + 1)));
      if (has) return {each == name ? path : KeyOf(api, each), &found->second};
    }
    return {};
  }

  const Function& function_;
  const Context& context_;
  const std::map<std::string, Setting>& own_;
  const Value::Map& arguments_;
  const Place& place_;
  FunctionUse use_;
};

// `own` are the settings of the scope that calls; kinds: "missing_argument", "repeated", "division", "wrong_device",
// "conflict". The values themselves are checked by Call.
FunctionUse CheckFunctionUse(const Function& function, const Context& context,
                             const std::map<std::string, Setting>& own, const Value::Map& arguments,
                             const Place& place) {
  return Use(function, context, own, arguments, place).Run();
}

// The function, and its parameter that overrides, itself or by a sub-key, the setting of that key
// ("set_context.device_id"); null and "" if there is none.
std::pair<const Function*, std::string> ParameterThatReplaces(const Schema& schema, const std::string& key) {
  for (const auto& [name, function] : schema.calls()) {
    for (const auto& [parameter, records] : schema.attributes(name)) {
      const auto replaces = [&](const Attribute& record) { return record.replaces == key; };
      const auto its_keys_do = [&](const Attribute& record) {
        return std::any_of(record.keys.begin(), record.keys.end(), replaces);
      };
      if (std::any_of(records.begin(), records.end(), replaces)) return {&function, parameter};
      if (std::any_of(records.begin(), records.end(), its_keys_do)) return {&function, parameter};
    }
  }
  return {nullptr, ""};
}

}  // namespace

// One call of a context function: each argument is checked against the schema, the release's rules and earlier
// settings. Does not change the context: the caller applies the result, or not.
class Call {
 public:
  // `settings` are the scope's own; they override those of `base`, the job's context, or null in the job's own scope.
  // All references must outlive the call.
  Call(std::string_view api, const Place& place, const Context& context, const Context* base,
       std::map<std::string, Setting> settings);

  // Settles one argument, or adds to problems(). `was_read`: the attributes that were read before, and where.
  void One(const std::string& name, const Value& value, const std::map<std::string, Place>& was_read);

  Diagnostics& problems() { return problems_; }
  std::map<std::string, Setting>& settings() { return settings_; }
  // Secrets that were given as literals: not settled.
  const std::vector<std::string>& withheld() const { return withheld_; }

 private:
  void Check(const std::string& name, const Value& value, const std::map<std::string, Place>& was_read);
  std::string Version() const { return "MindSpore " + ReleaseText(context_.release()); }
  void Refuse(const char* kind, std::string message, std::string hint = {});
  void Warn(const char* kind, std::string message, std::string hint = {});
  void Because(const std::string& name, const Setting* setting);
  void WarnAboutStatus(const Attribute& attribute, const Value& given);
  void WarnIfSetBefore(const Attribute& attribute, const Value& value, const std::map<std::string, Place>& was_read);

  const Setting* Seen(std::string_view api, std::string_view name) const;
  Value EffectiveValue(std::string_view api, std::string_view name) const;
  bool IsUnsettled(std::string_view api, std::string_view name) const;
  bool IsPynative() const;
  bool IsDone(std::string_view name) const;

  bool SkippedHere(const Attribute& attribute);
  bool DroppedInGraphMode(const Attribute& attribute);
  bool FitsModes(const Attribute& attribute, const Value& value);
  bool FitsSharedName(const Attribute& attribute, const Value& value);
  bool ReplacesSameValue(const Attribute& attribute, const Value& value);
  void Settle(const Attribute& attribute, Value stored);
  void ReplaceShared(const Attribute& attribute, const Value& value);
  void DropForAnotherTarget(const Value& target);

  std::string_view api_;
  const Place& place_;
  const Context& context_;
  const Context* base_;
  std::map<std::string, Setting> settings_;
  std::vector<std::string> done_;
  std::vector<std::string> withheld_;
  std::vector<std::string> refused_;  // names in this call
  Diagnostics problems_;
};

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

// One context: applies calls as a whole or not at all, and keeps the source of each value. Arguments are read back
// in settings/check/effective_value.cc, and compared over the whole job in settings/check/job_check.cc.

namespace {

std::string ResetterName(std::string_view api) { return "reset" + std::string(api.substr(3)); }

// The fixed order of a call (device_target decides what is skipped, mode what parallel_mode may be).
std::vector<const Value::Map::value_type*> InOrder(const Value::Map& arguments) {
  static constexpr std::array<std::string_view, 3> kFirst = {"device_target", "mode", "parallel_mode"};
  std::vector<const Value::Map::value_type*> order;
  for (const std::string_view name : kFirst) {
    const auto found = arguments.find(std::string(name));
    if (found != arguments.end()) order.push_back(&*found);
  }
  for (const auto& argument : arguments) {
    if (std::find(kFirst.begin(), kFirst.end(), argument.first) == kFirst.end()) order.push_back(&argument);
  }
  return order;
}

// The defaults that a call settles where it leaves them out.
void AddDefaults(const Schema& schema, const Release& release, const Function& function, Value::Map& arguments) {
  for (const std::string& name : function.parameters) {
    const Attribute* parameter = schema.Find(function.name, name, release);
    if (parameter != nullptr && parameter->always) arguments.try_emplace(name, parameter->default_value);
  }
}

}  // namespace

std::string SourceText(const SettingSource& source) {
  std::string text = source.text;
  if (source.place.file.empty()) return text;
  if (!text.empty()) text += ", ";
  text += source.place.file;
  if (source.place.line > 0) text += ':' + std::to_string(source.place.line);
  return text;
}

Context::Context(const Schema& schema, const Release& release) : schema_(&schema), release_(release) {}

Context Context::Overlay() const {
  Context overlay(*schema_, release_);
  overlay.base_ = this;
  overlay.files_ = files_;
  return overlay;
}

Diagnostics Context::Apply(std::string_view api, const Value::Map& arguments, const Place& place) {
  if (auto problem = UnknownFunction(*schema_, release_, api, api, place)) return {std::move(*problem)};
  Diagnostics use;
  Value::Map given = arguments;
  std::map<std::string, Setting> before = own_;
  if (const Function* function = schema_->FindCall(api)) {
    FunctionUse checked = CheckFunctionUse(*function, *this, own_, arguments, place);
    if (HasErrors(checked.problems)) LeaveUnsettled(api, {});
    if (HasErrors(checked.problems) || checked.skipped) return std::move(checked.problems);
    use = std::move(checked.problems);
    std::erase_if(before, [&](const auto& entry) { return entry.first.starts_with(std::string(api) + '.'); });
    if (!is_overlay()) AddDefaults(*schema_, release_, *function, given);
  }
  Call call(api, place, *this, base_, std::move(before));
  for (const auto* argument : InOrder(given)) call.One(argument->first, argument->second, was_read_);
  if (HasErrors(call.problems())) {
    LeaveUnsettled(api, arguments);
  } else {
    own_ = std::move(call.settings());
    has_calls_ = has_calls_ || schema_->FindCall(api) != nullptr;
    for (const auto& [name, unused] : arguments) unsettled_.erase(KeyOf(api, name));
    for (const std::string& name : call.withheld()) withheld_[KeyOf(api, name)] = place;
  }
  use.insert(use.end(), call.problems().begin(), call.problems().end());
  return use;
}

Result<Reading> Context::Get(std::string_view api, std::string_view name, const Place& place) {
  if (auto problem = UnknownFunction(*schema_, release_, api, GetterName(api), place)) return Fail(std::move(*problem));
  const auto& resets = base_ == nullptr ? was_reset_ : base_->was_reset_;
  const auto reset = resets.find(std::string(api));
  auto reading = ReadSetting(*this, api, name, place, reset == resets.end() ? nullptr : &reset->second);
  if (reading) was_read_.try_emplace(KeyOf(api, name), place);
  return reading;
}

Diagnostics Context::Reset(std::string_view api, const Place& place) {
  if (!schema_->Knows(api) || (api != kSetAutoParallel && api != kSetPs)) {
    return {Error("unknown_function", place, "muster.context has no " + ResetterName(api))};
  }
  if (auto problem = UnknownFunction(*schema_, release_, api, ResetterName(api), place)) return {std::move(*problem)};
  if (is_overlay()) {
    return {Error("scope", place, ResetterName(api) + " can not be called inside each",
                  "call it in plan, outside each, for the whole job")};
  }
  std::erase_if(own_, [&](const auto& entry) {
    if (!entry.first.starts_with(std::string(api) + '.')) return false;
    const Attribute* attribute = schema_->Find(api, std::string_view(entry.first).substr(api.size() + 1), release_);
    return attribute == nullptr || !attribute->kept_on_reset;
  });
  std::erase_if(unsettled_,
                [&](const std::string& key) { return key == api || key.starts_with(std::string(api) + '.'); });
  was_reset_[std::string(api)] = place;
  return {};
}

const Setting* Context::Find(std::string_view api, std::string_view name) const {
  if (const std::string_view newer = NewerFunction(api, name); !newer.empty()) {
    if (const Setting* setting = Find(newer, name)) return setting;
  }
  // Called for every process and attribute; a process has only two or three settings of its own, so no key is built.
  constexpr std::size_t kFew = 16;
  if (own_.size() <= kFew) {
    for (const auto& [key, setting] : own_) {
      if (IsKeyOf(key, api, name)) return &setting;
    }
  } else if (const auto found = own_.find(KeyOf(api, name)); found != own_.end()) {
    return &found->second;
  }
  return base_ == nullptr ? nullptr : base_->Find(api, name);
}

const Place* Context::FindWithheld(std::string_view api, std::string_view name) const {
  const auto found = withheld_.find(KeyOf(api, name));
  if (found != withheld_.end()) return &found->second;
  return base_ == nullptr ? nullptr : base_->FindWithheld(api, name);
}

bool Context::IsUnsettled(std::string_view api, std::string_view name) const {
  if (base_ != nullptr && base_->IsUnsettled(api, name)) return true;
  if (unsettled_.empty()) return false;
  if (unsettled_.contains(std::string(api)) || unsettled_.contains(KeyOf(api, name))) return true;
  const Attribute* attribute = schema_->Find(api, name, release_);
  return attribute != nullptr && !attribute->shares.empty() && unsettled_.contains(KeyOf(api, attribute->shares));
}

void Context::LeaveUnsettled(std::string_view api, const Value::Map& arguments) {
  if (arguments.empty()) unsettled_.emplace(api);
  for (const auto& [name, unused] : arguments) unsettled_.insert(KeyOf(api, name));
}

std::map<std::string, Value> Context::Settled() const {
  std::map<std::string, Value> values;
  for (const auto& [key, setting] : own_) values.emplace_hint(values.end(), key, setting.value);
  return values;
}

}  // namespace muster
