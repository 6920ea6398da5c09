// Whether a table fits an attribute that has sub-keys. Single values are check_value.h's.
#pragma once

#include <optional>
#include <string>

#include "muster/diagnostic.h"
#include "muster/schema.h"
#include "muster/value.h"
#include "settings/check/check_value.h"

namespace muster {

// As CheckValue, for a value that is a table (an empty list counts as an empty table). Every sub-key that is wrong is
// reported.
std::optional<Value> CheckTable(const Attribute& attribute, const Value& value, const std::string& path,
                                const CheckedIn& where, Diagnostics& problems);

}  // namespace muster
