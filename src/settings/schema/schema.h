// Lookup in the schema (muster/mindspore/schema.h): the attributes that a function has in a release, releases and
// keys of settings as text, and diagnostics for a name that a function does not have, or a function that a release
// does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"

namespace muster {

// Keys of settings inside a context, and of values inside records.

constexpr std::string_view kSetContext = "set_context";
constexpr std::string_view kSetAutoParallel = "set_auto_parallel_context";
constexpr std::string_view kSetPs = "set_ps_context";
constexpr std::string_view kParallel = "parallel";  // the settings of AutoParallel
constexpr std::string_view kJobFacts = "job";       // prefix of a rule's path that names a fact about the job
constexpr std::int64_t kPynativeMode = 1;           // of set_context's mode

// The newer function whose parameter of the same name overrides this attribute once it is called; empty if there is
// none.
constexpr std::string_view NewerFunction(std::string_view api, std::string_view name) {
  return api == kSetContext && (name == "device_target" || name == "device_id") ? "set_device" : "";
}

// The function that reads what the function `api` sets: "get_context".
std::string GetterName(std::string_view api);

// "set_context.mode"
std::string KeyOf(std::string_view api, std::string_view name);
// Whether `key` is KeyOf(api, name).
bool IsKeyOf(std::string_view key, std::string_view api, std::string_view name);

// The key of a value in a record's maps (shared_values, read_values, needs …): its text.
std::string ValueKey(const Value& value);

// The value of the attribute that `from` shares its value with, or nothing if it has no counterpart there.
std::optional<Value> Translated(const Attribute& from, const Value& value);

// Diagnostics for a name that a context function does not have, and for a function that a release does not have.

// Kind unknown_key, use_nested_dict (the name is a sub-key of an attribute) or release (another release has it),
// with the nearest name, the function it belongs to, or its successor as the hint. `called` is the getter, if the name
// is read.
Diagnostic UnknownKey(const Schema& schema, const Release& release, std::string_view api, const std::string& name,
                      const Place& place, std::string_view called = {});

// Nothing if the release has the function. Else kind unknown_function, or release if other releases have it. `called`
// is the name in the recipe: "get_ps_context" for the getter of `api`.
std::optional<Diagnostic> UnknownFunction(const Schema& schema, const Release& release, std::string_view api,
                                          std::string_view called, const Place& place);

}  // namespace muster
