// The topics of MindSpore's context API, all from the schema, in the order of MindSpore's documents
// (lua/muster/schema/outline.lua), and the whole API as one Markdown document (docs/attributes.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "muster/mindspore/schema.h"
#include "muster/result.h"
#include "muster/value.h"
#include "reference/attribute_facts.h"
#include "reference/page.h"

namespace muster {

// The order of the context API's attributes in the documents: functions, groups, areas, each with a summary. Read from
// a record file (lua/muster/schema/outline.lua); each attribute's record names its place.

struct Outline {
  struct Entry {
    std::string name;      // "system"
    std::string title;     // as in the documents: "System"; empty: the name
    std::string function;  // of groups: the function of their attributes
    std::string doc;       // one line
    // Of functions that MindSpore's documents deprecate as a whole: from that release on ("2.6"), and for what.
    std::string deprecated;
    std::string successor;
  };
  std::vector<Entry> functions;  // in the documents' order, like the others
  std::vector<Entry> groups;
  std::vector<Entry> areas;  // of the programming guide of 1.0
};

// "deprecated by MindSpore's documents from 2.6 on, for …"; empty for what they do not deprecate.
std::string DeprecationText(const Outline::Entry& function);

// Kind "schema": the record is malformed.
Result<Outline> OutlineFromValue(const Value& record);

// Pages about the functions with parameters (set_device, runtime.set_memory, …): one topic each, and a list of all.

// The parameters of a function in the order of the call, each followed by its sub-keys.
std::vector<AttributeHistory> ParametersOf(const Schema& schema, const Function& function,
                                           const std::vector<Release>& releases);

// Releases, repeated calls, devices.
std::vector<Fact> FunctionFacts(const Function& function, const std::vector<Release>& releases);

// For the functions that `release` has, or for all; the schema must outlive the topics.
Topics CallTopics(const Schema& schema, const std::optional<Release>& release);

// All of them with their parameters, as the page of the reference shows them.
Page CallsPage(const Schema& schema, const std::vector<Release>& releases);

// The topics of MindSpore's context API, all from the schema: functions, groups and areas of the documents, releases,
// attributes and sub-keys, rules between them, and the JSON files that they name.

// For one release, or for all described releases. Schema and outline must outlive the topics.
Topics ContextTopics(const Schema& schema, const Outline& outline, const std::optional<Release>& release);

// Why a name that other releases have is not among the topics of this one: kind "release" and the like, with its
// successor (settings/schema/schema.h). Nothing if no release has it.
std::optional<Diagnostic> NotInRelease(const Schema& schema, const Release& release, const std::string& name);

// The whole context API as one Markdown document (docs/attributes.md).
std::string ContextReference(const Schema& schema, const Outline& outline);

}  // namespace muster
