// Adds the source of a violated rule to a diagnostic, as its last note.
#pragma once

#include <string_view>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"

namespace muster {

// "rule: API page of 1.6; MindSpore fails when a graph is compiled"
// "API page of 1.6; MindSpore refuses it"
std::string SourceText(const RuleSource& source);

Note RuleNote(const RuleSource& source);

// Adds that note for the rule in `field` of the attribute's record; does nothing if the record names no source.
void Cite(Diagnostic& diagnostic, const Attribute& attribute, std::string_view field);

}  // namespace muster
