// Whether one value fits one attribute, and what is then stored. Knows no other attribute's value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "muster/context.h"
#include "muster/diagnostic.h"
#include "muster/schema.h"
#include "muster/value.h"

namespace muster {

struct CheckedIn {
  const Release& release;
  const Place& place;
  // What is known of the files that attributes name; null: nothing.
  const Schema* schema = nullptr;
  const ShippedFiles* files = nullptr;
  // Inside such a file: the lines of its keys by path, "rdr.mode" -> 3; `place` is the file as a whole. Null: the value
  // is an argument of a call.
  const std::map<std::string, std::uint32_t>* lines = nullptr;

  // Where the value at `path` stands, or what it would be a part of.
  Place At(std::string path) const;
};

// The value as stored (aliases replaced, whole numbers as ints, sizes as "3.5GB"), or nothing after an error was
// added to `problems`. `path` is how messages name the attribute: "comm_fusion.allreduce.mode". Kinds: type, enum,
// range, format, order, empty, unknown_subkey, missing_subkey, conflict, release; warnings: range, format, no_effect,
// undocumented. A text that names one of `where.files` has that file checked, if the attribute says what is in it. With
// `only_warns` everything is a warning.
std::optional<Value> CheckValue(const Attribute& attribute, const Value& value, const std::string& path,
                                const CheckedIn& where, Diagnostics& problems);

// The value for messages: never a secret's.
std::string ShownValue(const Attribute& attribute, const Value& value);

// Gigabytes of a size as stored ("3.5GB" -> 3.5); nothing if the text is none.
std::optional<double> Gigabytes(std::string_view size);

}  // namespace muster
