// Option texts, "--opt_level=2 --dump_as_text": split as MindSpore splits them, and checked against the documented
// options.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"
#include "settings/check/check_value.h"

namespace muster {

// The value of an option, "" if it has none; nothing if it is absent. If it occurs twice the first one counts.
std::optional<std::string> FlagValue(std::string_view flags, std::string_view name);

// Warnings of kind "format" for options that MindSpore would ignore. Undocumented names are accepted, unless they are
// similar to a known one: the documents refer to the implementation for more.
void CheckFlags(const Attribute& attribute, std::string_view flags, const std::string& path, const CheckedIn& where,
                Diagnostics& problems);

}  // namespace muster
