// One context: applies calls as a whole or not at all, and keeps the source of each value. Arguments are validated in
// call.cc, read back in read_back.cc, and compared over the whole job in together.cc.
#include "muster/mindspore/context.h"

#include <algorithm>
#include <array>

#include "settings/check/call.h"
#include "settings/check/function_use.h"
#include "settings/check/read_back.h"
#include "settings/schema/setting_key.h"
#include "settings/schema/unknown_key.h"

namespace muster {
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
