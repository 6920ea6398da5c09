// Validates one value for one attribute, and normalises it, independent of other attributes: also option texts ("--
// opt_level=2"), and JSON files that an attribute names, whose content is passed in. check_table.h validates tables
// and layouts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "muster/diagnostic.h"
#include "muster/mindspore/context.h"
#include "muster/mindspore/schema.h"
#include "muster/value.h"

namespace muster {

// Validates one value for one attribute, and normalises it. Independent of other attributes.

struct CheckedIn {
  const Release& release;
  const Place& place;
  // Describes the files that attributes name; null: not available.
  const Schema* schema = nullptr;
  const ShippedFiles* files = nullptr;
  // Inside such a file: the lines of its keys by path, "rdr.mode" -> 3; `place` is the file as a whole. Null: the value
  // is an argument of a call.
  const std::map<std::string, std::uint32_t>* lines = nullptr;

  // The place of the value at `path`, or of its nearest parent.
  Place At(std::string path) const;
};

// The normalised value (aliases replaced, whole numbers as ints, sizes as "3.5GB"), or nothing after adding an error to
// `problems`. `path` is the attribute's name in messages: "comm_fusion.allreduce.mode". Kinds: type, enum, range,
// format, order, empty, unknown_subkey, missing_subkey, conflict, release; warnings: range, format, no_effect,
// undocumented. If a text names one of `where.files`, that file is checked too, if the attribute describes its content.
// With `only_warns` everything is a warning.
std::optional<Value> CheckValue(const Attribute& attribute, const Value& value, const std::string& path,
                                const CheckedIn& where, Diagnostics& problems);

// The value for messages; hides secrets.
std::string ShownValue(const Attribute& attribute, const Value& value);

// A normalised size in gigabytes ("3.5GB" -> 3.5); nothing if the text is no size.
std::optional<double> Gigabytes(std::string_view size);

// Option texts, "--opt_level=2 --dump_as_text": split as MindSpore splits them, and checked against the documented
// options.

// The value of an option, "" if it has none; nothing if it is absent. If it occurs twice the first one counts.
std::optional<std::string> FlagValue(std::string_view flags, std::string_view name);

// Warnings of kind "format" for options that MindSpore would ignore. Undocumented names are accepted, unless they are
// similar to a known one: the documents refer to the implementation for more.
void CheckFlags(const Attribute& attribute, std::string_view flags, const std::string& path, const CheckedIn& where,
                Diagnostics& problems);

}  // namespace muster
