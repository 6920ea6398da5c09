#include "settings/check/function_use.h"

#include <algorithm>

#include "settings/schema/setting_key.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

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

}  // namespace

FunctionUse CheckFunctionUse(const Function& function, const Context& context,
                             const std::map<std::string, Setting>& own, const Value::Map& arguments,
                             const Place& place) {
  return Use(function, context, own, arguments, place).Run();
}

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

}  // namespace muster
