// One call of a context function: each argument is checked against the schema, the release's rules and earlier
// settings. Does not change the context: the caller applies the result, or not.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "muster/mindspore/context.h"

namespace muster {

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

}  // namespace muster
