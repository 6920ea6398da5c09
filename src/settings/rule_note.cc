#include "settings/rule_note.h"

namespace muster {

Note RuleNote(const RuleSource& source) {
  std::string text = "rule: " + source.document;
  if (!source.behaviour.empty()) text += (source.document.empty() ? "MindSpore " : "; MindSpore ") + source.behaviour;
  return {std::move(text), {}};
}

void Cite(Diagnostic& diagnostic, const Attribute& attribute, std::string_view field) {
  const auto source = attribute.sources.find(std::string(field));
  if (source != attribute.sources.end()) diagnostic.notes.push_back(RuleNote(source->second));
}

}  // namespace muster
