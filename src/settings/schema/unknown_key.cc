#include "settings/schema/unknown_key.h"

#include <algorithm>

#include "base/values/suggest.h"
#include "settings/schema/setting_key.h"

namespace muster {
namespace {

// The dict attribute of the function that has `name` as a sub-key, or as a sub-key of a sub-key.
std::string DictWith(const Schema& schema, const Release& release, std::string_view api, const std::string& name) {
  for (const std::string& candidate : schema.Names(api, release)) {
    const Attribute* attribute = schema.Find(api, candidate, release);
    for (const Attribute& key : attribute->keys) {
      if (attribute->Is(Kind::kDict) && key.name == name && key.ExistsIn(release)) return candidate;
    }
  }
  return {};
}

struct RemovedKey {
  std::string table;
  const Attribute* key = nullptr;
};

// The sub-key of that name that native code knew by its own name in earlier releases.
RemovedKey RemovedSubKey(const Schema& schema, const Release& release, std::string_view api, const std::string& name) {
  for (const std::string& candidate : schema.Names(api, release)) {
    for (const Attribute& key : schema.Find(api, candidate, release)->keys) {
      if (key.own_name && key.name == name && key.since < release && !key.ExistsIn(release)) return {candidate, &key};
    }
  }
  return {};
}

// The attribute that MindSpore knows as `name`.
std::string OwnNameOf(const Schema& schema, const Release& release, std::string_view api, const std::string& name) {
  for (const std::string& candidate : schema.Names(api, release)) {
    if (schema.Find(api, candidate, release)->passed_as == name) return candidate;
  }
  return {};
}

// An attribute of this release that `name` was renamed to, or that was later renamed to `name`.
std::string OtherName(const Schema& schema, const Release& release, std::string_view api, const Attribute& elsewhere) {
  if (!elsewhere.successor.empty() && schema.Find(api, elsewhere.successor, release) != nullptr) {
    return elsewhere.successor;
  }
  for (const std::string& candidate : schema.Names(api, release)) {
    if (schema.FindInAnyRelease(api, candidate, release)->successor == elsewhere.name) return candidate;
  }
  return {};
}

}  // namespace

Diagnostic UnknownKey(const Schema& schema, const Release& release, std::string_view api, const std::string& name,
                      const Place& place, std::string_view called) {
  const bool reads = !called.empty();
  const std::string function(reads ? called : api);
  const auto shown = [&](const std::string& other) { return reads ? GetterName(other) : other; };
  const std::string version = "MindSpore " + ReleaseText(release);
  if (const Attribute* named = schema.Find(api, name, release); named != nullptr && named->documented_only) {
    return Error("unknown_key", place,
                 function + " has no attribute \"" + name + "\" in " + version + ", although a document names it",
                 named->successor.empty() ? "" : "use " + named->successor);
  }
  if (const std::string own = OwnNameOf(schema, release, api, name); !own.empty()) {
    return Error("unknown_key", place, function + " has no attribute \"" + name + "\" in " + version,
                 reads ? "read " + own : "write " + own + " = …, which is passed on as " + name);
  }
  if (const auto other = schema.OtherFunctionWith(api, name, release)) {
    return Error("unknown_key", place, function + " has no attribute \"" + name + "\" in " + version,
                 name + " belongs to " + shown(*other));
  }
  if (const std::string dict = DictWith(schema, release, api, name); !dict.empty()) {
    return Error("use_nested_dict", place,
                 name + (reads ? " can not be read" : " can not be given") + " on its own in " + version,
                 reads ? "read " + dict + ", whose sub-key it is" : "write " + dict + " = { " + name + " = … }");
  }
  if (const Attribute* elsewhere = schema.FindInAnyRelease(api, name, release)) {
    const bool later = release < elsewhere->since;
    const std::string other_name = OtherName(schema, release, api, *elsewhere);
    return Error("release", place,
                 name + " is not in " + version +
                     (later ? ": only from " + ReleaseText(elsewhere->since) + " on" : ": it has been removed"),
                 !other_name.empty()                       ? "use " + other_name
                 : !later && !elsewhere->successor.empty() ? "use " + elsewhere->successor
                                                           : "");
  }
  if (const RemovedKey removed = RemovedSubKey(schema, release, api, name); removed.key != nullptr) {
    return Error("release", place, removed.table + "." + name + " is not in " + version + ": it has been removed",
                 removed.key->successor.empty() ? "" : "use " + removed.key->successor);
  }
  const std::vector<std::string> names = schema.Names(api, release);
  std::string hint;
  if (!Nearest(name, names)) {
    for (const std::string& other : schema.Functions()) {
      const auto nearest = Nearest(name, schema.Names(other, release));
      if (nearest && hint.empty()) hint = "did you mean \"" + *nearest + "\" of " + shown(other) + "?";
    }
  }
  if (hint.empty()) hint = DidYouMean(name, names);
  return Error("unknown_key", place, function + " has no attribute \"" + name + "\" in " + version, std::move(hint));
}

std::optional<Diagnostic> UnknownFunction(const Schema& schema, const Release& release, std::string_view api,
                                          std::string_view called, const Place& place) {
  if (!schema.Knows(api)) {
    std::vector<std::string> functions = schema.Functions();
    if (called.starts_with("get_")) {
      for (std::string& function : functions) function = GetterName(function);
    }
    return Error("unknown_function", place, "muster.context has no " + std::string(called),
                 DidYouMean(called, functions));
  }
  if (schema.Knows(api, release)) return std::nullopt;
  const auto first = schema.FirstRelease(api);
  const bool later = first && release < *first;
  return Error("release", place,
               std::string(called) + " is not in MindSpore " + ReleaseText(release) +
                   (later ? ": only from " + ReleaseText(*first) + " on" : ": it has been removed"));
}

}  // namespace muster
