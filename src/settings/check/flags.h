// Texts made of options, "--opt_level=2 --dump_as_text": taken apart as MindSpore does it, and checked against the
// options that the documents name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "muster/diagnostic.h"
#include "muster/schema.h"
#include "settings/check/check_value.h"

namespace muster {

// The value of an option, "" if it stands without one; nothing if it is not there. Of two the first counts.
std::optional<std::string> FlagValue(std::string_view flags, std::string_view name);

// Warnings of kind "format" for what MindSpore would ignore. A name that no document knows is let through, unless it
// is near to a known one: the documents refer to the implementation for more.
void CheckFlags(const Attribute& attribute, std::string_view flags, const std::string& path, const CheckedIn& where,
                Diagnostics& problems);

}  // namespace muster
