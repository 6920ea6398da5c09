// Values (muster/value.h) as text: in messages, with six digits in tables, and as JSON, for which the trees of the
// JSON library are written here too.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "muster/value.h"

namespace muster {

// Numbers in tables and summaries: six significant digits. JSON, CSV and plans have all digits (NumberText, ToText).

std::string ShownNumber(double number);

// A text as it is; others as ToText, with numbers as above.
std::string ShownValue(const Value& value);

// Writes values, and trees of the JSON library, as text. The library's writer is a template of the tree's type, which
// is compiled with optimisation here. Functions of recipes call it themselves, since they refuse bytes that are not
// UTF-8.

// In all texts bytes that are not UTF-8 become U+FFFD, and numbers that JSON cannot express become null.

// One line without newline, with sorted keys.
std::string JsonText(const Value& value);
void AppendJson(const Value& value, std::string& text);
void AppendJsonString(std::string_view string, std::string& text);  // in quotes

// Without newline at the end. Each member in a line of its own, with `indent` blanks for each level; -1: one line.
std::string SerializedJson(const nlohmann::json& json, int indent = -1);
std::string SerializedJson(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace muster
