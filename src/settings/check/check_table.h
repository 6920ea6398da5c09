// Validates tables for an attribute with sub-keys, and layouts: what MindSpore's Layout(device_matrix, alias_name,
// rank_list) and a call of it with the names of axes refuse.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"
#include "muster/value.h"
#include "settings/check/check_value.h"

namespace muster {

// Validates layouts: what MindSpore's Layout(device_matrix, alias_name, rank_list) and a call of it with the names of
// axes refuse. check_table.h validates the types and ranges of their sub-keys.

// Whether the value is a list with at least one element, and all elements are tables with names.
bool IsListOfLayouts(const Value& value);

// Whether the value is a list of names, or of lists of names.
bool IsListOfAxes(const Value& value);

// The layouts in normalised form, or nothing after adding an error to `problems`. `value` must be a list of layouts.
// Kinds: those of CheckTable, and "conflict".
std::optional<Value> CheckLayouts(const Attribute& attribute, const Value& value, const std::string& path,
                                  const CheckedIn& where, Diagnostics& problems);

// The number of devices that a normalised layout arranges: the product of its device_matrix. Nothing above 2^63 - 1.
std::optional<std::int64_t> DevicesOf(const Value& layout);

// Validates a table for an attribute with sub-keys. check_value.h validates single values.

// Like CheckValue, for a value that is a table (an empty list counts as an empty table). Reports every invalid
// sub-key.
std::optional<Value> CheckTable(const Attribute& attribute, const Value& value, const std::string& path,
                                const CheckedIn& where, Diagnostics& problems);

}  // namespace muster
