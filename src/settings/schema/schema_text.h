// The schema in words, for messages and for the reference, so that both agree: the values and the default of an
// attribute, the source of a rule, and what changes for a recipe between two releases.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"
#include "muster/value.h"

namespace muster {

// Formats lists of words for messages.

// "a, b and c"
inline std::string WordList(const std::vector<std::string>& words, const char* last = " and ") {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? last : ", ";
    text += words[i];
  }
  return text;
}

inline bool Contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Adds the source of a violated rule to a diagnostic, as its last note.

// "rule: API page of 1.6; MindSpore fails when a graph is compiled"
// "API page of 1.6; MindSpore refuses it"
std::string SourceText(const RuleSource& source);

Note RuleNote(const RuleSource& source);

// Adds that note for the rule in `field` of the attribute's record; does nothing if the record names no source.
void Cite(Diagnostic& diagnostic, const Attribute& attribute, std::string_view field);

// The allowed values and the default of an attribute in words, for messages and for the reference, so that both
// agree.

// "a whole number", "true or false or a whole number": every kind once. `in_file`: the value is in a JSON file, whose
// tables are objects.
std::string AllowedText(const Attribute& attribute, bool in_file = false);

// "\"O0\", \"O1\"", "0 (GRAPH_MODE), 1 (PYNATIVE_MODE)"; empty without choices.
std::string ChoicesText(const Attribute& attribute);

// "1 to 4096", "at least 1", "above 0 and at most 31"; ends with `unit`, and is only that without limits.
std::string RangeText(const Attribute& attribute, std::string_view unit = "");

// The value with its name in the documents: "0 (GRAPH_MODE)"; else the value alone.
std::string NamedValueText(const Attribute& attribute, const Value& value);

// The default on that device target (empty: unknown), in words; empty if there is no default that can be named.
std::string DefaultText(const Attribute& attribute, std::string_view device = "");

// Finds what changes for a recipe between two MindSpore releases, beyond its problems in the first one. Compares
// findings and records; evaluates nothing.

// A default that the recipe relies on, because it sets no value, and that differs in the other release. No check can
// find it: the recipe is valid in both and behaves differently.
struct DefaultChange {
  std::string function;  // "set_context"
  std::string name;      // "mode", "parallel_optimizer_config.gradient_accumulation_shard"
  std::string before;    // in words: "0 (GRAPH_MODE)"
  std::string after;

  bool operator==(const DefaultChange&) const = default;
};

// Those of set_context first, sorted by function and name. `set` is what the recipe sets ("set_context.mode" -> 0), for
// all its processes together. Covers set_context and the functions with settings; sub-keys of a table only if some of
// them are set.
std::vector<DefaultChange> DefaultChanges(const Schema& schema, const Release& from, const Release& to,
                                          const Value::Map& set);

// The findings in `there` that are not in `here`: equal severity, kind, place, message and hint, ignoring the releases
// they name, count as the same finding.
Diagnostics NewFindings(const Diagnostics& here, const Diagnostics& there);

}  // namespace muster
