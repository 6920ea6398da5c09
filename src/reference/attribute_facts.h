// What the reference says about an attribute, sub-key or key of a JSON file: its history over all releases, since the
// schema has one record per range of releases, and every field of its records in words. A test checks that every
// field is covered.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "muster/mindspore/schema.h"
#include "reference/page.h"

namespace muster {

// The history of an attribute, sub-key, or key of a JSON file over all releases: the schema has one record per range of
// releases, while a reader looks up a name. Independent of presentation.

struct AttributeHistory {
  std::string function;                                       // "set_context"; empty: a JSON file and its keys
  std::string path;                                           // "mode", "ascend_config.precision_mode"
  std::size_t depth = 0;                                      // 0: an attribute; 1: a sub-key; …
  std::vector<std::pair<Release, const Attribute*>> records;  // never empty; by release

  const Attribute& latest() const { return *records.back().second; }
  bool in_file() const { return function.empty(); }
  std::string name() const { return path.substr(path.rfind('.') + 1); }
};

// The releases whose attributes the schema describes, in order.
std::vector<Release> DescribedReleases(const Schema& schema);

// All attributes of the function in those releases by name, each followed by its sub-keys in the order of their
// records. A sub-key whose meaning depends on a sibling (Attribute::when) has a history for each meaning. Points into
// the schema.
std::vector<AttributeHistory> Histories(const Schema& schema, std::string_view function,
                                        const std::vector<Release>& releases);

// The same for the JSON files that attributes name, each followed by its keys.
std::vector<AttributeHistory> FileHistories(const Schema& schema, const std::vector<Release>& releases);

// The range `first` to `last` of `all`: "0.3.1 to 2.4.0", "1.6.2", "2.3.0-rc2 and later" if it is open.
std::string SpanText(const std::vector<Release>& all, const Release& first, const Release& last);

// The releases that have it, in words, range by range: "1.0.1, 2.3.1 and later".
std::string ReleasesText(const AttributeHistory& history, const std::vector<Release>& all);

// Describes an attribute: every field of its record in words, by label. A test checks that every field that a record
// may have is covered.

// The facts of one record, by label, in order of presentation; no empty ones.
std::vector<std::pair<std::string, std::string>> FactsOf(const Attribute& attribute);

// Facts for all releases of the history: a fact that changes has a line for each range of releases. `all` are the
// releases covered.
FactList FactsOf(const AttributeHistory& history, const std::vector<Release>& all);

// For a column of a table: "int", "\"O0\" or \"O1\"", "size", …
std::string ShortType(const Attribute& attribute);
// For a column of a table; empty if there is no default that can be named.
std::string ShortDefault(const Attribute& attribute);

}  // namespace muster
