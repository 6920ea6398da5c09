// Validates a table for an attribute with sub-keys. check_value.h validates single values.
#pragma once

#include <optional>
#include <string>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"
#include "muster/value.h"
#include "settings/check/check_value.h"

namespace muster {

// Like CheckValue, for a value that is a table (an empty list counts as an empty table). Reports every invalid
// sub-key.
std::optional<Value> CheckTable(const Attribute& attribute, const Value& value, const std::string& path,
                                const CheckedIn& where, Diagnostics& problems);

}  // namespace muster
