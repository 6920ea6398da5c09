#include "evaluation/resolve/parameter_names.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/values/suggest.h"

namespace muster {
namespace {

std::string_view LastPart(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

ParameterNames::ParameterNames(std::span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) {
    names_.insert(parameter.name);
    if (std::string was = FormerName(parameter); !was.empty()) old_names_.emplace(std::move(was), parameter.name);
  }
}

ParameterNames::Found ParameterNames::Find(const std::string& word, bool whole) const {
  Found found;
  if (names_.contains(word)) {
    found.name = word;
    return found;
  }
  if (const auto present = old_names_.find(word); present != old_names_.end()) {
    found.name = present->second;
    found.by_old_name = true;
    return found;
  }
  for (const std::string_view name : {kClusterHosts, kClusterDevices}) {
    if (word == name || word == LastPart(name)) {
      found.name = name;
      return found;
    }
  }
  if (whole || word.empty()) return found;
  for (const std::string& name : names_) {
    if (name.size() > word.size() && name.ends_with(word) && name[name.size() - word.size() - 1] == '.') {
      found.candidates.push_back(name);
    }
  }
  if (found.candidates.size() == 1) {
    found.name = std::move(found.candidates.front());
    found.candidates.clear();
  }
  return found;
}

Diagnostic ParameterNames::Unknown(const Override& override, std::span<const std::string> derived) const {
  const std::string origin = " (from the " + OriginText(override) + ")";
  const Found found = Find(override.name, override.place.line > 0);
  if (!found.candidates.empty()) {
    std::string list;
    for (const std::string& name : found.candidates) list += (list.empty() ? "" : ", ") + name;
    return Error("ambiguous", override.place, override.name + " could mean " + list + origin, "write more of the name");
  }
  std::vector<std::string> known(names_.begin(), names_.end());
  known.insert(known.end(), derived.begin(), derived.end());
  for (const std::string_view name : {kClusterHosts, kClusterDevices}) known.emplace_back(LastPart(name));
  std::vector<std::string> last_parts;
  for (const std::string& name : known) last_parts.emplace_back(LastPart(name));
  std::string hint = DidYouMean(override.name, known);
  if (!Nearest(override.name, known)) {
    if (const auto nearest = Nearest(override.name, last_parts)) {
      const auto index = std::find(last_parts.begin(), last_parts.end(), *nearest) - last_parts.begin();
      hint = "did you mean \"" + known[static_cast<std::size_t>(index)] + "\"?";
    }
  }
  if (override.name == "env" && override.origin == ParameterOrigin::kCommandLine && !Nearest("env", known)) {
    hint = "variables of all processes: --env NAME=VALUE, or job:env { NAME = VALUE } in the recipe";
  }
  return Error("unknown_parameter", override.place, "the recipe has no parameter \"" + override.name + "\"" + origin,
               std::move(hint));
}

std::string OriginText(const Override& override) {
  std::string text(ParameterOriginText(override.origin));
  if (!override.profile.empty()) text += " " + override.profile;
  return text;
}

}  // namespace muster
