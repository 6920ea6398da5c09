// Diagnostics for a name that a context function does not have, and for a function that a release does not have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"

namespace muster {

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
